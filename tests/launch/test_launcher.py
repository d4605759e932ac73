"""`forerun run -n`: output, signals, statuses, and the errors of the others when a rank fails. No process keeps
running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes.ranks import needs_mpi
from tests.support.processes.subprocesses import environment

PROGRAM = """
import os, signal, subprocess, sys, threading, time
from forerun._launch import link
rank, size = int(os.environ["FORERUN_RANK"]), int(os.environ["FORERUN_SIZE"])
how = sys.argv[1]
notified = threading.Event()
link.connect().on_failure(lambda message: (print("notified", message, flush=True), notified.set()))
subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)", os.environ["MARK"]])
print("of", size, flush=True)
if size > 1:
    from mpi4py import MPI
    MPI.COMM_WORLD.Barrier()
if rank == size - 1:
    if how == "raise": raise ValueError("a mistake")
    if how == "status": sys.exit(7)
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "stop": os.kill(os.getpid(), signal.SIGSTOP)
    if how == "twice" and os.environ["FORERUN_RESTART"] != "2": os.kill(os.getpid(), signal.SIGTERM)
if how == "well" or how == "twice": sys.exit()
began = time.monotonic()
notified.wait(30)
print("waited", "long" if time.monotonic() - began > (8 if how == "stop" else 2) else "briefly", flush=True)
raise RuntimeError("another failed")
"""


class Started:
    """The command with the program above, and the processes that it leaves behind."""

    def __init__(self, folder: Path, size: int, how: str, *options: str) -> None:
        file = folder / "program.py"
        file.write_text(PROGRAM)
        self.mark = f"mark-of-{folder.name}-{how}"
        words = [sys.executable, "-m", "forerun", "run", "-n", str(size), *options, str(file), how]
        self.process = subprocess.Popen(
            words, env=environment(MARK=self.mark), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ended(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def left(self) -> list[str]:
        """Command lines of processes with the mark in their variables."""
        found = []
        for each in Path("/proc").iterdir():
            try:
                if each.name.isdecimal() and self.mark.encode() in (each / "environ").read_bytes():
                    found.append((each / "cmdline").read_bytes().decode())
            except OSError:
                continue
        return found

    def left_after(self, seconds: float) -> list[str]:
        end = time.monotonic() + seconds
        while (found := self.left()) and time.monotonic() < end:
            time.sleep(0.05)
        return found


def test_one_rank_needs_no_mpi(tmp_path: Path) -> None:
    started = Started(tmp_path, 1, "well")
    status, out, err = started.ended()
    assert (status, out, err) == (0, "[0] of 1\n", "")
    assert started.left() == []


def test_all_ranks_restart_and_the_last_status_counts(tmp_path: Path) -> None:
    started = Started(tmp_path, 1, "twice", "--restarts", "3")
    status, out, err = started.ended()
    assert (status, out) == (0, "[0] of 1\n" * 3)
    assert err.count("was killed by signal 15 (SIGTERM)") == 2
    assert "restart 2 of 3" in err
    assert started.left() == []


@needs_mpi
@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("raise", 1, "raised ValueError: a mistake at "),
        ("status", 7, "ended with status 7"),
        ("kill", 128 + 9, "was killed by signal 9 (SIGKILL)"),
        ("stop", 128 + 9, "is frozen: it has been stopped for 5 s"),
    ],
)
def test_a_failure_notifies_the_other_ranks(tmp_path: Path, how: str, status: int, says: str) -> None:
    started = Started(tmp_path, 3, how)
    found, out, err = started.ended()
    assert found == status
    failure = next(line for line in err.splitlines() if line.startswith("forerun run: rank 2 "))
    assert says in failure
    for rank in (0, 1):
        assert f"[{rank}] notified {failure.removeprefix('forerun run: ')}\n" in out
        assert f"[{rank}] waited briefly\n" in out
        assert any(
            line.startswith(f"forerun run: rank {rank} ") and "RuntimeError" in line for line in err.splitlines()
        )
    assert started.left() == []


@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_launcher(tmp_path: Path, number: int) -> None:
    started = Started(tmp_path, 2, "wait")
    assert started.process.stdout is not None
    assert sorted(started.process.stdout.readline() for _ in range(2)) == ["[0] of 2\n", "[1] of 2\n"]
    started.process.send_signal(number)
    status, _, _ = started.ended()
    assert status == (130 if number == signal.SIGINT else -9)
    assert started.left_after(10) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-n", "0", "x.py"], "-n: must be at least 1, got 0"),
        (["-n", "2", "no such.py"], "no such script: no such.py"),
    ],
)
def test_wrong_use_raises_before_anything_runs(words: list[str], says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "forerun", "run", *words],
        env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, f"forerun run: {says}\n" if "at least" not in says else done.stderr)
    assert says in done.stderr


def test_a_nested_launch_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "outer.py"
    file.write_text(
        "import os, sys\nos.execv(sys.executable, [sys.executable, '-m', 'forerun', 'run', '-n', '2', 'x.py'])"
    )
    words = [sys.executable, "-m", "forerun", "run", "-n", "1", os.fspath(file)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "a world in a world is not possible" in done.stderr
