"""Signals: they end any wait soon, and leave the engine usable."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np, npx, profiler
from forerun.np import host
from tests.support.engine.late_arrays import HeldTask
from tests.support.engine.settings import configured, running
from tests.support.processes.subprocesses import PATIENCE, execute, output

TRIES = 5
SOON, LATEST = 0.1, 3.0  # seconds from the signal to the exception: where nothing else has the cores, and at most


class Interruption:
    """Sends a signal when this thread waits, and keeps how long it took until the wait was over.

    begun: tells that this thread waits; without it, the engine's count of waits does.
    """

    def __init__(self, begun: Callable[[], bool] | None = None) -> None:
        self.sent = 0.0
        waits = _core.stats()["waits"]
        self.begun = begun or (lambda: _core.stats()["waits"] > waits)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self) -> None:
        while not (self.begun() or self.over.is_set()):
            time.sleep(0.001)  # leaves the core to the thread that is to wait
        self.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def end(self, wait: Callable[[], Any]) -> float:
        """Seconds from the signal to the exception that ends the wait."""

        def interrupted() -> None:
            self.thread.start()
            wait()
            self.over.set()  # it did not wait: the signal comes all the same, and must not come later
            self.thread.join()

        try:
            with pytest.raises(KeyboardInterrupt):
                interrupted()
            ended = time.monotonic()
        finally:
            self.over.set()
            self.thread.join()
        return ended - self.sent


def workers() -> int:
    """How many threads serve the queue for computation."""
    found = 0
    for thread in pathlib.Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended, before it is looked at or meanwhile
            found += (thread / "comm").read_text().startswith("forerun-0.")
    return found


def in_pace(x: Any) -> None:
    """Goes through a paced loop, which waits for all that was issued before."""
    for _ in forerun.pace(range(3), ahead=0):
        x = x + 1


def until_full(x: Any) -> None:
    """Issues until there is not a room."""
    for _ in range(100):
        x = x + 1


def profiled(x: Any) -> None:
    """The end of a profile waits."""
    with profiler.record():
        x + 1


WAITS: dict[str, Callable[[Any], Any]] = {
    "wait": lambda x: x.wait(),
    "wait of something computed": lambda x: (x + 1).wait_to_read(),
    "wait of several": lambda x: forerun.wait([np.ones(3), {"x": x + 1}]),
    "waitall": lambda x: forerun.waitall(),
    "npx.waitall": lambda x: npx.waitall(),
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "asnumpy": lambda x: x.asnumpy(),
    "asarray": numpy.asarray,
    "memoryview": memoryview,
    "DLPack": numpy.from_dlpack,
    "repr": repr,
    "bool": bool,
    "index": lambda x: [0] * x,
    "nonzero": lambda x: np.nonzero(x.reshape(1)),
    "mask": lambda x: np.ones(1)[x.reshape(1) > 0],
    "numpy.save": lambda x: numpy.save(io.BytesIO(), x),
    "npx.save": lambda x: npx.save(tempfile.mktemp(), x),
    "pickle": pickle.dumps,
    "pace": in_pace,
    "room": until_full,
    "configure": lambda x: forerun.configure(workers=1),
    "profile": profiled,
}


@pytest.fixture
def little_room() -> Iterator[None]:
    """One worker, and little room."""
    with configured(engine="async", workers=1, ops_ahead=16):
        yield


@contextmanager
def running_task() -> Iterator[Any]:
    """The array of a task that has begun, and ends only behind the block; it must be right then."""
    with HeldTask() as task:
        assert task.begun.wait(PATIENCE)
        yield task.result
        assert not task.result.ready
    assert task.result.item() == 1


class TestInterrupt:
    @pytest.mark.parametrize("name", WAITS)
    def test_ctrl_c_ends_a_wait_soon(self, name, little_room):
        took = []
        for _ in range(TRIES):
            with running_task() as x:
                took.append(Interruption().end(lambda x=x: WAITS[name](x)))
            assert (np.ones(3) + 1).tolist() == [2, 2, 2]
        assert sorted(took)[1] < SOON  # twice: once may be luck
        assert max(took) < LATEST

    def test_a_product_that_the_waiting_thread_helps_with(self):
        """Pieces of a large product are long, so this thread, which answers signals, leaves them to workers."""
        with running("4 workers"):
            x = np.ones((4000, 4000))
            x.wait()
            product = x @ x
            took = [Interruption().end(product.wait)]
            assert not product.ready
            took += [Interruption().end(product.wait) for _ in range(2)]
            assert sorted(took)[1] < SOON  # twice: once may be luck
            assert max(took) < LATEST
            assert product[7, 7].item() == 4000

    def test_synchronous_task(self):
        """The task runs in the calling thread: the interrupt is raised in it."""
        with running("sync"):
            took = []
            for _ in range(TRIES):
                inside: list[str] = []

                def task(inside: list[str] = inside) -> int:
                    try:
                        inside.append("begun")
                        return int(threading.Event().wait(PATIENCE))
                    except KeyboardInterrupt:
                        inside.append("interrupted")
                        raise

                interruption = Interruption(begun=lambda inside=inside: bool(inside))
                took.append(interruption.end(lambda task=task: host(task, [], [((), "int64")])))
                assert inside == ["begun", "interrupted"]
                assert (np.ones(3) + 1).tolist() == [2, 2, 2]
            assert sorted(took)[1] < SOON  # twice: once may be luck
            assert max(took) < LATEST

    def test_workers_that_have_stopped_already_start_again(self):
        """An interrupted `configure` may have told workers to stop, and one may be at work that a task has issued."""
        with running("4 workers"):
            waits, started, go = _core.stats()["waits"], threading.Event(), threading.Event()
            late: list[Any] = []

            def held() -> int:
                started.set()
                go.wait(PATIENCE)
                return 5

            def issues() -> int:
                while _core.stats()["waits"] == waits:
                    time.sleep(0.001)
                late.append(host(held, [], [((), "int64")])[0])
                return int(started.wait(PATIENCE))

            def interrupt() -> None:
                assert started.wait(PATIENCE)
                while workers() == 4:
                    time.sleep(0.001)
                os.kill(os.getpid(), signal.SIGINT)

            x = host(issues, [], [((), "int64")])[0]
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                forerun.configure(workers=2)
            thread.join()
            meet = threading.Barrier(3)  # needs three workers beside the one that is held
            met = [host(lambda: int(meet.wait(PATIENCE) >= 0), [], [((), "int64")])[0] for _ in range(3)]
            assert [y.item() for y in met] == [1, 1, 1]
            go.set()
            assert (x.item(), late[0].item()) == (1, 5)
            assert forerun.config()["workers"] == 4

    def test_another_threads_wait_continues(self, little_room):
        found: list[Any] = []
        with running_task() as x:
            y = x + 1
            thread = threading.Thread(target=lambda: found.append(y.item()))
            waits = _core.stats()["waits"]
            thread.start()
            while _core.stats()["waits"] == waits:
                time.sleep(0.001)
            Interruption().end(y.wait)
            assert thread.is_alive()
        thread.join(PATIENCE)
        assert found == [2]

    def test_a_handler_that_raises_nothing_ends_no_wait(self, little_room):
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

    def test_a_handler_may_use_arrays(self, little_room):
        """In the middle of a wait, and of the wait for all of it before new settings."""
        found: list[Any] = []
        go = threading.Event()

        def handler(*_: Any) -> None:
            found.append((np.ones(3) + 1).tolist())
            go.set()

        before = signal.signal(signal.SIGUSR1, handler)
        try:
            for wait in (lambda x: x.wait(), lambda x: forerun.configure(workers=1)):
                go.clear()

                def task() -> int:
                    os.kill(os.getpid(), signal.SIGUSR1)
                    go.wait(PATIENCE)
                    return 5

                x = host(task, [], [((), "int64")])[0]
                wait(x)
                assert x.item() == 5
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert found == [[2, 2, 2]] * 2


class TestOthers:
    def test_sigterm_ends_a_process_with_work_pending(self):
        program = """
