"""Small operations run in the call, with the same values, order, errors, memory and records."""

from __future__ import annotations

import gc
import signal
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy
import pytest

import forerun
from forerun import _core, autograd, np, npx, profiler
from forerun.gluon import nn
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import HeldTask, late_array
from tests.support.engine.passes import operations_run_in_call
from tests.support.engine.settings import configured, running
from tests.support.engine.threads import run_in_threads
from tests.support.processes.subprocesses import output

LARGE = 300_000  # elements of an operation that is always issued


class TestWhen:
    def test_loops_of_small_work_neither_start_nor_wake_a_worker(self) -> None:
        program = """
import os, forerun
from forerun import np
threads = len(os.listdir("/proc/self/task"))
x, y = np.zeros(20), np.arange(20)
for i in range(1, 19):
    x[i] = x[i - 1] + 1
    x[i:i + 2] += x[i - 1:i + 1]
    z = np.sort(x[y]).sum() + x.argmax() + np.concatenate([x, x]).mean()
assert z.ready
s = forerun.stats()
more = len(os.listdir("/proc/self/task")) - threads
print(more, s["issued"] - s["at_once"], s["waits"], s["helped"], s["at_once"] > 150)
"""
        assert output(program) == ["0", "0", "0", "0", "True"]

    CALLS: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {
        "add": lambda x, i: x + 1,
        "in place": lambda x, i: x.__iadd__(1),
        "compare": lambda x, i: x > 0,
        "where": lambda x, i: np.where(x > 0, x, 0),
        "write": lambda x, i: x.__setitem__(3, 1.0),
        "write a slice": lambda x, i: x.__setitem__(slice(1, 4), 2.0),
        "gather": lambda x, i: x[i],
        "mask": lambda x, i: x[x > 2],
        "sum": lambda x, i: x.sum(),
        "mean": lambda x, i: x.mean(),
        "argmax": lambda x, i: x.argmax(),
        "sort": lambda x, i: np.sort(x),
        "argsort": lambda x, i: np.argsort(x),
        "zeros": lambda x, i: np.zeros(3),
        "full": lambda x, i: np.full(3, 2.5),
        "arange": lambda x, i: np.arange(3),
        "copy": lambda x, i: x.copy(),
        "astype": lambda x, i: x.astype("int8"),
        "concatenate": lambda x, i: np.concatenate([x, x]),
        "stack": lambda x, i: np.stack([x, x]),
        "cumsum": lambda x, i: np.cumsum(x),
        "dot": lambda x, i: x @ x,
        "unique": lambda x, i: np.searchsorted(x, 2.0),
        "inverse": lambda x, i: np.linalg.inv(np.diag(x + 1)),
    }

    @pytest.mark.parametrize("name", CALLS)
    def test_small_calls_run_at_once(self, name: str) -> None:
        x, i = np.arange(6).astype("float32"), np.arange(3)
        x.wait()
        before = forerun.stats()
        kept = self.CALLS[name](x, i)
        after = forerun.stats()
        assert after["at_once"] > before["at_once"]
        assert after["issued"] - before["issued"] == after["at_once"] - before["at_once"]
        assert (
            after["planned"] - before["planned"] == after["done"] - before["done"] == after["issued"] - before["issued"]
        )
        assert kept is None or kept.ready

    def test_large_work_and_its_dependents_are_issued(self) -> None:
        x = np.ones(LARGE)
        x.wait()
        assert operations_run_in_call(lambda: x + 1) == 0
        with closed_gate():
            y = x + 1
            few = y[:3]
        assert operations_run_in_call(lambda: few * 2) in (0, 1)  # whether the large one has ended by now
        go = threading.Event()
        y = late_array(go)
        assert operations_run_in_call(lambda: y + 1) == 0
        assert operations_run_in_call(lambda: y.__setitem__(0, 5.0)) == 0
        go.set()
        y.wait()
        assert operations_run_in_call(lambda: y + 1) == 1

    def test_the_work_decides_and_not_the_number_of_elements(self) -> None:
        """Sums of 8,000 elements are small work, as many sines are not."""
        x = np.ones(8000, dtype="float64")
        x.wait()
        assert operations_run_in_call(lambda: x + x) == 1
        assert operations_run_in_call(lambda: np.sin(x)) == 0
        assert operations_run_in_call(lambda: np.sin(x[:400])) == 1

    def test_a_program_that_waits_soon_runs_more_in_the_call(self) -> None:
        x, late = np.ones(20_000, dtype="float64"), threading.Event()

        def runs_in_call(read: Callable[[], Any]) -> bool:
            read()
            return operations_run_in_call(lambda: x + x) == 1

        def read_later() -> None:
            y = late_array(late)
            threading.Timer(0.05, late.set).start()
            time.sleep(0.01)
            y.wait()

        # The system may interrupt the thread before the wait.
        assert any(runs_in_call(lambda: np.sin(x).wait()) for _ in range(2000))
        assert not runs_in_call(read_later)

    def test_a_closed_gate_prevents_immediate_execution(self, gate: None) -> None:
        x = np.zeros(3)
        x[1] = 2
        made = [
            x,
            x + 1,
            np.full(2, 3),
            x.copy(),
            x.astype("int8"),
            np.concatenate([x, x]),
            np.sort(x),
            x.argmax(),
        ]
        assert not any(a.ready for a in made)
        _core.gate(False)
        assert [a.tolist() for a in made] == [
            [0, 2, 0],
            [1, 3, 1],
            [3, 3],
            [0, 2, 0],
            [0, 2, 0],
            [0, 2, 0, 0, 2, 0],
            [0, 0, 2],
            1,
        ]

    @pytest.mark.parametrize("name", ["sync", "4 workers"])
    def test_the_pass_and_the_modes(self, name: str) -> None:
        with running(name), configured(passes="drop,fuse,reuse"):
            assert operations_run_in_call(lambda: [np.ones(3) + 1, np.arange(3)[1:], np.sort(np.ones(3))]) == 0
        with running(name):
            assert operations_run_in_call(lambda: np.ones(3) + 1) == (0 if name == "sync" else 2)

    def test_hybridized_small_calls(self) -> None:
        class Net(nn.HybridBlock):
            def forward(self, x: Any) -> Any:
                y = np.concatenate([x, x.copy()])
                return np.sort(y * 2 + np.arange(4)).sum() + y.argmax() + y[np.arange(2)]

        net = Net()
        x = np.array([3.0, 1.0])
        want = [net(x * i).tolist() for i in range(1, 5)]
        net.hybridize()
        assert [net(x * i).tolist() for i in range(1, 5)] == want

    def test_memory_has_a_limit(self) -> None:
        with configured(memory_limit=forerun.memory()["live"] + (4 << 20)):
            kept = []
            with pytest.raises(MemoryError):  # noqa: PT012 - in the call, or where it is waited for
                for _ in range(3000):
                    kept.append(np.zeros(1000) + 1)
                    kept[-1].wait()
            assert forerun.memory()["live"] <= forerun.config()["memory_limit"]
            kept.clear()
            assert (np.zeros(1000) + 1).sum().item() == 1000


