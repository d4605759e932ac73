"""Brief host tasks run in a thread that waits, where that is sooner, with the same results and errors."""

from __future__ import annotations

import gc
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

from forerun import _core, config, np
from forerun.gluon import nn
from tests.support.engine.late_arrays import PATIENCE, HeldTask
from tests.support.engine.passes import operations_run_in_call
from tests.support.engine.settings import configured
from tests.support.gluon.hybrid_blocks import program_count

NEVER_AT_ONCE = 1  # bytes


@contextmanager
def workers_in_tasks() -> Iterator[threading.Event]:
    """Keep all workers in host tasks until the event is set, at the end at the latest."""
    release = threading.Event()
    held = [HeldTask(go=release) for _ in range(config()["workers"])]
    try:
        for task in held:
            assert task.begun.wait(PATIENCE)
        yield release
    finally:
        release.set()
        for task in held:
            task.result.wait_to_read()


def brief(task: Callable[..., Any], n: int = 2, x: Any = None) -> Any:
    """Submit a task that never sleeps, of an array of `n` elements, with one result like it."""
    inputs = [np.ones(n) if x is None else x]
    return _core.host(task, inputs, [((n,), numpy.dtype("float32"))], None, "task", at_once=NEVER_AT_ONCE)[0]


def test_a_waiting_thread_runs_brief_tasks() -> None:
    where = []

    def task(v: numpy.ndarray) -> numpy.ndarray:
        where.append(threading.get_ident())
        return v + 1

    with configured(workers=2), workers_in_tasks() as release:
        x = brief(task)
        assert x.tolist() == [2, 2]
        assert not release.is_set()
    assert where == [threading.get_ident()]


def test_a_waiting_thread_first_runs_what_it_waits_for() -> None:
    """Older operations are left to workers."""
    with configured(workers=2):
        x, y = np.ones(10**6, dtype="float64"), np.ones(10**6, dtype="float64")
        _core.waitall()
        with workers_in_tasks():
            older, younger = np.argmax(x), np.argmax(y)
            younger.wait_to_read()
            assert not older.ready
            older.wait_to_read()


@pytest.mark.parametrize("make", [lambda x: np.cumsum(x), lambda x: x + 1])
def test_what_must_not_run_before_older_operations_follows_them(make: Callable[[Any], Any]) -> None:
    """For its memory; that it was tried before has no effect later."""
    with configured(workers=2):
        x, y = np.ones(10**6, dtype="float64"), np.ones(10**6, dtype="float64")
        _core.waitall()
        with workers_in_tasks() as release:
            rescue = threading.Timer(PATIENCE, release.set)
            rescue.start()
            older, younger = make(x), make(y)
            younger.wait_to_read()
            assert older.ready
            assert not release.is_set()
            rescue.cancel()


def test_other_tasks_are_left_to_workers() -> None:
    where = []

    def task(v: numpy.ndarray) -> numpy.ndarray:
        where.append(threading.get_ident())
        return v

    with configured(workers=2), workers_in_tasks() as release:
        threading.Timer(0.05, release.set).start()
        x = np.host(task, [np.ones(2)], [((2,), "float32")])[0]
        assert x.tolist() == [1, 1]
        assert release.is_set()
    assert threading.get_ident() not in where


def test_an_error_is_made_by_a_worker_and_keeps_no_frame_of_the_program() -> None:
    class Thing:
        pass

    where = []

    def task(v: numpy.ndarray) -> numpy.ndarray:
        where.append(threading.get_ident())
        raise ValueError("no")

    def read() -> tuple[weakref.ref[Thing], Any]:
        thing = Thing()
        with workers_in_tasks() as release:
            bad = brief(task)
            threading.Timer(0.05, release.set).start()
            with pytest.raises(ValueError, match="no") as raised:
                bad.tolist()
            assert raised.value.__context__ is None
        return weakref.ref(thing), bad

    with configured(workers=2):
        kept, _bad = read()
    gc.collect()
    assert kept() is None
    assert where[0] == threading.get_ident() != where[-1]
    _core.unseen_failures()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_handler_of_a_signal_raises_in_the_wait(error: type[BaseException]) -> None:
    left = [error("stop")]

    def task(v: numpy.ndarray) -> numpy.ndarray:
        if left and threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGUSR1)
        return v + 2

    def handler(*_: Any) -> None:
        raise left.pop()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with configured(workers=2), workers_in_tasks():
            x = brief(task)
            with pytest.raises(error, match="stop"):
                x.tolist()
            assert x.tolist() == [3, 3]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert _core.unseen_failures() == []


def test_dependent_operations_continue() -> None:
    """A chain of brief tasks and operations that the waiting thread runs alone."""
    with configured(workers=2), workers_in_tasks() as release:
        x = brief(lambda v: v + 1, 5000)
        y = np.linalg.solve(np.eye(60) * x[:60], np.ones(60)) + x[0]
        assert numpy.allclose(y.asnumpy(), 2.5)
        assert not release.is_set()


def test_a_captured_program_repeats_brief_tasks() -> None:
    where = []

    def task(v: numpy.ndarray) -> numpy.ndarray:
        where.append(threading.get_ident())
        return v + 1

    block = nn.HybridLambda(lambda x: brief(task, x=x) * 2)
    block.hybridize()
    x = np.ones(2)
    with configured(workers=2):
        assert [block(x).tolist() for _ in range(2)] == [[4, 4]] * 2
        assert program_count(block) == 1
        where.clear()
        with workers_in_tasks() as release:
            assert block(x).tolist() == [4, 4]
            assert not release.is_set()
    assert where == [threading.get_ident()]


def test_linear_algebra_of_some_ten_rows_runs_in_the_call() -> None:
    a, b, many = np.eye(64) * 2, np.ones((64, 1)), np.eye(200)
    for x in (a, b, many):
        x.wait_to_read()
    for solve in (lambda: np.linalg.solve(a, b), lambda: np.linalg.inv(a), lambda: np.linalg.det(a)):
        assert operations_run_in_call(solve) > 0
    assert operations_run_in_call(lambda: np.linalg.inv(many)) == 0
    assert operations_run_in_call(lambda: np.linalg.svd(many)) == 0
