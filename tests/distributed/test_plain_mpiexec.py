"""Ranks that MPI's own launcher starts: no process watches them, and still none waits for one that has ended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.processes.ranks import needs_mpi, run_mpiexec

# The last rank ends, where the others come to their first operation, or to a second one.
PROGRAM = """
how, when = os.environ["HOW"], os.environ["WHEN"]
last = dist.rank() == dist.size() - 1
x = np.ones(3) * 2
try:
    if when == "second": dist.allreduce(np.ones(2)).tolist()
    if last and how == "well": sys.exit()
    if last and how == "abruptly": os._exit(0)
    if last and how == "raise": raise ValueError("a mistake")
    dist.Group([0, 1, 2]) if when == "second" and dist.rank() == 1 else dist.allreduce(x).tolist()
except dist.RankFailed as error:
    # In one call: the lines of ranks may be mixed otherwise.
    os.write(1, f"{dist.rank()} learned {str(error).splitlines()[0]} {x.tolist()}\\n".encode())
"""
SAYS = {
    ("raise", "second"): r"rank 2 raised ValueError: a mistake; this rank \w+ \w+ \w+",
    ("well", "second"): r"rank 2 has ended its program; this rank \w+ \w+ \w+",
}
BEFORE = r"rank 2 \(pid \d+\) ended before its first operation between ranks; this rank waited in allreduce"


@needs_mpi
@pytest.mark.parametrize(
    ("how", "when"),
    [("well", "first"), ("abruptly", "first"), ("raise", "first"), ("well", "second"), ("raise", "second")],
)
def test_the_others_learn_that_a_rank_has_ended(tmp_path: Path, how: str, when: str) -> None:
    done = run_mpiexec(tmp_path, 3, PROGRAM, HOW=how, WHEN=when)
    lines = [line for line in done.stdout.splitlines() if "learned" in line]
    # Open MPI's launcher may kill the others first.
    assert len(lines) == 2 or (when == "first" and "prterun" in done.stderr), (done.stdout, done.stderr)
    for line in lines:
        assert re.fullmatch(rf"[01] learned {SAYS.get((how, when), BEFORE)} \[2.0, 2.0, 2.0\]", line), lines
    assert how != "raise" or done.returncode != 0


@needs_mpi
def test_children_of_ranks_are_no_ranks(tmp_path: Path) -> None:
    """They inherit the launcher's variables, and end before the ranks come to their first operation."""
    program = """
import multiprocessing, subprocess
def ask(): assert dist.size() == 2
if __name__ == "__main__":
    words = "from forerun import distributed as dist; assert dist.size() == 2"
    subprocess.run([sys.executable, "-c", words], check=True)
    child = multiprocessing.get_context("spawn").Process(target=ask)
    child.start()
    child.join()
    if dist.rank() == 0: time.sleep(1)
    os.write(1, f"{child.exitcode} {dist.allreduce(np.ones(1)).item()}\\n".encode())
"""
    done = run_mpiexec(tmp_path, 2, "import time" + program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 2.0\n" * 2, "")


@needs_mpi
def test_ranks_without_operations_between_them_end_one_by_one(tmp_path: Path) -> None:
    done = run_mpiexec(tmp_path, 2, "assert dist.size() == 2\nif dist.rank() == 0: os._exit(0)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
