"""Small operations behind a longer one: they do not wait for it, and take no memory ahead of program order."""

from __future__ import annotations

import threading

import numpy
import pytest

import forerun
from forerun import np, npx, profiler
from tests.support.processes.subprocesses import output

N = 20_000


def at_once_of(start: np.ndarray) -> tuple[np.ndarray, int]:
    """N small operations in a chain: the result, and how many ran in the call."""
    before = forerun.stats()["at_once"]
    y = start
    for _ in range(N):
        y = y + 1.0
    return y, forerun.stats()["at_once"] - before


def test_they_run_in_the_call_again_soon():
    x = np.array(numpy.ones(300_000))
    for _ in range(20):  # on a busy machine, a worker may not come to the long one for some time
        y, at_once = at_once_of(np.exp(x)[:1000])
        numpy.testing.assert_allclose(y[3].item(), numpy.e + N, rtol=1e-6)
        if at_once > N / 2:
            return
    raise AssertionError(f"most operations must run in the call, got {at_once}")


def test_they_do_not_wait_for_a_task_that_sleeps():
    go = threading.Event()
    (late,) = npx.host(lambda v: (go.wait(60), v)[1], [np.ones(3)], [((3,), "float64")])
    y, at_once = late, forerun.stats()["at_once"]
    for _ in range(5000):
        y = y + 1.0
    assert not y.ready
    assert forerun.stats()["at_once"] == at_once
    go.set()
    assert y.tolist() == [5001.0] * 3


@pytest.mark.usefixtures("queued")
def test_longer_ones_among_them_need_no_worker():
    """A thread that lets its operations end runs a product of some 20 us itself, before it waits for anything."""
    matrix = np.array(numpy.eye(700))
    for _ in range(50):  # a worker may be as fast
        y = np.ones(700)
        with profiler.record() as recorded:
            for _ in range(8):  # 512 operations: after each 64th the thread lets those before it end
                y = matrix @ y
                for _ in range(63):
                    y = y + 1.0
            assert y[3].item() == 1 + 8 * 63
        events = recorded.trace.events
        waited = min(event.started for event in events if event.kind == "wait")
        if any(event.name == "matmul" and event.thread == 0 and event.ended < waited for event in events):
            return
    raise AssertionError("no product has run in the thread that submits")


def test_uninitialised_arrays_get_memory_in_program_order():
    """While an operation is pending, `np.empty` allocates nothing in the call: that one may free memory first."""
    go = threading.Event()
    (late,) = npx.host(lambda v: (go.wait(60), v)[1], [np.ones(3)], [((3,), "float64")])
    at_once = forerun.stats()["at_once"]
    arrays = [np.empty(100_000, dtype="float64") for _ in range(200)]
    assert forerun.stats()["at_once"] - at_once <= 32  # as many as may run in the call before an expected wait
    go.set()
    forerun.waitall()
    assert late.tolist() == [1.0] * 3
    assert all(x.shape == (100_000,) for x in arrays)


def test_threads_of_files_and_copies_sleep_beside_a_program_that_waits():
    """They look for work for some time after the start; while a thread waits, only a worker goes on with that."""
    program = """
import os, time
from pathlib import Path

def switches():
    found = 0
    for status in Path("/proc/self/task").glob("*/status"):
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if any(kind in lines["Name"] for kind in ("copy", "io")):
            found += int(lines["voluntary_ctxt_switches"])
    return found

def wait_often(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        (x + 1).wait()

x = np.ones(3000)
wait_often(0.3)
before = switches()
wait_often(0.7)
print(switches() - before)
"""
    assert int(output(program, FORERUN_PASSES="")[0]) < 100
