"""Files as operations: in order with computations, never half written; failures are raised by waits."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import signal
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, gluon, np, npx, profiler
from forerun._io import atomic_write as replacing
from forerun._io import npy, numpy_files
from forerun._io import ordering as order
from forerun._runtime.settings import _apply as put_back
from forerun.safetensors import save_file
from forerun.testing import closed_gate
from tests.support import resources, subprocesses
from tests.support.late_arrays import HeldTask
from tests.support.paths import ROOT
from tests.support.settings import configured
from tests.support.waiting import returns, waits_for_values

SAVES = (np.save, np.savez, np.savez_compressed, np.savetxt)
SOME = 300_000  # elements: more than are read or written at once


def failing() -> Any:
    return np.linalg.inv(np.zeros((2, 2)))


@pytest.fixture
def held_up() -> Iterator[Callable[..., Any]]:
    """Makes arrays that have values at the end of the test, or when `go` is set."""
    go = threading.Event()

    def late(x: Any, queue: str = "compute") -> Any:
        return HeldTask(x, go=go, queue=queue).result

    late.go = go  # type: ignore[attr-defined]
    yield late
    go.set()
    _core.wait_mark(_core.mark())


class TestSave:
    def test_in_every_mode(self, engine: str, tmp_path: Path) -> None:
        x = np.arange(SOME).reshape(3, -1)
        sizes = [
            np.save(tmp_path / "x", x * 2, wait=False), np.savez(tmp_path / "xs", x, turned=x.T, wait=False),
            np.savez_compressed(tmp_path / "small", x=x, wait=False), npx.save(tmp_path / "named", [x]),
        ]  # fmt: skip
        x += 1
        for size, name in zip(sizes, ["x.npy", "xs.npz", "small.npz", "named"]):
            assert size.item() == (tmp_path / name).stat().st_size
        assert (size.dtype, size.shape) == (numpy.dtype("int64"), ())
        values = numpy.arange(SOME).reshape(3, -1)
        assert (numpy.load(tmp_path / "x.npy") == 2 * values).all()
        assert (numpy.load(tmp_path / "xs.npz")["turned"] == values.T).all()
        assert (numpy.load(tmp_path / "small.npz")["x"] == values).all()
        assert sizes[2].item() < sizes[1].item() / 4
        assert (npx.load(tmp_path / "named")[0].numpy() == values).all()

    def test_writes_what_was_there_when_it_was_issued(self, tmp_path: Path) -> None:
        x = np.arange(5)
        with closed_gate():
            np.save(tmp_path / "x", x, wait=False)
            x += 1
            np.save(tmp_path / "y", x, wait=False)
            x[:] = 0
            assert os.listdir(tmp_path) == []
        forerun.waitall()
        assert numpy.load(tmp_path / "x.npy").tolist() == [0, 1, 2, 3, 4]
        assert numpy.load(tmp_path / "y.npy").tolist() == [1, 2, 3, 4, 5]

    def test_the_last_issued_wins(self, held_up: Any, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("x.npy")
        late = held_up(np.zeros(3))
        np.save(tmp_path / "x", late, wait=False)
        np.save(f"{tmp_path}/../{tmp_path.name}/x.npy", np.ones(3), wait=False)
        last = npx.save(tmp_path / "link", np.full((3,), 2), wait=False)
        held_up.go.set()
        last.wait()
        assert npx.load(tmp_path / "x.npy")[0].tolist() == [2, 2, 2]

    def test_does_not_wait(self, tmp_path: Path) -> None:
        x = np.arange(4)

        def program() -> list[Any]:
            y = x * 2
            return [
                *(save(tmp_path / name, y, wait=False) for name, save in zip("abcd", SAVES)),
                y.tofile(tmp_path / "e", wait=False), npx.save(tmp_path / "f", [y], wait=False),
                np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npz")["arr_0"], npx.load(tmp_path / "f")[0],
            ]  # fmt: skip

        found = returns(program)
        assert all(x.tolist() == [0, 2, 4, 6] for x in found[-3:])

    def test_an_open_file_is_written_now(self, tmp_path: Path) -> None:
        x = np.arange(4)
        for write in (np.save, np.savez, np.savetxt, npx.save, lambda file, x: x.tofile(file)):
            with open(tmp_path / "x", "wb") as file:
                waits_for_values(lambda file=file, write=write: write(file, x * 1))
            assert (tmp_path / "x").stat().st_size > 0

    def test_numpys_own_function_waits(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", np.arange(3))
        assert (tmp_path / "x.npy").exists()
        waits_for_values(lambda: numpy.savez(tmp_path / "y", np.arange(3) * 2))

    def test_in_asyncio(self, tmp_path: Path) -> None:
        async def program() -> int:
            size = np.save(tmp_path / "x", np.arange(3), wait=False)
            await size
            assert (tmp_path / "x.npy").exists()
            with pytest.raises(FileNotFoundError):
                await np.save(tmp_path / "none" / "x", np.arange(3), wait=False)
            return size.item()

        assert asyncio.run(program()) == (tmp_path / "x.npy").stat().st_size

    def test_two_devices(self, two_devices: list[forerun.Device], tmp_path: Path) -> None:
        x, y = (np.arange(SOME, device=device) for device in two_devices)
        np.savez(tmp_path / "x", x, y, wait=False)
        np.save(tmp_path / "y", y, wait=False)
        found = np.load(tmp_path / "x.npz")
        assert (found["arr_1"] == np.load(tmp_path / "y.npy")).all().item()

    def test_names_of_any_length_and_kind(self, tmp_path: Path) -> None:
        for name in ("n" * 251, "ü", b"bytes"):
            path = os.path.join(os.fsencode(tmp_path), name) if isinstance(name, bytes) else tmp_path / name
            np.save(path, np.arange(2))
            assert np.load(path + b".npy" if isinstance(path, bytes) else f"{path}.npy").tolist() == [0, 1]

    def test_a_pipe_is_written_directly(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "x.npy")
        size = np.save(tmp_path / "x", np.arange(3), wait=False)
        with open(tmp_path / "x.npy", "rb") as file:
            assert npy.read_header(file, 1 << 20).shape == (3,)
            file.read()
        assert size.item() == 24 or size.item() == 152

    def test_the_profile_shows_files(self, tmp_path: Path) -> None:
        with profiler.record() as p:
            np.save(tmp_path / "x", np.arange(SOME), wait=False)
            np.load(tmp_path / "x.npy").wait()
        queues = {e.name: e.queue for e in p.trace.ops}
        assert queues["save"] == queues["load"] == "io"
        assert "files" in profiler.report(p.trace) or "save" in profiler.report(p.trace)


class TestHybridized:
    """A program that was recorded would write without order, and read the file of its first call for ever."""

    def test_each_call_writes_in_order(self, tmp_path: Path) -> None:
        @forerun.hybrid
        def twice(x: Any) -> Any:
            np.save(tmp_path / "x", x, wait=False)
            return x * 2

        for i in range(4):
            with closed_gate():
                y = twice(np.full((3,), i))
                found = np.load(tmp_path / "x.npy")
            assert (y.tolist(), found.tolist()) == ([2 * i] * 3, [i] * 3)

    def test_each_call_reads_the_file_that_is_there(self, tmp_path: Path) -> None:
        @forerun.hybrid
        def more(x: Any) -> Any:
            return x + np.load(tmp_path / "x.npy")

        for i in range(4):
            np.save(tmp_path / "x", np.full((3,), i))
            assert more(np.ones(3)).tolist() == [i + 1] * 3


class TestFailure:
    @pytest.mark.parametrize("engine", ["1 worker", "4 workers"], indirect=True)
    def test_what_cannot_be_computed_leaves_the_file(self, engine: str, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(3))
        before = os.stat(tmp_path / "x.npy")
        size = np.save(tmp_path / "x", failing(), wait=False)
        for read in (size.wait, size.item, np.load(tmp_path / "x.npy").tolist):
            with pytest.raises(numpy.linalg.LinAlgError, match="Singular") as caught:
                read()
            assert any("test_file_ops.py" in note for note in caught.value.__notes__)
        assert os.stat(tmp_path / "x.npy") == before
        assert os.listdir(tmp_path) == ["x.npy"]

    def test_waitall_raises(self, tmp_path: Path) -> None:
        np.save(tmp_path / "none" / "x", np.arange(3), wait=False)
        with pytest.raises(FileNotFoundError, match=r"none/x.npy") as caught:
            forerun.waitall()
        assert any("test_file_ops.py" in note for note in caught.value.__notes__)
        forerun.waitall()

    def test_a_load_has_the_failure_until_somebody_was_told(self, tmp_path: Path) -> None:
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

    def test_what_reads_now_waits_for_the_write_and_has_its_failure(self, tmp_path: Path) -> None:
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
            npx.save("/dev/full", np.arange(SOME))
        assert caught.value.errno == errno.ENOSPC

    @pytest.mark.parametrize("unnamed", [True, False])
    def test_no_room_for_the_whole_file(self, unnamed: bool, tmp_path: Path) -> None:
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

    def test_exit_finishes_what_is_pending(self, tmp_path: Path) -> None:
        subprocesses.output(f"np.save({str(tmp_path / 'x')!r}, np.arange({SOME}), wait=False)")
        assert numpy.load(tmp_path / "x.npy").shape == (SOME,)

    def test_exit_tells_what_nobody_has_read(self, tmp_path: Path) -> None:
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


class TestReplacing:
    def calls(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> list[str]:
        """Return the system calls of a write of a file, in order."""
        found: list[str] = []

        def noted(name: str, kind: Callable[..., str]) -> None:
            real = getattr(os, name)
            monkeypatch.setattr(os, name, lambda *a, **k: (found.append(kind(*a)), real(*a, **k))[1])

        noted("fsync", lambda file: "fsync folder" if os.path.isdir(f"/proc/self/fd/{file}") else "fsync file")
        noted("replace", lambda *names: "rename")
        with replacing.replacing(str(path)) as out:
            out.write(b"new")
        return found

    def test_values_are_on_the_disk_before_the_name_changes(self, monkeypatch: Any, tmp_path: Path) -> None:
        assert self.calls(monkeypatch, tmp_path / "x") == ["fsync file", "rename", "fsync folder"]

    def test_without_files_that_have_no_name(self, monkeypatch: Any, tmp_path: Path) -> None:
        real = os.open

        def no_such(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, "no such files")
            return real(path, flags, *rest, **more)

        monkeypatch.setattr(os, "open", no_such)
        assert self.calls(monkeypatch, tmp_path / "x") == ["fsync file", "rename", "fsync folder"]
        assert (tmp_path / "x").read_bytes() == b"new"
        with pytest.raises(ValueError, match="closed"), replacing.replacing(str(tmp_path / "x")) as out:
            out.close()  # so that it cannot be written to the end
        assert (tmp_path / "x").read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["x"]

    def test_without_a_way_to_name_them(self, monkeypatch: Any, tmp_path: Path) -> None:
        def refused(*args: Any, **more: Any) -> None:
            raise FileNotFoundError

        monkeypatch.setattr(os, "link", refused)
        (tmp_path / "x").touch(mode=0o640)
        calls = self.calls(monkeypatch, tmp_path / "x")
        assert calls[-3:] == ["fsync file", "rename", "fsync folder"]
        assert (tmp_path / "x").read_bytes() == b"new"
        assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
        assert os.listdir(tmp_path) == ["x"]

    def test_a_new_file_has_the_permissions_of_others(self, tmp_path: Path) -> None:
        (tmp_path / "other").touch()
        with replacing.replacing(str(tmp_path / "x")):
            pass
        assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode


class TestLoad:
    @pytest.mark.parametrize("layout", ["C", "F"])
    @pytest.mark.parametrize("dtype", ["<f4", ">f4", "<i8", ">c16", "?", ">f2"])
    def test_what_numpy_has_written(self, engine: str, dtype: str, layout: Any, tmp_path: Path) -> None:
        for shape in [(), (5,), (0, 3), (4, 3, 2)]:
            x = numpy.asarray(numpy.arange(24)[: int(numpy.prod(shape))].reshape(shape), dtype, order=layout)
            numpy.save(tmp_path / "x", x)
            numpy.savez_compressed(tmp_path / "xs", x=x)
            for found in (np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["x"]):
                assert (found.dtype, found.shape) == (x.dtype.newbyteorder("="), shape)
                assert found.tolist() == x.tolist()

    def test_large_values(self, tmp_path: Path) -> None:
        x = numpy.random.default_rng(1).normal(size=(3, SOME))
        for kind in (x, x.astype(">f8"), numpy.asfortranarray(x)):
            numpy.save(tmp_path / "x", kind)
            numpy.savez_compressed(tmp_path / "xs", kind)
            for found in (np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["arr_0"]):
                assert found.numpy().tobytes() == x.tobytes()

    def test_shape_and_dtype_are_known_at_once(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.ones((2, 3), ">i2"))
        numpy.savez(tmp_path / "xs", a=numpy.ones((2, 3), ">i2"))

        def program() -> list[Any]:
            x, y = np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["a"]
            return [x, y, np.fromfile(tmp_path / "x.npy", "i2")]

        x, y, _ = returns(program)
        assert x.shape == y.shape == (2, 3)
        assert x.dtype == y.dtype == "int16"

    def test_the_file_may_go_or_be_replaced(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.arange(3))
        numpy.savez(tmp_path / "xs", numpy.arange(3))
        with closed_gate():
            found = [np.load(tmp_path / "x.npy"), np.load(tmp_path / "xs.npz")["arr_0"]]
            (tmp_path / "xs.npz").unlink()
            np.save(tmp_path / "x", np.zeros(2), wait=False)
        forerun.waitall()
        assert [x.tolist() for x in found] == [[0, 1, 2]] * 2
        assert np.load(tmp_path / "x.npy").tolist() == [0, 0]

    def test_in_order_with_saves(self, held_up: Any, tmp_path: Path) -> None:
        x = held_up(np.arange(3))
        first = np.save(tmp_path / "x", x, wait=False)
        early = np.load(tmp_path / "x.npy")
        second = np.save(tmp_path / "x", x + 1, wait=False)
        late = np.load(tmp_path / "x.npy")
        held_up.go.set()
        assert (early.tolist(), late.tolist()) == ([0, 1, 2], [1, 2, 3])
        forerun.wait([first, second])

    def test_a_load_that_is_held_up_keeps_later_saves_of_the_file(self, monkeypatch: Any, tmp_path: Path) -> None:
        """Also once the save that it comes after has ended."""
        began, go, real = threading.Event(), threading.Event(), numpy_files._again
        monkeypatch.setattr(numpy_files, "_again", lambda *a: (began.set(), go.wait(60), real(*a)))
        with closed_gate():
            np.save(tmp_path / "x", np.arange(3), wait=False)
            early = np.load(tmp_path / "x.npy")
        began.wait(60)
        np.save(tmp_path / "x", np.zeros(3), wait=False)
        np.save(tmp_path / "another", np.zeros(3))  # the one before it would have been written by now
        go.set()
        assert early.tolist() == [0, 1, 2]
        assert np.load(tmp_path / "x.npy").tolist() == [0, 0, 0]

    @pytest.mark.parametrize("name", ["x.npy", "x.npz"])
    def test_a_file_that_another_program_replaces_before_it_is_read(
        self, name: str, monkeypatch: Any, tmp_path: Path
    ) -> None:
        written, write = order.written, numpy.save if name == "x.npy" else numpy.savez
        monkeypatch.setattr(order, "written", lambda *a: (write(tmp_path / name, numpy.zeros(3)), written(*a)))
        with closed_gate():
            (np.save if name == "x.npy" else np.savez)(tmp_path / name, np.arange(3), wait=False)
            found = np.load(tmp_path / name)
            x = found if name == "x.npy" else found["arr_0"]
        with pytest.raises(ValueError, match="load: file must hold what was saved, got float64"):
            x.tolist()

    def test_parameters_come_after_their_save(self, tmp_path: Path) -> None:
        nets = [gluon.nn.Dense(1, in_units=2) for _ in range(2)]
        for net, value in zip(nets, ("ones", "zeros")):
            net.initialize(value)

        def program() -> None:
            nets[0].save_parameters(tmp_path / "x", wait=False)
            nets[1].load_parameters(tmp_path / "x")

        waits_for_values(program)
        assert nets[1].weight.data().tolist() == [[1, 1]]

    def test_archives_that_are_about_to_be_written(self, tmp_path: Path) -> None:
        with closed_gate():
            np.savez(tmp_path / "x", np.arange(3), other=np.ones((2, 2)).T, wait=False)
            found = np.load(tmp_path / "x.npz")
            assert sorted(found) == ["arr_0", "other"]
            assert found["other"].shape == (2, 2)
        assert found["arr_0"].tolist() == [0, 1, 2]
        assert found["other"].tolist() == [[1, 1], [1, 1]]

    def test_an_archive_is_read_when_it_is_asked_for(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "x", "w") as made:
            made.writestr("good.npy", numpy_bytes(numpy.arange(3)))
            made.writestr("bad.npy", b"not an array")
        with np.load(tmp_path / "x") as found:
            assert found["good.npy"] is found["good"]
            assert found["good"].tolist() == [0, 1, 2]
            assert "good.npy" in found
            assert len(found) == 2
            with pytest.raises(ValueError, match="load: file must be in NumPy's npy format"):
                found["bad"]
            with pytest.raises(KeyError, match="none"):
                found["none"]
        with pytest.raises(ValueError, match="archive must be open"):
            found["bad"]
        assert found["good"].tolist() == [0, 1, 2]
        assert repr(found) == "Archive with arrays good, bad"

    @pytest.mark.parametrize("name", ["x.npy", "x.npz"])
    def test_values_that_are_no_longer_there(self, name: str, tmp_path: Path) -> None:
        (numpy.save if name == "x.npy" else numpy.savez)(tmp_path / name, numpy.arange(SOME))
        with closed_gate():
            x = np.load(tmp_path / name)
            x = x if name == "x.npy" else x["arr_0"]
            y = x + 1
            os.truncate(tmp_path / name, 5000)
        for read in (x.tolist, y.tolist, x.wait):
            with pytest.raises(ValueError, match="load: ") as caught:
                read()
            assert any("test_file_ops.py" in note for note in caught.value.__notes__)

    def test_values_that_have_changed_in_an_archive(self, tmp_path: Path) -> None:
        numpy.savez(tmp_path / "x", numpy.arange(SOME))
        data = bytearray((tmp_path / "x.npz").read_bytes())
        data[len(data) // 2] ^= 1
        (tmp_path / "x.npz").write_bytes(data)
        with pytest.raises(ValueError, match="Bad CRC-32"):
            np.load(tmp_path / "x.npz")["arr_0"].wait()

    def test_what_it_does_not_have(self, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.arange(3))
        with pytest.raises(ValueError, match="load: mmap_mode must be None, got 'r'"):
            np.load(tmp_path / "x.npy", mmap_mode="r")
        assert np.load(tmp_path / "x.npy", allow_pickle=True).tolist() == [0, 1, 2]
        for dtype in ("O", "U3", [("a", "f4")], "M8[s]"):
            numpy.save(tmp_path / "y", numpy.zeros(2, dtype), allow_pickle=dtype == "O")
            with pytest.raises(ValueError, match="load: file must hold numbers"):
                np.load(tmp_path / "y.npy", allow_pickle=True)

    def test_nobody_reads_what_nobody_wants(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.arange(SOME))
        before, dropped = resources.in_use(), forerun.stats()["dropped"]
        with closed_gate():
            x = np.load(tmp_path / "x.npy")
            assert resources.more(before)["files"] == 1
            del x
        forerun.waitall()
        assert forerun.stats()["dropped"] == dropped + 1
        assert not resources.settled(before)

    def test_more_files_than_may_be_open(self, tmp_path: Path) -> None:
        found = subprocesses.output(
            f"import os\nos.chdir({str(tmp_path)!r})\n"
            "for i in range(300): np.save(f'{i}', np.full((1000,), i), wait=False)\n"
            "forerun.waitall()\n"
            "found = [np.load(f'{i}.npy') for i in range(300)]\n"
            "print(sum(x[0].item() for x in found))",
            early="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n",
        )
        assert found == [str(sum(range(300)))]

    def test_values_are_read_into_their_place(self, tmp_path: Path) -> None:
        """Neither a second copy, nor memory that does not count."""
        numpy.save(tmp_path / "x", numpy.ones(32 << 20, "u1"))
        numpy.savez(tmp_path / "xs", numpy.ones(32 << 20, "u1"))
        found = subprocesses.output(
            f"import sys; sys.path.append({str(ROOT)!r})\n"
            "from tests.support.resources import Peak\n"
            "(np.ones(3) + 1).wait()\n"
            "peak = Peak()\n"
            f"x = np.load({str(tmp_path / 'x.npy')!r})\nx.wait()\n"
            f"y = np.load({str(tmp_path / 'xs.npz')!r})['arr_0']\ny.wait()\n"
            "print(peak.risen() >> 20, forerun.memory()['live'] >> 20)"
        )
        assert int(found[0]) < 64 + 24
        assert found[1] == "64"


def numpy_bytes(x: numpy.ndarray) -> bytes:
    out = io.BytesIO()
    numpy.save(out, x)
    return out.getvalue()


class TestText:
    @pytest.mark.parametrize("name", ["x", "x.gz", "x.bz2", "x.xz"])
    def test_texts(self, name: str, tmp_path: Path) -> None:
        x = numpy.arange(6.0).reshape(2, 3) / 4
        np.savetxt(tmp_path / name, np.array(x), fmt="%.3f", delimiter=",", header="a,b", wait=False)
        found = np.loadtxt(tmp_path / name, delimiter=",")
        assert found.dtype == "float32"
        assert found.tolist() == x.tolist() == numpy.loadtxt(tmp_path / name, delimiter=",").tolist()
        columns = np.loadtxt(tmp_path / name, "float64", delimiter=",", unpack=True)
        assert columns.tolist() == x.T.tolist()
        assert np.genfromtxt(tmp_path / name, delimiter=",").tolist() == x.tolist()

    def test_errors_are_numpys(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("1 2\n3")
        for read in (np.loadtxt, np.genfromtxt):
            with pytest.raises(ValueError, match="column"):
                read(tmp_path / "x")
        with pytest.raises(TypeError, match="dtype"):
            np.loadtxt(tmp_path / "x", dtype=str)
        with pytest.raises(ValueError, match="savetxt: array must have one or two axes"):
            np.savetxt(tmp_path / "y", np.ones((1, 1, 1)), wait=False)
        with pytest.raises(ValueError, match="fmt"):
            np.savetxt(tmp_path / "y", np.ones((1, 2)), fmt="%d %d %d")
        assert not (tmp_path / "y").exists()

    @pytest.mark.parametrize("dtype", ["<i2", ">f8", "?"])
    def test_bytes(self, dtype: str, tmp_path: Path) -> None:
        x = numpy.arange(12).reshape(3, 4).astype(dtype)
        np.array(x).T.tofile(tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == x.T.astype(x.dtype.newbyteorder("=")).tobytes()
        x.tofile(tmp_path / "x")
        for more in ({}, {"count": 3}, {"offset": 2 * x.itemsize}, {"count": 99}, {"offset": x.nbytes}, {"offset": 3}):
            theirs = numpy.fromfile(tmp_path / "x", dtype, **more)
            ours = np.fromfile(tmp_path / "x", dtype, **more)
            assert (ours.tolist(), ours.dtype) == (theirs.tolist(), theirs.dtype.newbyteorder("="))
        for offset in (-1, x.nbytes + 1):
            with pytest.raises(ValueError, match="offset must be within the file"):
                np.fromfile(tmp_path / "x", dtype, offset=offset)

    def test_bytes_of_open_files_and_text(self, tmp_path: Path) -> None:
        np.arange(3).tofile(tmp_path / "x", sep=";", format="<%s>")
        assert (tmp_path / "x").read_text() == "<0>;<1>;<2>"
        np.array([1.5, 2]).tofile(tmp_path / "y", sep=" ")
        assert np.fromfile(tmp_path / "y", sep=" ").tolist() == [1.5, 2.0]
        with open(tmp_path / "z", "wb") as file:
            np.arange(3).tofile(file)
        with open(tmp_path / "z", "rb") as file:
            assert np.fromfile(file, "i8").tolist() == [0, 1, 2]


class TestBesideTheComputation:
    def test_values_are_computed_while_others_are_written(self, held_up: Any) -> None:
        """Although both at once take more memory than the program would in order."""
        n = 4 << 20
        x = np.ones(n)
        x.wait()
        npx.host(lambda v: held_up.go.wait(60), [x], [], queue="io")
        del x
        y = np.ones(n) + 1
        patience = threading.Timer(60, held_up.go.set)
        patience.start()
        y.wait()
        patience.cancel()
        patience.join()
        assert not held_up.go.is_set()

    def test_values_are_read_while_others_are_computed(self, held_up: Any, tmp_path: Path) -> None:
        n = 4 << 20
        numpy.save(tmp_path / "x", numpy.ones(n, "f4"))
        first = held_up(np.ones(n))
        results = [first.sum()]
        del first
        x = np.load(tmp_path / "x.npy")
        patience = threading.Timer(60, held_up.go.set)
        patience.start()
        x.wait()
        patience.cancel()
        patience.join()
        assert not held_up.go.is_set()
        held_up.go.set()
        assert results[0].item() == n

    def test_a_write_that_takes_long_does_not_hold_up_reads(self, held_up: Any, tmp_path: Path) -> None:
        numpy.save(tmp_path / "x", numpy.arange(3))
        late = held_up(np.ones(3), "io")
        assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
        assert not late.ready

    @pytest.mark.parametrize("update", ["in place", "at an index", "through a view"])
    def test_an_update_waits_for_the_write_and_the_program_does_not(
        self, update: str, monkeypatch: Any, tmp_path: Path
    ) -> None:
        """While the values are written, all that runs is what does not write into their array."""
        began, go, real = threading.Event(), threading.Event(), npy.write_values
        monkeypatch.setattr(npy, "write_values", lambda *args: (began.set(), go.wait(60), real(*args)))
        x = np.arange(4)
        size = np.save(tmp_path / "x", x, wait=False)
        assert began.wait(60)
        patience = threading.Timer(60, go.set)
        patience.start()
        if update == "in place":
            x += 10
        elif update == "at an index":
            x[[0, 1, 2, 3]] = np.array([10, 11, 12, 13])
        else:
            x[::-1][:] = np.array([13, 12, 11, 10])
        after = x * 2  # issued, and comes after the update
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]
        assert [x.ready, after.ready, size.ready, go.is_set()] == [False] * 4
        patience.cancel()
        patience.join()
        go.set()
        assert after.tolist() == [20, 22, 24, 26]
        size.wait()
        assert numpy.load(tmp_path / "x.npy").tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize(
        "save", [partial(np.savez, wait=False), lambda path, x: save_file({"x": x}, path, wait=False)]
    )
    def test_an_update_does_not_wait_for_the_disk(self, save: Any, monkeypatch: Any, tmp_path: Path) -> None:
        """Which does not need the array any more; nor does another save of it."""
        began, go, real = threading.Event(), threading.Event(), os.fsync
        monkeypatch.setattr(os, "fsync", lambda file: (began.set(), go.wait(60), real(file)))
        x = np.arange(4)
        size = save(tmp_path / "x.npz", x)
        assert began.wait(60)
        x += 10
        again = save(tmp_path / "x.npz", x)
        patience = threading.Timer(60, go.set)
        patience.start()
        assert x.tolist() == [10, 11, 12, 13]
        assert [size.ready, again.ready, os.listdir(tmp_path), go.is_set()] == [False, False, [], False]
        patience.cancel()
        patience.join()
        go.set()
        assert size.item() == again.item() == os.path.getsize(tmp_path / "x.npz")

    @pytest.mark.parametrize("threads", [1, 4])
    def test_saves_of_one_file_end_in_order(self, threads: int, tmp_path: Path) -> None:
        """Though the values of one may be written before the one before it has its name."""
        with configured(io_threads=threads):
            x, seen = np.zeros(4), []
            with closed_gate():
                for i in range(20):
                    np.save(tmp_path / "x", x, wait=False)
                    if i % 3 == 0:
                        seen.append(np.load(tmp_path / "x.npy"))
                    x += 1
            assert [y.tolist() for y in seen] == [[i] * 4 for i in range(0, 20, 3)]
            forerun.waitall()
            assert numpy.load(tmp_path / "x.npy").tolist() == [19] * 4
            assert os.listdir(tmp_path) == ["x.npy"]

    def test_a_program_that_computes_faster_than_it_writes_stays_small(self, tmp_path: Path) -> None:
        n, before = 4 << 20, forerun.config()
        forerun.configure(io_memory=32 << 20)
        _core.reset_peak()
        least = forerun.memory()["live"]
        for i in range(24):
            np.save(tmp_path / f"{i % 2}", np.full((n,), i) + 1, wait=False)
        forerun.waitall()
        peak = forerun.memory()["peak"] - least
        put_back(before)
        assert peak <= 24 * 4 * n / 2  # in order it is two arrays
        assert np.load(tmp_path / "1.npy")[0].item() == 24
