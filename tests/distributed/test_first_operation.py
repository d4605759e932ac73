"""Ranks that end before their first operation between ranks, or while MPI begins, where the others wait for them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forerun._launch import keeper
from tests.support.processes.ranks import (
    check_reports_of_failed_rank_2,
    launcher_lines,
    lines_of,
    needs_mpi,
    run_ranks,
)

# The last rank ends without an operation between ranks. own: the program has initialized MPI, which may keep that rank
# at its end until the launcher kills it. early: the others wait for it already, in all likelihood. late: it has ended
# when they come there.
PROGRAM = """
import pathlib, time
how, when, folder = os.environ["HOW"], os.environ["WHEN"], pathlib.Path(os.environ["FOLDER"])
rank, size = dist.rank(), dist.size()
if how == "own": from mpi4py import MPI

def is_there(pid):
    try: os.kill(pid, 0)
    except ProcessLookupError: return False
    return True

if rank == size - 1:
    if when == "early":
        while len(list(folder.glob("here*"))) < size - 1: time.sleep(0.01)
        time.sleep(0.2)
    (folder / "new").write_text(str(os.getpid()))
    (folder / "new").rename(folder / "pid")
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "raise": raise ValueError("a mistake")
    sys.exit()
if when == "late":
    while not (folder / "pid").exists() or is_there(int((folder / "pid").read_text())): time.sleep(0.01)
x = np.ones(3) * 2
(folder / f"here{rank}").touch()
try:
    dist.Group([0, 1]) if rank == 1 else dist.allreduce(x)
except dist.RankFailed as error:
    print("learned", error, x.tolist(), flush=True)
"""
SAYS = {
    "well": "ended before its first operation between ranks",
    "own": "ended before its first operation between ranks",
    "kill": "was killed by signal 9 (SIGKILL)",
    "raise": "raised ValueError: a mistake",
}


def end_of_program(folder: Path, how: str, when: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The program after its end, in which both other ranks have learned of the last one's."""
    done = run_ranks(folder, 3, PROGRAM, *options, HOW=how, WHEN=when, FOLDER=str(folder))
    lines = sorted(done.stdout.splitlines())
    assert len(lines) == 2, (lines, done.stderr)
    for rank, op in enumerate(("allreduce", "Group")):
        assert lines[rank].startswith(f"[{rank}] learned rank 2 (host "), lines
        assert SAYS[how] in lines[rank]
        assert lines[rank].endswith(f"; this rank waited in {op} [2.0, 2.0, 2.0]")
    return done


@needs_mpi
@pytest.mark.parametrize(
    ("how", "when", "status"),
    [("well", "early", 1), ("well", "late", 1), ("kill", "early", 128 + 9), ("raise", "late", 1)],
)
def test_other_ranks_raise_rank_failed(tmp_path: Path, how: str, when: str, status: int) -> None:
    done = end_of_program(tmp_path, how, when)
    assert done.returncode == status
    assert "kills the ranks" not in done.stderr


@needs_mpi
def test_other_ranks_raise_while_mpi_holds_the_failed_rank(tmp_path: Path) -> None:
    assert end_of_program(tmp_path, "own", "early", "--grace", "1").returncode != 0


@needs_mpi
def test_ranks_without_operations_between_them_end_one_by_one(tmp_path: Path) -> None:
    program = "import time\ntime.sleep(dist.rank() * 0.3)\nprint(np.ones(3).sum().item())"
    assert lines_of(tmp_path, 3, program) == [["3.0"]] * 3


# All ranks have come to their first operation when the last one ends, and the others initialize MPI.
WHILE_MPI_BEGINS = """
from forerun.distributed import _world
how, call = os.environ["HOW"], _world._call
def ends(mpi, name, *arguments):
    if dist.rank() < 2 or name != "MPI_Init_thread": return call(mpi, name, *arguments)
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "abruptly": os._exit(0)
    if how == "status": os._exit(5)
    raise ValueError("a mistake")
_world._call = ends
x = np.ones(3) * 2
try: dist.allreduce(x)
except dist.RankFailed as error: print("learned", error, x.tolist(), flush=True)
"""


@needs_mpi
@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("kill", 128 + 9, "was killed by signal 9 (SIGKILL)"),
        ("abruptly", 1, "ended without leaving MPI, as by os._exit"),
        ("status", 5, "ended with status 5"),
        ("raise", 1, "raised ValueError: a mistake at "),
    ],
)
def test_other_ranks_raise_during_mpi_initialization(tmp_path: Path, how: str, status: int, says: str) -> None:
    done = run_ranks(tmp_path, 3, WHILE_MPI_BEGINS, HOW=how)
    check_reports_of_failed_rank_2(done, status, "(host ", says, "; this rank waited in allreduce [2.0, 2.0, 2.0]")


# MPI's launcher has stopped on this machine, so that it answers no rank. The others end with a question that it has
# not read.
UNANSWERED = """
import fcntl, pathlib, struct, time
def parent(pid): return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
def asks():
    if "PMI_FD" not in os.environ: return True  # another MPI
    asked = fcntl.ioctl(int(os.environ["PMI_FD"]), 0x5411, bytes(4))  # SIOCOUTQ: bytes that are not read
    return struct.unpack("i", asked)[0] > 0
if dist.rank() == 2:
    launcher = parent(os.getppid())
    os.kill(launcher, signal.SIGSTOP)
    folder = pathlib.Path(os.environ["FOLDER"])
    (folder / "new").write_text(str(launcher))
    (folder / "new").rename(folder / "launcher")
""" + WHILE_MPI_BEGINS.replace("error:", "error:\n    while not asks(): time.sleep(0.01)\n   ")


@needs_mpi
def test_output_of_ranks_that_end_unanswered_is_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as beside:
        running = beside.submit(run_ranks, tmp_path, 3, UNANSWERED, HOW="status", FOLDER=str(tmp_path))
        while not (file := tmp_path / "launcher").exists() and not running.done():
            time.sleep(0.01)
        launcher = int(file.read_text())
        while keeper.descendants(launcher):
            time.sleep(0.01)
        os.kill(launcher, signal.SIGCONT)
        done = running.result()
    check_reports_of_failed_rank_2(
        done, 5, "(host ", "ended with status 5", "; this rank waited in allreduce [2.0, 2.0, 2.0]"
    )
    assert "write error" not in done.stderr


# The others wait in the program's own initialization of MPI, where they can learn nothing.
OWN = """
how = os.environ["HOW"]
if dist.rank() == 2:
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "raise": raise ValueError("a mistake")
    sys.exit()
from mpi4py import MPI
"""


@needs_mpi
@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("kill", 128 + 9, "was killed by signal 9 (SIGKILL)"),
        ("raise", 1, "raised ValueError: a mistake at "),
        ("well", 1, "ended before it initialized MPI, where others wait for it"),
    ],
)
def test_ranks_that_wait_in_the_programs_own_initialization_are_ended(
    tmp_path: Path, how: str, status: int, says: str
) -> None:
    done = run_ranks(tmp_path, 3, OWN, HOW=how)
    assert done.returncode == status
    lines = launcher_lines(done)
    assert len(lines) == 2, done.stderr
    assert lines[0].startswith("forerun run: rank 2 (host ")
    assert says in lines[0]
    assert lines[1].startswith("forerun run: kills the ranks that wait for others while MPI is initialized: rank 0 ")
    assert ", rank 1 (" in lines[1]
