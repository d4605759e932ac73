"""Synchronous mode does not wait for a message that comes only when this rank goes on, nor for what depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.ranks import lines_of, needs_mpi

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
    v *= 2                                         # what `u` read must stay until then
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
def test_what_depends_on_no_message_has_ended_and_raises_at_its_call(tmp_path: Path) -> None:
    """Also after one has arrived: what was left queued before does not count any more."""
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
def test_an_error_of_what_was_left_queued_is_raised_where_it_is_read(tmp_path: Path, engine: str) -> None:
    found = lines_of(
        tmp_path,
        2,
        """
other = 1 - dist.rank()
y = np.linalg.inv(dist.recv((2, 2), source=other))
print("issued")
dist.send(np.zeros((2, 2)), other)
try: y.tolist()
except Exception as error: print(type(error).__name__)
""",
        FORERUN_ENGINE=engine,
    )
    assert found == [["issued", "LinAlgError"]] * 2
