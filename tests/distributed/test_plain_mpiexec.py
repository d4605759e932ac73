"""Ranks that MPI's own launcher starts: none waits for one that has ended, and one of them starts who watches all."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from forerun._launch import keeper
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
    ("raise", "second"): r"rank 2( \(host \S+, pid \d+\))? raised ValueError: a mistake; this rank \w+ \w+ \w+",
    ("well", "second"): r"rank 2 has ended its program; this rank \w+ \w+ \w+",
}
BEFORE = r"rank 2 \(pid \d+\) ended before its first operation between ranks; this rank waited in allreduce"


@needs_mpi
@pytest.mark.parametrize(
    ("how", "when"),
    [("well", "first"), ("abruptly", "first"), ("raise", "first"), ("well", "second"), ("raise", "second")],
)
def test_other_ranks_raise_after_a_rank_has_exited(tmp_path: Path, how: str, when: str) -> None:
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


# The first operation connects all ranks; then rank 1 stops, and the others wait for it.
WATCHED = """
import socket
how = os.environ["HOW"]
if how == "elsewhere" and dist.rank() == 1: socket.gethostname = lambda: "another"
y = dist.allreduce(np.ones(3))
assert y.tolist() == [3.0, 3.0, 3.0]
if dist.rank() == 1: os.kill(os.getpid(), signal.SIGSTOP)
try:
    dist.allreduce(y).tolist()
except dist.RankFailed as error:
    os.write(1, f"{dist.rank()} learned {str(error).splitlines()[0]}\\n".encode())
"""


@needs_mpi
@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("stops", r"rank 1 \(host \S+, pid \d+\) is frozen: there was no sign of life for \d s"),
        ("elsewhere", r"rank 1 \(host another, pid \d+\) is frozen: there was no sign of life for \d s"),
    ],
)
def test_other_ranks_raise_after_a_rank_is_frozen(tmp_path: Path, how: str, says: str) -> None:
    """Also of one on another machine: only its name differs from the others' here."""
    done = run_mpiexec(tmp_path, 3, WATCHED, HOW=how)
    # Open MPI's launcher lets the rank go on where it ends all.
    lines = [line for line in done.stdout.splitlines() if "learned" in line and not line.startswith("1")]
    assert len(lines) == 2, (done.stdout, done.stderr)
    for line in lines:
        assert re.fullmatch(rf"[02] learned {says}; this rank \w+ \w+ \w+.*", line), lines


@needs_mpi
def test_a_rank_that_holds_the_interpreter_lock_is_not_frozen(tmp_path: Path) -> None:
    program = """
import ctypes
dist.allreduce(np.ones(1)).tolist()
if dist.rank() == 1: ctypes.PyDLL(None).sleep(7)
os.write(1, f"{dist.allreduce(np.ones(1)).item()}\\n".encode())
"""
    done = run_mpiexec(tmp_path, 2, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2.0\n" * 2, "")


@needs_mpi
def test_values_of_all_ranks_need_no_launcher_of_forerun(tmp_path: Path) -> None:
    """Checkpoints and metrics gather them; nothing is running after the end."""
    program = """
from forerun import gluon, metric
net = gluon.nn.Dense(2, in_units=3)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore="dist_sync")
folder = os.environ["FOLDER"]
for step in (1, 2):
    with autograd.record(): loss = net(np.ones((4, 3)) * dist.rank()).sum()
    loss.backward()
    trainer.step(4)
    dist.checkpoint(folder, step, net, trainer)
value = metric.Accuracy()
value.update(np.array([dist.rank(), 0]), np.array([[0.9, 0.1], [0.8, 0.2]]))
values = dist.reduce_metric(value).get()
os.write(1, f"{dist.resume(folder, net, trainer).step} {values}\\n".encode())
"""
    done = run_mpiexec(tmp_path, 2, program, FOLDER=str(tmp_path / "points"))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.splitlines() == ["2 ('accuracy', 0.75)"] * 2, done.stdout
    assert not _running(tmp_path)


def _running(folder: Path) -> list[int]:
    """The processes that have the folder in a variable, after a while in which they may end."""
    end = time.monotonic() + 10
    while (found := _having(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _having(folder: Path) -> list[int]:
    numbers = [int(file.name) for file in Path("/proc").iterdir() if file.name.isdecimal()]
    return [number for number in numbers if keeper.marked(number, str(folder).encode())]
