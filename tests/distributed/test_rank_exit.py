"""Ranks that exit in the middle of a program, while the others wait for them outside of an operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.ranks import check_reports_of_failed_rank_2, launcher_lines, needs_mpi, run_ranks

# All ranks have come to an operation; then the last one ends, and the others wait for it.
PROGRAM = """
import atexit, pathlib, time
from forerun import metric
how, where, folder = os.environ["HOW"], os.environ["WHERE"], pathlib.Path(os.environ["FOLDER"])
last = dist.rank() == dist.size() - 1
dist.allreduce(np.ones(2)).tolist()
x = np.ones(3) * 2
(folder / f"here{dist.rank()}").touch()
while last and len(list(folder.glob("here*"))) < dist.size(): time.sleep(0.01)
try:
    if last and how == "well": sys.exit()
    if last and how == "abruptly": os._exit(0)
    if last and how == "abruptly at the exit": atexit.register(os._exit, 0)
    if not last and where == "allreduce": dist.allreduce(x).tolist()
    if not last and where == "Group": dist.Group(range(dist.size()))
    if not last and where == "values": dist.reduce_metric(metric.Accuracy())
except dist.RankFailed as error:
    print("learned", str(error).splitlines()[0], x.tolist(), flush=True)
"""


@needs_mpi
@pytest.mark.parametrize(
    ("how", "where", "says", "status"),
    [
        ("well", "Group", "has ended its program; this rank waited in Group", 0),
        ("well", "values", "wait for a value of it; this rank waited for values", 1),
        ("abruptly", "allreduce", "ended without leaving MPI, as by os._exit; this rank waited in allreduce", 1),
        ("abruptly", "Group", "ended without leaving MPI, as by os._exit; this rank waited in Group", 1),
    ],
)
def test_other_ranks_raise_after_a_rank_has_exited(
    tmp_path: Path, how: str, where: str, says: str, status: int
) -> None:
    done = run_ranks(tmp_path, 3, PROGRAM, HOW=how, WHERE=where, FOLDER=str(tmp_path))
    check_reports_of_failed_rank_2(done, status, "", says, "[2.0, 2.0, 2.0]")


@needs_mpi
def test_a_rank_that_ends_abruptly_at_its_exit_is_not_waited_for(tmp_path: Path) -> None:
    done = run_ranks(tmp_path, 3, PROGRAM, HOW="abruptly at the exit", WHERE="the end", FOLDER=str(tmp_path))
    assert done.returncode == 1
    assert "ended without leaving MPI, as by os._exit" in done.stderr
    assert "kills the ranks" not in done.stderr


@needs_mpi
def test_ranks_that_all_end_abruptly_have_ended_well(tmp_path: Path) -> None:
    done = run_ranks(tmp_path, 3, "dist.allreduce(np.ones(2)).tolist()\nos._exit(0)")
    assert (done.returncode, launcher_lines(done)) == (0, [])


@needs_mpi
def test_a_rank_killed_during_mpi_finalization_is_not_waited_for(tmp_path: Path) -> None:
    program = """
from forerun.distributed import _world
call = _world._call
def killed(mpi, name, *arguments):
    if name == "MPI_Finalize" and dist.rank() == 2: os.kill(os.getpid(), signal.SIGKILL)
    return call(mpi, name, *arguments)
_world._call = killed
print(dist.allreduce(np.ones(2)).tolist())
"""
    done = run_ranks(tmp_path, 3, program)
    assert sorted(done.stdout.splitlines()) == [f"[{rank}] [3.0, 3.0]" for rank in range(3)]
    assert done.returncode == 128 + 9
    lines = launcher_lines(done)
    assert len(lines) == 1, lines
    assert "was killed by signal 9 (SIGKILL)" in lines[0]


@needs_mpi
def test_an_exception_in_a_thread_ends_no_other_rank_in_silence(tmp_path: Path) -> None:
    program = """
import threading
def work():
    if dist.rank() == 1: raise ValueError("a mistake")
    try: dist.allreduce(np.ones(2)).tolist()
    except dist.RankFailed as error: print("learned", str(error).splitlines()[0])
dist.barrier()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    done = run_ranks(tmp_path, 2, program)
    assert done.stdout.startswith("[0] learned rank 1 has ended its program; this rank "), done.stderr
    assert "[1] ValueError: a mistake" in done.stderr


@needs_mpi
def test_a_child_process_is_not_taken_for_its_rank(tmp_path: Path) -> None:
    program = """
import subprocess
print(os.getpid(), flush=True)
subprocess.run([sys.executable, "-c", "from forerun import distributed"], check=True)
sys.exit(3)
"""
    done = run_ranks(tmp_path, 1, program)
    (line,) = launcher_lines(done)
    pid = done.stdout.split()[1]
    assert line.endswith(f", pid {pid}) ended with status 3"), (line, pid)