class TestOrder:
    def test_a_pending_read_does_not_see_a_later_write(self, gate: None) -> None:
        _core.gate(False)
        x = np.zeros(LARGE)
        few = np.arange(4).astype("float32")
        x.wait(), few.wait()
        with closed_gate():
            before, other = x + 1, np.broadcast_to(few, (LARGE // 4, 4)) * 1
            x[3] = 1.0
            few[2] = 9.0
            few[1:] = few[:-1]
        after = x + 1
        assert (before[3].item(), after[3].item()) == (1, 2)
        assert other[-1].tolist() == [0, 1, 2, 3]
        assert few.tolist() == [0, 0, 1, 9]

    def test_a_read_that_runs_does_not_see_a_later_write(self) -> None:
        x = np.arange(4)
        began, go = threading.Event(), threading.Event()
        (seen,) = npx.host(lambda v: (began.set(), go.wait(60), v.copy())[2], [x], [((4,), "int64")])
        began.wait(60)
        x[3] = 7
        x += 1
        x[1:] = x[:-1]
        go.set()
        assert seen.tolist() == [0, 1, 2, 3]
        assert x.tolist() == [1, 1, 2, 3]

    def test_writes_that_overlap_themselves_and_views(self, engine: str) -> None:
        x, want = np.arange(8), numpy.arange(8)
        for a in (x, want):
            a[1:] = a[:-1]
            a[:-1] = a[1:]
            a[::2] += a[1::2]
            a[::-1] = a
            a.reshape(2, 4)[1] = a[3]
            a[2:6] *= a[3:7]
            a[1] = a[2]
        assert x.tolist() == want.tolist()

    def test_numpy_views_keep_their_values(self) -> None:
        for n in (3, 100, 5000):
            x = np.ones(n)
            views = [x.numpy(), numpy.asarray(x)]
            x[0] = 5
            views.append(x.numpy())
            x += 1
            x[1:] = 7
            x[np.arange(2)] = 3
            assert [v[:2].tolist() for v in views] == [[1, 1], [1, 1], [5, 1]]
            assert x[:3].tolist() == [3, 3, 7]

    def test_gradients_of_small_arrays_that_are_written(self) -> None:
        w = np.ones(3)
        w.attach_grad()
        c = np.arange(3).astype("float32")
        with autograd.record():
            y = (w * c).sum() + (w * w).sum()
            with pytest.raises(RuntimeError, match="tape"):
                w[0] = 2
        c[1] = 7
        with pytest.raises(RuntimeError):
            y.backward()
        with autograd.record():
            y = (w * c).sum()
        y.backward()
        assert w.grad.tolist() == [0, 7, 2]

    def test_threads(self) -> None:
        shared = np.zeros((4, 50))

        def work(i: int) -> float:
            local = np.zeros(8)
            for k in range(300):
                local[k % 8] = k
                local[1:] = local[:-1]
                local += 1
                shared[i, k % 50] = local[3] + i
            return local.sum().item()

        alone = work(0)
        before = shared[0].tolist()
        assert run_in_threads(4, work) == [alone] * 4
        assert [row.tolist() for row in shared] == [[v + i for v in before] for i in range(4)]

    def test_a_forked_child_continues(self) -> None:
        program = """
import os
from forerun import np
x = np.arange(4)
x[1] = 5
child = os.fork()
x += 1
x[0] = 9
if child:
    assert os.waitpid(child, 0)[1] == 0
print(x.tolist(), (np.ones(300_000) + x[0]).sum().item(), flush=True)
"""
        assert output(program) == ["[9,", "6,", "3,", "4]", "3000000.0"] * 2


class TestFailures:
    MAKE: ClassVar[dict[str, tuple[Callable[[], Any], type[Exception], str]]] = {
        "gather": (
            lambda: np.arange(3)[np.array([7])],
            IndexError,
            r"take: index must be in \[-3, 3\), got 7",
        ),
        "inverse": (lambda: np.linalg.inv(np.zeros((2, 2))), numpy.linalg.LinAlgError, "Singular matrix"),
        "power": (lambda: np.array([2]) ** np.array([-1]), ValueError, "negative integer powers"),
        "written": (lambda: scattered(), IndexError, "index must be in"),
    }

    @pytest.mark.parametrize("name", MAKE)
    def test_failures_poison_and_every_read_raises_with_the_line(self, name: str) -> None:
        make, error, text = self.MAKE[name]
        lines = range(make.__code__.co_firstlineno, make.__code__.co_firstlineno + 5)
        found = []
        assert operations_run_in_call(lambda: found.append(make())) > 0
        bad, worse = found[0], found[0] + 1
        for x in (bad, worse, worse[:1], bad):
            with pytest.raises(error, match=text) as raised:
                x.tolist()
            assert raised.value.__notes__[-1].startswith(f"issued at {__file__}:")
            assert name == "written" or int(raised.value.__notes__[-1].rsplit(":", 1)[1]) in lines

    def test_unread_failures_are_raised_together(self) -> None:
        _core.unseen_failures()
        np.arange(3)[np.array([7])]
        np.linalg.inv(np.zeros((2, 2)))
        with pytest.raises(ExceptionGroup) as group:
            forerun.waitall()
        assert [type(e) for e in group.value.exceptions] == [IndexError, numpy.linalg.LinAlgError]
        assert _core.unseen_failures() == []

    def test_the_first_of_two_failures_is_raised(self) -> None:
        x, far = np.arange(3), np.array([7])
        a, b = x[far], x[far + 1]
        with closed_gate():
            c = x[far + 2]
        d = x[far + 3]
        for sums, first in (
            ((a + b, b + a), 7),
            ((b + c, c + b), 8),
            ((c + d, d + c), 9),
            ((a + d, d + a), 7),
        ):
            for bad in sums:
                with pytest.raises(IndexError, match=f"got {first}\\b"):
                    bad.item()
        _core.unseen_failures()

    def test_a_handler_of_a_signal_raises_in_the_call(self) -> None:
        class Alarm(Exception):
            pass

        def once(error: BaseException) -> Callable[..., Any]:
            left = [error]

            def task(v: numpy.ndarray) -> numpy.ndarray:
                if left:
                    signal.raise_signal(signal.SIGUSR1)
                return v

            def handler(*_: Any) -> None:
                raise left.pop()

            signal.signal(signal.SIGUSR1, handler)
            return task

        before = signal.getsignal(signal.SIGUSR1)
        try:
            for error in (Alarm(), KeyboardInterrupt(), SystemExit(3)):
                task = once(error)
                with pytest.raises(type(error)):
                    _core.host(task, [np.ones(2)], [((2,), numpy.dtype("float32"))], None, "task", at_once=1 << 15)
                assert _core.unseen_failures() == []
        finally:
            signal.signal(signal.SIGUSR1, before)

    def test_a_task_that_raises_by_itself_poisons(self) -> None:
        calls = []

        def task(v: numpy.ndarray) -> numpy.ndarray:
            calls.append(v)
            raise ValueError("no")

        (bad,) = _core.host(task, [np.ones(2)], [((2,), numpy.dtype("float32"))], None, "task", at_once=1 << 15)
        for _ in range(2):
            with pytest.raises(ValueError, match="no") as raised:
                bad.tolist()
            assert raised.value.__context__ is None
        calls.clear()

    def test_failures_keep_no_frame_of_the_caller(self) -> None:
        class Thing:
            pass

        def call() -> tuple[weakref.ref[Thing], Any]:
            thing = Thing()
            try:
                raise OSError(thing)
            except OSError:
                bad = np.linalg.inv(np.zeros((2, 2)))
                return weakref.ref(thing), bad

        kept, bad = call()
        gc.collect()
        assert kept() is None
        with pytest.raises(numpy.linalg.LinAlgError) as raised:
            bad.tolist()
        assert raised.value.__context__ is None


def scattered() -> Any:
    x = np.arange(3)
    x[np.array([5])] = 1
    return x


class TestRecords:
    def test_records_have_a_name_a_line_and_times(self) -> None:
        x = np.arange(4)
        with profiler.record() as p:
            y = x + 1
            x[2] = 3
            z = np.sort(y)
        line = TestRecords.test_records_have_a_name_a_line_and_times.__code__.co_firstlineno + 3
        ops = p.trace.ops
        assert [e.name for e in ops] == ["add", "full", "sort"]
        assert [e.line.rsplit(":", 1)[1] for e in ops] == [str(line + i) for i in range(3)]
        for before, e in zip([None, *ops], ops):
            assert e.issued <= e.started <= e.ended
            assert before is None or before.ended <= e.issued
        assert ops[0].seq in ops[2].deps
        assert z.tolist() == [1, 2, 3, 4]

    def test_older_operations_may_still_be_waiting(self) -> None:
        x, y = np.zeros(3), np.zeros(LARGE)
        go = threading.Event()
        slow = HeldTask(x, go=go).result
        with profiler.record() as p:
            kept = []
            for i in range(50):
                kept.append(slow + i)
                x[1] = i
                kept.append(x + 1)
            y += 1
            go.set()
            assert [a.tolist()[1] for a in kept] == [v for i in range(50) for v in (i, i + 1)]
        assert p.trace.issued == 151
        assert _core.quiesce() is None

    def test_many_in_one_recording(self) -> None:
        x = np.zeros(3)
        go = threading.Event()
        slow = late_array(go, value=0.0)
        first = forerun.stats()["at_once"]
        with profiler.record() as p:
            for i in range(35_500):
                x[1] = i
                x += 1
                if i == 1000:
                    kept = slow + 1
                if i == 2000:
                    go.set()
        n = forerun.stats()["at_once"] - first
        assert n >= 50_000  # but for those that came while others ran, more on a busy machine
        assert p.trace.issued >= n
        assert x.tolist() == [35_500, 35_500, 35_500]
        assert kept.tolist() == [1, 1, 1]
        assert _core.in_use()["storages"] > 0

    def test_memory_is_released(self) -> None:
        before = _core.in_use()
        for _ in range(2000):
            x = np.zeros(100)
            x[3] = 1
            y = np.concatenate([x, x])[np.arange(3)]
        del x, y
        gc.collect()
        assert _core.in_use()["storages"] <= before["storages"]
