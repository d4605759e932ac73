"""Writes that fail or are killed: waits raise, the old file stays, the next save heals."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np, npx
from forerun.testing import closed_gate
from tests.support.files.file_sizes import LARGE
from tests.support.processes import subprocesses


def failing() -> Any:
    return np.linalg.inv(np.zeros((2, 2)))


class TestFailure:
    @pytest.mark.parametrize("engine", ["1 worker", "4 workers"], indirect=True)
    def test_failed_computation_leaves_the_file_unchanged(self, engine: str, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(3))
        before = os.stat(tmp_path / "x.npy")
        size = np.save(tmp_path / "x", failing(), wait=False)
        for read in (size.wait, size.item, np.load(tmp_path / "x.npy").tolist):
            with pytest.raises(numpy.linalg.LinAlgError, match="Singular") as caught:
                read()
            assert any("test_failed_writes.py" in note for note in caught.value.__notes__)
        assert os.stat(tmp_path / "x.npy") == before
        assert os.listdir(tmp_path) == ["x.npy"]

    def test_waitall_raises(self, tmp_path: Path) -> None:
        np.save(tmp_path / "none" / "x", np.arange(3), wait=False)
        with pytest.raises(FileNotFoundError, match=r"none/x.npy") as caught:
            forerun.waitall()
        assert any("test_failed_writes.py" in note for note in caught.value.__notes__)
        forerun.waitall()

    def test_a_load_has_the_failure_until_it_was_raised(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(3))
        with closed_gate():
            size = np.save(tmp_path / "x", failing(), wait=False)
            early = np.load(tmp_path / "x.npy")
        _core.wait_mark(_core.mark())
        late = np.load(tmp_path / "x.npy")
        for x in (early, late):
            assert x.shape == (2, 2)
            with pytest.raises(numpy.linalg.LinAlgError):
                x.tolist()
        assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
        with pytest.raises(numpy.linalg.LinAlgError):
            size.wait()

    def test_the_next_save_heals(self, tmp_path: Path) -> None:
        with closed_gate():
            bad = np.save(tmp_path / "x", failing(), wait=False)
            good = np.save(tmp_path / "x", np.arange(3), wait=False)
            found = np.load(tmp_path / "x.npy")
        assert found.tolist() == [0, 1, 2]
        good.wait()
        with pytest.raises(numpy.linalg.LinAlgError):
            bad.wait()

    def test_synchronous_reads_raise_the_error_of_the_write(self, tmp_path: Path) -> None:
        for read in (np.loadtxt, np.fromfile, lambda path: npx.load(path)):
            np.savetxt(tmp_path / "x", failing(), wait=False)
            with pytest.raises(numpy.linalg.LinAlgError):
                read(tmp_path / "x")

    @pytest.mark.parametrize("kind", [IsADirectoryError, FileNotFoundError, NotADirectoryError])
    def test_places_that_cannot_be_written(self, kind: type, tmp_path: Path) -> None:
        (tmp_path / "folder.npy").mkdir()
        (tmp_path / "file").touch()
        name = {IsADirectoryError: "folder", FileNotFoundError: "none/x", NotADirectoryError: "file/x"}[kind]
        with pytest.raises(kind, match=f"{name}.npy"):
            np.save(tmp_path / name, np.ones(1))
        assert sorted(os.listdir(tmp_path)) == ["file", "folder.npy"]

    def test_a_full_disk(self) -> None:
        with pytest.raises(OSError, match="/dev/full") as caught:
            npx.save("/dev/full", np.arange(LARGE))
        assert caught.value.errno == errno.ENOSPC

    @pytest.mark.parametrize("unnamed", [True, False])
    def test_too_little_disk_space_for_the_file(self, unnamed: bool, tmp_path: Path) -> None:
        found = subprocesses.output(
            (UNNAMED if not unnamed else "") + "import resource, os, errno\n"
            f"os.chdir({str(tmp_path)!r})\n"
            "np.save('x', np.arange(3))\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
            "try: np.save('x', np.arange(1_000_000))\n"
            "except OSError as error: print(errno.errorcode[error.errno], error.filename)\n"
            "print(*np.load('x.npy').tolist(), *os.listdir())"
        )
        assert found == ["EFBIG", str(tmp_path / "x.npy"), "0", "1", "2", "x.npy"]

    def test_a_folder_that_others_may_write(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir(mode=0o555)
        tmp_path.chmod(0o755)
        program = (
            "if os.getuid() == 0: os.setuid(65534)\n"
            "try: np.save('x', np.ones(1))\n"
            "except OSError as error: print(type(error).__name__)"
        )
        start = f"import os\nos.chdir({str(folder)!r})\n"
        done = subprocesses.execute(program, early=start)
        assert (done.stdout.strip(), done.stderr) == ("PermissionError", "")

    @pytest.mark.parametrize("moment", ["while values are written", "before the name changes"])
    def test_a_process_that_is_killed_leaves_the_old_file(self, moment: str, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(3))
        stop = "(print('now', flush=True), time.sleep(60))"
        hook = {
            "while values are written": f"npy.write_values = lambda out, x: (out.write(b'half'), out.flush(), {stop})",
            "before the name changes": f"os.replace = lambda *a, **k: {stop}",
        }[moment]
        start = "import os, time\nfrom forerun._io import npy\n"
        program = f"{start}{hook}\nnp.save({str(tmp_path / 'x')!r}, np.arange(9))\n"
        with subprocess.Popen(
            subprocesses.command(program), env=subprocesses.environment(), stdout=subprocess.PIPE
        ) as child:
            assert child.stdout
            assert child.stdout.readline() == b"now\n"
            child.send_signal(signal.SIGKILL)
        assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
        if moment == "while values are written" and has_unnamed_files(tmp_path):
            assert os.listdir(tmp_path) == ["x.npy"]

    def test_exit_finishes_pending_writes(self, tmp_path: Path) -> None:
        subprocesses.output(f"np.save({str(tmp_path / 'x')!r}, np.arange({LARGE}), wait=False)")
        assert numpy.load(tmp_path / "x.npy").shape == (LARGE,)

    def test_exit_reports_unread_failures(self, tmp_path: Path) -> None:
        done = subprocesses.execute(f"np.save({str(tmp_path / 'none' / 'x')!r}, np.arange(3), wait=False)")
        assert done.returncode == 1
        assert "<string>:4: an error that no read has raised: FileNotFoundError" in done.stderr


UNNAMED = "import os\nos.O_TMPFILE = os.O_CREAT\n"  # which no folder can be opened with


def has_unnamed_files(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return False
    return True
