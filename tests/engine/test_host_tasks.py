"""Host tasks that take long, or that issue work and wait for it: others go on, and they themselves end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy
import pytest

import forerun
from forerun import np, npx
from tests.support.engine.settings import configured

LARGE = 50_000  # elements: far more than a margin of 1000 bytes


@pytest.fixture
def settings() -> Iterator[None]:
    with configured():
        yield
        forerun.waitall()


def many(task, n=60):
    """As many tasks as no look at a few of the ready ones sees behind."""
    return [npx.host(task, [np.ones(3)], [((3,), "float32")])[0] for _ in range(n)]


def stacks_in_pieces():
    """Host tasks that are cut for all workers."""
    assert (np.linalg.det(np.broadcast_to(np.eye(30), (2000, 30, 30)).copy()) == 1).all().item()


@pytest.mark.parametrize("budget", [None, 1000], ids=["", "tight budget"])
@pytest.mark.parametrize("workers", [1, 4])
def test_tasks_that_wait_for_work_of_their_own(settings, workers, budget):
    forerun.configure(workers=workers, memory_budget=budget)
    large = np.ones(LARGE)

    def task(v):
        return v + (large * 2 - np.sqrt(large)).sum().item()

    assert [x.tolist() for x in many(task)] == [[LARGE + 1.0] * 3] * 60


@pytest.mark.parametrize(("side", "budget"), [(1 << 9, 1 << 20), (1 << 11, None)], ids=["no memory", "too long"])
def test_wait_in_a_task_despite_older_work_of_another_device(settings, side, budget):
    """All workers are in tasks, and older work of the other device may not start, or may not be run by the waiting
    thread.

    That the process has used a third device before changes nothing.
    """
    (np.ones(100_000, device="cpu:5") + 1).wait()
    forerun.configure(cpu_devices=2, workers=1, memory_budget=budget)
    array, other_array = (np.ones((side, side), device=forerun.cpu(i)) for i in range(2))
    forerun.waitall()
    begun, done, in_time = threading.Event(), threading.Event(), []

    def waits(v):
        begun.set()
        in_time.append(done.wait(10))
        return v

    def issues(v):
        doubled = (np.array(v[0]) * 2).tolist()
        done.set()
        return numpy.array(doubled)

    [held] = npx.host(waits, [other_array], [(other_array.shape, other_array.dtype)])
    begun.wait()
    product = other_array @ other_array
    [doubled] = npx.host(issues, [array], [((side,), "float64")])
    assert doubled.tolist() == [2.0] * side
    assert held[0, 0].item() == 1
    assert product[0, 0].item() == side
    assert in_time == [True]


WAITS = {
    "long work": lambda: np.ones((2000, 2000)) @ np.ones((2000, 1000)),
    "a task": lambda: np.sort(np.ones(2000)[::-1]) * 2000,
    "a task of a task": lambda: npx.host(lambda: many(lambda v: v + 1999, 1)[0].numpy(), [], [((3,), "float32")])[0],
}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("issue", WAITS.values(), ids=WAITS)
def test_tasks_wait_for_operations_of_other_workers(settings, issue, workers):
    forerun.configure(workers=workers)
    assert [x.tolist() for x in many(lambda v: v + issue().max().item(), 5)] == [[2001.0] * 3] * 5


@pytest.mark.parametrize("budget", [None, 1000], ids=["", "tight budget"])
@pytest.mark.parametrize("workers", [1, 2])
def test_tasks_wait_for_operations_issued_after_them(settings, workers, budget):
    forerun.configure(workers=workers, memory_budget=budget)
    later, issued = [], threading.Event()

    def task(v):
        issued.wait(10)
        return v + sum(x[-1].item() for x in later)

    found = many(task, 3)
    doubled = np.ones(LARGE) * 2
    later += [np.sqrt(doubled * 2) + doubled, *many(lambda v: v * 5, 1)]
    issued.set()
    assert [x.tolist() for x in found] == [[10.0] * 3] * 3


def test_wait_in_a_task_raises_memory_error(settings):
    row = np.ones(LARGE // 100)
    stacks_in_pieces()
    forerun.configure(workers=1, memory_limit=forerun.memory()["live"] + 1000)
    later, issued = [], threading.Event()

    def task(v):
        issued.wait(10)
        with pytest.raises(MemoryError, match="memory: arrays must fit into the limit"):
            later[0].wait()
        return v

    found = many(task, 1)
    later.append(row[:, None] + row)
    issued.set()
    assert found[0].tolist() == [1.0] * 3


def test_at_most_as_many_tasks_run_as_workers_exist(settings):
    """Also where relief workers have replaced some that waited."""
    forerun.configure(workers=1)
    assert [x[0].item() for x in many(lambda v: np.sort(v).numpy(), 5)] == [1.0] * 5
    stacks_in_pieces()
    counts, most = [], []

    def task(v):
        counts.append(1)
        most.append(len(counts))
        time.sleep(0.001)
        counts.pop()
        return v

    forerun.wait(many(task, 20))
    assert max(most) == 1


def test_work_of_a_task_that_cannot_have_memory_fails(settings):
    forerun.configure(workers=1)
    large = np.ones(LARGE)
    large.wait()
    forerun.configure(memory_limit=forerun.memory()["live"] + 1000)
    seen = []

    def task(v):
        with pytest.raises(MemoryError, match="memory: arrays must fit into the limit"):
            (large * 2).wait()
        seen.append(True)
        return v

    assert many(task, 1)[0].tolist() == [1.0] * 3
    assert seen == [True]


@pytest.mark.parametrize("n", [2000])
def test_other_operations_run_while_the_oldest_takes_long(settings, n):
    """Operations that have ended behind it do not fill the window, however many there are."""
    forerun.configure(workers=2)
    go = threading.Event()
    held = npx.host(lambda v: (go.wait(60), v)[1], [np.ones(3)], [((3,), "float32")])[0]
    large = np.ones(LARGE)
    ended = forerun.stats()["done"]
    for _ in range(n):
        (large + 1).wait()
    assert not held.ready
    assert forerun.stats()["done"] - ended >= n
    peak = forerun.memory()["live"]
    assert peak < 10 * 4 * LARGE
    go.set()
    assert held.tolist() == [1.0] * 3
