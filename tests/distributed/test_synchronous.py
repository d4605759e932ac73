"""Synchronous mode does not wait for a message that comes only when this rank goes on, nor for operations that depend
on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.ranks import lines_of, needs_mpi, output_of_ranks

# Both ranks receive, compute in all ways with arrays that have not arrived, and then send.
PROGRAM = """
r, other = dist.rank(), 1 - dist.rank()
w, v = np.arange(4.0) + r, np.ones(4)
w.attach_grad()
for step in range(3):
    y = dist.recv((4,), source=other)
    with autograd.record():
        z = (y * w).sum()
        total = dist.allreduce(z) * 2              # of a value that is computed later
    v += 1                                         # no operation in flight reads it
    u = y + v
    v *= 2                                         # `u` reads the values before
    v[0] = y[1]
    total.backward()
    dist.send(w * 1.5 + step, other)
    dist.send(z.reshape(1), other)
    q = dist.recv((1,), source=other)
    print(z.item(), total.item(), w.grad.tolist(), u.tolist(), v.tolist(), q.item())
"""


@needs_mpi
def test_ranks_that_compute_with_a_message_before_they_send(tmp_path: Path) -> None:
    ahead, waiting = (lines_of(tmp_path, 2, PROGRAM, FORERUN_ENGINE=engine) for engine in ("async", "sync"))
    assert waiting == ahead
    assert [len(lines) for lines in waiting] == [3, 3]
    assert waiting[0][0] == "30.0 120.0 [6.0, 12.0, 18.0, 24.0] [3.5, 5.0, 6.5, 8.0] [3.0, 4.0, 4.0, 4.0] 30.0"


@needs_mpi
def test_operations_without_messages_complete_at_the_call(tmp_path: Path) -> None:
    """Also after one has arrived: operations that were queued before do not count any more."""
    found = lines_of(
        tmp_path,
        2,
        """
def singular():
    try: np.linalg.inv(np.zeros((2, 2)))
    except np.linalg.LinAlgError: print("raised")

if dist.rank() == 1:
    dist.send(dist.recv((1000,)), 0)               # when rank 0 has gone on
else:
    y = dist.recv((1000,), source=1)
    z = y * 2
    singular()
    print((np.ones(1000) + 1).ready, z.ready)
    dist.send(np.ones(1000), 1)
    print(z.sum().item())
    print((y + 1).ready, (z + 1).ready)
    singular()
""",
        FORERUN_ENGINE="sync",
    )
    assert found == [["raised", "True False", "2000.0", "True True", "raised"], []]


@needs_mpi
@pytest.mark.parametrize("engine", ["sync", "async"])
def test_an_error_of_a_queued_operation_is_raised_at_the_read(tmp_path: Path, engine: str) -> None:
    found = lines_of(
        tmp_path,
        2,
        """
if dist.rank() == 1:
    dist.recv((1,), source=0).tolist()             # when rank 0 has issued all
    dist.send(np.zeros((2, 2)), 0)
else:
    y = np.linalg.inv(dist.recv((2, 2), source=1))
    print("issued")
    dist.send(np.ones(1), 1)
    try: y.tolist()
    except Exception as error: print(type(error).__name__)
""",
        FORERUN_ENGINE=engine,
    )
    assert found == [["issued", "LinAlgError"], []]


# Rank 0 comes to a collective first; the others come to it, or to its end, only after a message that rank 0 sends
# behind it.
BEHIND_A_MESSAGE = """
r, last = dist.rank(), dist.size() - 1
x = np.arange(3.0) + r
for where, step in [("read", 0), ("read", 1), ("result", 0), ("result", 1)]:
    if r == 0:
        c = dist.allreduce(x * (step + 1))
        d = dist.broadcast(c + 1, root=last)       # behind one that the call has not waited for
        dist.send(x + step, last)
        dist.send(c * 2, 1)
        print(c.tolist(), d.tolist(), dist.allgather(d).sum().item())
    else:
        y = dist.recv((3,), source=0) if r == last else x
        if where == "read": print(y.tolist())      # before its collective is issued
        c = dist.allreduce(y * 1)                  # with the result of a message: it is left queued
        d = dist.broadcast(c - 1, root=last)
        z = dist.recv((3,), source=0) if r == 1 else c
        print(c.tolist(), d.tolist(), z.tolist(), dist.allgather(d).sum().item())