import os, signal, threading
host(lambda: threading.Event().wait(), [], [])
x = np.ones((3000, 3000))
y = x @ x
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()
y.wait()
forerun.waitall()
"""
        done = execute(program)
        assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")

    def test_handler_of_sigterm_runs_during_a_wait(self):
        program = """
import os, signal, threading
go = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: (print("handled"), go.set()))
def task():
    os.kill(os.getpid(), signal.SIGTERM)
    go.wait(60)
    return 5
print(host(task, [], [((), "int64")])[0].item())
"""
        assert output(program) == ["handled", "5"]

    @pytest.mark.parametrize(
        "how", ["faulthandler.dump_traceback_later(0.2, file=file)", "os.kill(os.getpid(), signal.SIGUSR1)"]
    )
    def test_faulthandler_shows_a_thread_that_waits(self, how):
        """In a process of its own, where no thread runs Python meanwhile: a dump of frames that change may crash it."""
        program = f"""
import faulthandler, os, signal, time
file = os.memfd_create("dump")
faulthandler.register(signal.SIGUSR1, file=file)
before = _core.stats()["waits"]
def task():
    while _core.stats()["waits"] == before:
        time.sleep(0.001)
    {how}
    while b"in waits_here" not in os.pread(file, 1 << 20, 0):
        time.sleep(0.5)
    return 5
def waits_here(x):
    return x.item()
print(waits_here(host(task, [], [((), "int64")])[0]))
"""
        assert output(program) == ["5"]

    @pytest.mark.parametrize("mode", ["4 workers", "sync"])
    def test_a_storm_of_signals(self, mode):
        """A handler each millisecond: waits end, with correct values."""
        with running(mode):
            calls: list[int] = []
            before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
            x = np.ones((200, 200))
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
                deadline = time.monotonic() + PATIENCE
                rounds = 0
                while (len(calls) < 50 or rounds < 50) and time.monotonic() < deadline:
                    y = x
                    for _ in range(5):
                        y = y @ x / 200
                    slow = host(lambda: (time.sleep(0.003), 5)[1], [], [((), "int64")])[0]
                    assert y[3, 3].item() == 1
                    assert slow.item() == 5
                    rounds += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            assert len(calls) >= 50
            assert rounds >= 50


def test_tests_that_were_started_with_sigint_ignored() -> None:
    """As by `nohup make test &`, or by cron: an ignored signal is inherited, and no process would be interrupted."""
    test = f"{__file__}::TestInterrupt::test_synchronous_task"
    line = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", test]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 0, done.stdout
