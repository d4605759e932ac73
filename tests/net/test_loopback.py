"""Operations between ranks are operations of a lane: issued at once, in the program's order, with errors at reads."""

from __future__ import annotations

from tests.support.processes.subprocesses import run_python

# Each program opens a network of three ranks, all of which do the same as this one.
PRELUDE = """
import time
import numpy
from forerun import np
from forerun import _core

ALLREDUCE, BROADCAST, ALLGATHER, REDUCE_SCATTER, ALL_TO_ALL, SEND, RECEIVE, BARRIER = range(8)
NONE, SUM = 0, 1
token = np.zeros(1, dtype="uint8")

class RankFailed(RuntimeError):
    pass

_core.set_rank_failed(RankFailed)

def allreduce(x):
    target = (x.shape, x.dtype)
    return _core.net_issue("allreduce", ALLREDUCE, SUM, 0, 0, x.size, token, x, target)
"""


def printed_lines(program: str) -> list[str]:
    done = run_python(PRELUDE + program)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_collectives_run_ahead_and_keep_their_order() -> None:
    assert printed_lines("""
_core.net_open_loopback(3, 1.0)
x = np.arange(4.0)
y = allreduce(x)
z = allreduce(y * 2) + 1
print(y.ready, z.ready)
print(z.tolist())
print(_core.net_leave(), _core.net_failed())
""") == ["False False", "[1.0, 19.0, 37.0, 55.0]", "True False"]


def test_later_writes_do_not_change_a_reduced_operand() -> None:
    assert printed_lines("""
_core.net_open_loopback(3, 0.05)
x = np.ones(3)
y = allreduce(x)
x += 5
print(y.tolist(), x.tolist())
""") == ["[3.0, 3.0, 3.0] [6.0, 6.0, 6.0]"]


def test_other_kinds() -> None:
    assert printed_lines("""
_core.net_open_loopback(3)
x = np.arange(2.0)
print(_core.net_issue("allgather", ALLGATHER, NONE, 0, 0, 2, token, x, ((3, 2), x.dtype)).tolist())
print(_core.net_issue("broadcast", BROADCAST, NONE, 0, 0, 2, token, None, x).tolist())
_core.net_issue("barrier", BARRIER, NONE, 0, 0, 0, token, None, None)
print(token.tolist())
""") == ["[[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]", "[0.0, 1.0]", "[0]"]


def test_ranks_that_do_something_else_are_an_error_that_names_both_lines() -> None:
    found = printed_lines("""
_core.net_open_loopback(3, differs_at=2)
a = allreduce(np.ones(2))
b = allreduce(np.ones(3))
c = allreduce(np.ones(4))
print(a.tolist())
for y in (b, c):
    try:
        y.tolist()
    except RankFailed as error:
        print(str(error))
print((np.ones(2) + 1).tolist(), _core.net_failed())
""")
    assert found[0] == "[3.0, 3.0]"
    assert "allreduce" in found[1]
    assert "something else" in found[1]
    assert found[-1] == "[2.0, 2.0] True"


def test_a_failure_ends_all_in_flight_and_all_later_operations() -> None:
    found = printed_lines("""
_core.net_open_loopback(3, 60.0)
a = allreduce(np.ones(2))
b = a * 2
_core.net_fail("rank 2 was killed by signal 9")
c = allreduce(np.ones(2))
for y in (a, b, c):
    try:
        y.tolist()
    except RankFailed as error:
        print("rank 2 was killed by signal 9" in str(error))
print(_core.net_leave())
""")
    assert found == ["True", "True", "True", "False"]


def test_a_network_that_refuses_an_operation_fails_it() -> None:
    assert printed_lines("""
_core.net_open_loopback(3, fails_at=1)
try:
    allreduce(np.ones(2)).tolist()
except RankFailed as error:
    print("the network is down" in str(error))
""") == ["True"]


def test_a_program_that_captured_the_first_collective_keeps_the_order() -> None:
    """The array that keeps the order was made meanwhile; each run must write the same one."""
    assert printed_lines("""
import os
os.environ.update(FORERUN_RANK="0", FORERUN_SIZE="3")
import forerun
from forerun import distributed as dist
from forerun.distributed import _world

_world._opened_by = os.getpid()
_core.net_open_loopback(3)
summed = forerun.hybrid(lambda x: dist.allreduce(x * 2) + 1)
print(summed(np.ones(2)).tolist(), summed(np.ones(2)).tolist())
_core.net_open_loopback(3, 60.0)
y = summed(np.ones(2))                             # replayed, and not over for a minute
print(_world._tokens["collectives"].ready, y.ready)
_core.net_fail("over")
try:
    y.tolist()
except RankFailed:
    pass
""") == ["[7.0, 7.0] [7.0, 7.0]", "False False"]
