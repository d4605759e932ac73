"""Signals: they end any wait soon, and leave the engine usable."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

import forerun
from children import PATIENCE, execute, output
from conftest import running
from forerun import np
from forerun.np import host


def until_interrupted(wait: Callable[[Any], Any]) -> None:
    """Calls `wait` with a result that is not there, again and again; Ctrl-C comes when the result is being computed."""
    started, go = threading.Event(), threading.Event()

    def task() -> int:
        started.set()
        assert go.wait(PATIENCE)
        return 5

    def interrupt() -> None:
        assert started.wait(PATIENCE)
        os.kill(os.getpid(), signal.SIGINT)

    result = host(task, [], [((), "int64")])[0]
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        while not go.is_set():
            wait(result)
    finally:
        ready = result.ready
        go.set()
        thread.join()
        assert result.item() == 5
    assert not ready


class TestInterrupt:
    @pytest.mark.parametrize(
        "wait",
        [lambda x: x.wait(), lambda x: (x + 1).item(), lambda x: forerun.waitall(), lambda x: np.ones(3)],
        ids=["wait", "read", "waitall", "room"],
    )
    def test_ctrl_c_ends_a_wait(self, wait):
        with running("1 worker"):
            forerun.configure(ops_ahead=16)  # `room`: there is none before the task has ended
            with pytest.raises(KeyboardInterrupt):
                until_interrupted(wait)
            assert (np.ones(3) + 1).tolist() == [2, 2, 2]

    def test_handler_that_raises_nothing_does_not_end_it(self):
        with running("1 worker"):
            seen, go = threading.Event(), threading.Event()
            before = signal.signal(signal.SIGUSR1, lambda *_: (seen.set(), go.set()))
            try:
                result = host(lambda: (go.wait(PATIENCE), 5)[1], [], [((), "int64")])[0]
                timer = threading.Timer(0, os.kill, (os.getpid(), signal.SIGUSR1))
                timer.start()
                assert result.item() == 5
                assert seen.is_set()
                timer.join()
            finally:
                signal.signal(signal.SIGUSR1, before)