"""


@needs_mpi
@pytest.mark.parametrize("size", [2, 3])
def test_other_ranks_issue_a_collective_after_a_later_message(tmp_path: Path, size: int) -> None:
    """Which they read before they come to it, or compute with."""
    engines = ("async", "sync")
    ahead, waiting = (lines_of(tmp_path, size, BEHIND_A_MESSAGE, FORERUN_ENGINE=engine) for engine in engines)
    assert waiting == ahead
    steps = {
        2: ["[0.0, 2.0, 4.0] [-1.0, 1.0, 3.0] 6.0", "[1.0, 4.0, 7.0] [0.0, 3.0, 6.0] 18.0"],
        3: ["[1.0, 4.0, 7.0] [0.0, 3.0, 6.0] 27.0", "[2.0, 6.0, 10.0] [1.0, 5.0, 9.0] 45.0"],
    }
    assert waiting[0] == 2 * steps[size]


@needs_mpi
def test_a_collective_among_some_for_which_a_third_rank_waits_elsewhere(tmp_path: Path) -> None:
    """Rank 2 reads a message that rank 0 sends behind its collective with rank 1, which waits for rank 2 before it."""
    program = """
r = dist.rank()
first, second = dist.Group([0, 1]), dist.Group([1, 2])
x = np.ones(2) * (r + 1)
if r == 2:
    y = dist.recv((2,), source=0)
    print(y.tolist(), dist.allreduce(x, group=second).tolist())
elif r == 1:
    a = dist.allreduce(x, group=second)
    print(a.tolist(), dist.allreduce(x, group=first).tolist())
else:
    a = dist.allreduce(x, group=first)
    dist.send(x * 5, 2)
    print(a.tolist())
"""
    ahead, waiting = (lines_of(tmp_path, 3, program, FORERUN_ENGINE=engine) for engine in ("async", "sync"))
    assert waiting == ahead == [["[3.0, 3.0]"], ["[5.0, 5.0] [3.0, 3.0]"], ["[5.0, 5.0] [5.0, 5.0]"]]


@needs_mpi
def test_a_collective_that_another_rank_comes_to_after_another_wait(tmp_path: Path) -> None:
    """For the other rank, in an event loop, or for all that it has issued."""
    program = """
import asyncio
from forerun import waitall
def group(): dist.Group([1, 0])
def message(): return dist.recv((1,), source=0)
def one(): dist.send(np.ones(1), 1)
async def awaited(y): await y
for comes, brings in [
    (group, group), (lambda: asyncio.run(awaited(message())), one), (lambda: (message(), waitall()), one)
]:
    if dist.rank() == 1: comes()
    c = dist.allreduce(np.ones(2))
    if dist.rank() == 0: brings()
    print(c.tolist())
"""
    assert lines_of(tmp_path, 2, program, FORERUN_ENGINE="sync") == [["[2.0, 2.0]"] * 3] * 2


@needs_mpi
def test_a_queued_collective_raises_at_the_read(tmp_path: Path) -> None:
    """And the next one in its call again."""
    program = """
if dist.rank() == 1: dist.recv((1,), source=0).tolist()
try:
    c = dist.allreduce(np.ones(2 + dist.rank()))
    print("issued")
    dist.send(np.ones(1), 1)
    c.tolist()
except Exception as error: print(type(error).__name__)
try: print(dist.barrier())
except Exception as error: print(type(error).__name__)
"""
    found, _ = output_of_ranks(tmp_path, 2, program, FORERUN_ENGINE="sync")
    assert found == ["[0] issued", "[0] RankFailed", "[0] RankFailed", "[1] RankFailed", "[1] RankFailed"]


@needs_mpi
def test_a_message_that_a_captured_function_receives_is_not_waited_for_in_its_call(tmp_path: Path) -> None:
    program = """
from forerun import gluon
class Net(gluon.HybridBlock):
    def forward(self, x): return dist.recv((2,), source=1 - dist.rank()) * x
net = Net()
net.hybridize()
for step in range(4):
    y = net(np.ones(2) * 2)
    dist.send(np.ones(2) * step, 1 - dist.rank())
    print(y.tolist())
"""
    waiting = lines_of(tmp_path, 2, program, FORERUN_ENGINE="sync")
    assert waiting == [["[0.0, 0.0]", "[2.0, 2.0]", "[4.0, 4.0]", "[6.0, 6.0]"]] * 2


@needs_mpi
def test_a_collective_that_another_rank_comes_to_after_a_wait_outside_forerun(tmp_path: Path) -> None:
    """The call of the first rank returns after a while."""
    program = """
import pathlib, time
file = pathlib.Path(os.environ["FILE"])
dist.barrier()
if dist.rank() == 1:
    while not file.exists(): time.sleep(0.01)
y = dist.allreduce(np.ones(2))
file.touch()
print(y.tolist(), dist.allreduce(y).tolist())
"""
    found = lines_of(tmp_path, 2, program, FORERUN_ENGINE="sync", FILE=str(tmp_path / "file"))
    assert found == [["[2.0, 2.0] [4.0, 4.0]"]] * 2
