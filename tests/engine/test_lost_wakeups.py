"""Faults that the models of `verification` have found: each was a lost wake-up, or a thread where none may be."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import forerun
from forerun import _core, np
from forerun.np import host
from tests.support.processes.subprocesses import PATIENCE, output

MB = 1 << 20


@pytest.fixture
def limited(two_devices: list[forerun.Device]) -> Iterator[list[forerun.Device]]:
    """Two devices, on each of which arrays of 5 MB in all may live beside the present ones."""
    live = max(_core.memory(i)["live"] for i in range(2))
    forerun.configure(memory_limit=live + 5 * MB)
    yield two_devices
    forerun.configure(memory_limit=None)


def test_host_task_issued_while_workers_leave_is_run() -> None:
    """Workers that were to stop counted as awake: no worker ran the operations issued then."""
    stop, done = threading.Event(), []

    def issue() -> None:
        x = np.ones(3)
        while not stop.is_set():
            (y,) = host(lambda v: v + 1, [x], [((3,), "float32")])
            done.append(y.tolist())

    thread = threading.Thread(target=issue, daemon=True)
    thread.start()
    rounds = 0
    while len(done) < 300 and thread.is_alive():
        _core.quiesce()
        rounds += 1
    stop.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert rounds
    assert all(values == [2, 2, 2] for values in done)


FORK = """
import os, threading, warnings
warnings.simplefilter("ignore")       # a fork beside threads: that is the point
stop = threading.Event()
def issue():
    x = np.ones(1000)
    while not stop.is_set():
        x = x + 1
threads = [threading.Thread(target=issue) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        (y,) = host(lambda v: v * 2, [np.ones(3)], [((3,), "float32")])   # only a worker runs it
        good = y.tolist() == [2, 2, 2]
        _core.quiesce()               # as exit does: it joins the workers, which must be the child's own
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
stop.set()
for thread in threads:
    thread.join()
print("done")
"""


def test_fork_beside_threads_that_issue_without_end() -> None:
    """The engine was taken for idle with workers that another thread's op had started, or was never found idle."""
    assert output(FORK) == ["done"]


SIGNAL = """
import ctypes, functools, os, signal, threading
class Alarm(Exception): pass
def ring(*_):
    raise Alarm
signal.signal(signal.SIGUSR1, ring)
# Behind the last line of Python before the fork, so that the handler's turn comes with the first line after it.
os.register_at_fork(before=functools.partial(ctypes.CDLL(None).kill, os.getpid(), int(signal.SIGUSR1)))
main = os.getpid()
try:
    os.fork()
    while os.getpid() == main:
        pass
except Alarm:
    pass
if os.getpid() == main:
    thread = threading.Thread(target=_core.quiesce, daemon=True)
    thread.start()
    thread.join({patience})
    print(not thread.is_alive(), (np.ones(2) + 1).tolist(), os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_signal_that_raises_as_a_fork_ends_leaves_the_engine_open() -> None:
    """Its handler ran before the first line of the function that reopens the engine, so that this never ran."""
    assert output(SIGNAL.format(patience=PATIENCE / 2)) == ["True", "[2.0,", "2.0]", "0"]


def test_memory_that_older_work_of_another_device_gives_back(limited: list[forerun.Device]) -> None:
    """The oldest op of a device failed for want of memory that a copy to another device still held."""
    first, second = limited
    started, go = threading.Event(), threading.Event()
    x = np.ones(MB, device=first)  # 4 MB
    x.wait()

    def hold(v):
        started.set()
        go.wait(PATIENCE)
        return v[:3]

    (y,) = host(hold, [x], [((3,), "float32")], device=second)
    started.wait(PATIENCE)
    del x
    z = np.ones(MB, device=first)
    assert not z.ready
    go.set()
    assert z.sum().item() == MB
    assert y.tolist() == [1, 1, 1]
