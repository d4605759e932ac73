"""Many threads at once: on arrays of their own and on shared ones, each with a tape and a device of its own."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx
from forerun.gluon import nn
from forerun.testing import closed_gate
from tests.support.engine.threads import run_in_threads

PATIENCE = 60.0  # seconds after which nothing is worth waiting for


class ThreadStopped(Exception):
    """The exception that ends a thread in the middle of its work."""


class TestSharedArrays:
    def test_updates_reads_and_drops_of_the_same_arrays(self, ahead):
        """Updates of shared arrays are complete; no read sees half of an update; arrays are deleted meanwhile."""
        shared = [np.zeros(500, dtype="int64") for _ in range(5)]
        added = [[0] * 5 for _ in range(6)]
        gone: list[Any] = [None] * 6

        def work(t: int) -> bool:
            rng, whole = numpy.random.default_rng(t), True
            for _ in range(400):
                i, by = int(rng.integers(5)), int(rng.integers(100))
                target = shared[i]
                target += by
                added[t][i] += by
                if by % 16 == 0:
                    look = target + 0
                    whole = whole and (look.max() == look.min()).item()
                if by % 16 == 1:
                    gone[t] = target * 2  # the one before is deleted, maybe before it was computed
                if by % 16 == 2:
                    target.wait()
            return whole

        assert run_in_threads(6, work) == [True] * 6
        for i, x in enumerate(shared):
            assert x.tolist() == [sum(one[i] for one in added)] * 500

    def test_views_of_one_array(self, ahead):
        x = np.zeros((8, 200), dtype="int64")

        def work(t: int) -> None:
            row = x[t]
            for _ in range(200):
                row += 1
                row[::2] += t

        run_in_threads(8, work)
        expected = numpy.full((8, 200), 200)
        expected[:, ::2] += 200 * numpy.arange(8)[:, None]
        assert x.tolist() == expected.tolist()

    def test_all_threads_wait_for_the_same_value(self, ahead):
        go = threading.Event()
        (late,) = npx.host(lambda: (go.wait(PATIENCE), numpy.full(3, 7.0))[1], [], [((3,), "float32")])
        started = threading.Barrier(9)

        def work(t: int) -> list[float]:
            started.wait(PATIENCE)
            return (late + t).tolist() if t % 2 else late.tolist()

        opener = threading.Thread(target=lambda: (started.wait(PATIENCE), go.set()))
        opener.start()
        results = run_in_threads(8, work)
        opener.join()
        assert results == [[7 + t if t % 2 else 7] * 3 for t in range(8)]

    def test_while_the_engine_is_held_and_its_passes_change(self, ahead):
        over = threading.Event()

        def interfere() -> None:
            n = 0
            while not over.is_set():
                with closed_gate():
                    n += 1
                    _core.set_passes(n % 8)
                if n % 16 == 0:
                    _core.quiesce()

        def work(t: int) -> float:
            x = np.zeros(2000)
            for i in range(150):
                y = np.sin(x) + i
                x = x * 0.5 + y - np.sin(x)
                if i % 50 == 0:
                    x.wait()
            return x.sum().item()

        alone = work(0)
        other = threading.Thread(target=interfere)
        other.start()
        try:
            results = run_in_threads(4, work)
        finally:
            over.set()
            other.join(PATIENCE)
            _core.set_passes(7)
        assert results == [alone] * 4

    def test_settings_change_while_others_issue(self, ahead):
        x = np.zeros(100, dtype="int64")

        def work(t: int) -> None:
            if t == 0:
                for i in range(12):
                    forerun.configure(workers=1 + i % 3, ops_ahead=64 << i % 3)
                return
            target = x
            for _ in range(400):
                target += 1

        assert run_in_threads(4, work) == [None] * 4
        assert x.tolist() == [1200] * 100


class TestOwnState:
    def test_recording_is_each_threads_own(self, ahead):
        """Half of the threads record, half do not, all at once, with gradients of arrays of their own."""

        def work(t: int) -> tuple[bool, Any]:
            x = np.full((50,), t + 1.0)
            x.attach_grad()
            seen = []
            for i in range(40):
                with autograd.record() if t % 2 else contextlib.nullcontext():
                    seen.append(autograd.is_recording())
                    y = (x * x * i).sum()
                assert not autograd.is_recording()
                if t % 2:
                    y.backward()
            return set(seen) == {bool(t % 2)}, x.grad[3].item()

        assert run_in_threads(6, work) == [(True, 2.0 * 39 * (t + 1) if t % 2 else 0.0) for t in range(6)]

    def test_one_scope_object_in_many_threads(self, ahead):
        scope, inside = autograd.record(), threading.Barrier(4)

        def work(t: int) -> list[bool]:
            seen = [autograd.is_recording()]
            if t % 2:
                autograd.set_recording(True)  # the scope finds another state here than elsewhere
            with scope:
                inside.wait(PATIENCE)
                seen.append(autograd.is_recording())
            inside.wait(PATIENCE)
            return [*seen, autograd.is_recording()]

        assert run_in_threads(4, work) == [[False, True, bool(t % 2)] for t in range(4)]

    def test_the_current_device_is_each_threads_own(self, ahead, two_devices):
        inside = threading.Barrier(4)

        def work(t: int) -> list[str]:
            with two_devices[t % 2]:
                inside.wait(PATIENCE)
                made = [str(np.ones(3).device) for _ in range(20)]
                inside.wait(PATIENCE)
            return sorted({*made, str(np.ones(3).device)})

        assert run_in_threads(4, work) == [sorted({"cpu(0)", f"cpu({t % 2})"}) for t in range(4)]

    def test_shared_parameters_of_one_network(self, ahead):
        """Threads predict with the same parameters, one trains copies of it: no thread's tape has others' ops."""
        net = nn.Dense(3)
        net.initialize()
        x = np.array(numpy.linspace(-1, 1, 20).reshape(5, 4))
        expected = net(x).tolist()

        def work(t: int) -> bool:
            if t:
                return all(net(x).tolist() == expected for _ in range(30))
            own = nn.Dense(3)
            own.initialize()
            trainer = gluon.Trainer(own.collect_params(), "sgd", {"learning_rate": 0.1})
            losses = []
            for _ in range(30):
                with autograd.record():
                    loss = (own(x) ** 2).mean()
                loss.backward()
                trainer.step(1)
                losses.append(loss)
            return (losses[-1] < losses[0]).item()

        assert run_in_threads(5, work) == [True] * 5

    def test_one_thread_records_a_program_while_others_issue(self, ahead):
        @forerun.hybrid
        def step(x: Any, y: Any) -> Any:
            return np.tanh(x * y + 1) @ y.T

        rng = numpy.random.default_rng(3)
        inputs = [[np.array(rng.normal(size=(n, n))) for _ in range(2)] for n in (3, 4, 5, 6)]
        expected = [(np.tanh(x * y + 1) @ y.T).tolist() for x, y in inputs]

        def work(t: int) -> bool:
            x, y = inputs[t % 4]
            if t < 4:  # the same function: recorded here, run there, sometimes both at once
                return all(step(x, y).tolist() == expected[t] for _ in range(40))
            return all((np.tanh(x * y + 1) @ y.T).tolist() == expected[t % 4] for _ in range(40))

        assert run_in_threads(8, work) == [True] * 8

    def test_one_program_with_gradients_in_many_threads(self, ahead):
        cube = forerun.hybrid(lambda x: x * x * x)

        def work(t: int) -> list[float]:
            x = np.array([t + 1.0])
            x.attach_grad()
            found = []
            for _ in range(30):
                with autograd.record():
                    y = cube(x)
                y.backward()
                found.append(x.grad.item())
            return sorted(set(found))

        assert run_in_threads(6, work) == [[3.0 * (t + 1) ** 2] for t in range(6)]


class TestDeath:
    def test_inside_record(self, ahead):
        x = np.array([3.0])
        x.attach_grad()

        def work(t: int) -> None:
            with autograd.record():
                y = x * t
                raise ThreadStopped(y.shape)

        for error in run_in_threads(5, work, keep=True):
            assert isinstance(error, ThreadStopped)
        assert not autograd.is_recording()
        with autograd.record():
            y = x * x
        y.backward()
        assert x.grad.item() == 6

    def test_without_leaving_record(self, ahead):
        """A thread that ends with recording on takes that with it."""

        def work(t: int) -> bool:
            autograd.set_recording(True)
            autograd.set_training(True)
            return autograd.is_recording()

        assert run_in_threads(4, work) == [True] * 4
        assert run_in_threads(4, lambda t: autograd.is_recording() or autograd.is_training()) == [False] * 4

    def test_inside_a_recorded_function(self, ahead):
        dies = True

        @forerun.hybrid
        def step(x: Any) -> Any:
            y = x + 1
            if dies:
                raise ThreadStopped
            return y * 2

        assert all(
            isinstance(error, ThreadStopped) for error in run_in_threads(4, lambda t: step(np.ones(t + 1)), keep=True)
        )
        dies = False
        assert run_in_threads(4, lambda t: step(np.ones(t + 1)).tolist()) == [[4.0] * (t + 1) for t in range(4)]

    @pytest.mark.parametrize("error", [ThreadStopped, SystemExit, KeyboardInterrupt, MemoryError])
    def test_inside_a_host_task(self, ahead, error):
        """It is the task that fails: the worker that ran it goes on."""

        def task(v: numpy.ndarray) -> numpy.ndarray:
            raise error("here")

        def work(t: int) -> None:
            npx.host(task, [np.ones(3)], [((3,), "float32")])[0].wait()

        assert [type(e) for e in run_in_threads(5, work, keep=True)] == [error] * 5
        assert npx.host(lambda v: v + 1, [np.ones(3)], [((3,), "float32")])[0].tolist() == [2, 2, 2]

    def test_thread_exit_during_a_wait(self, ahead):
        """Ended by an exception that its wait raises, with the only reference to the array."""
        go = threading.Event()

        def task(v: numpy.ndarray) -> numpy.ndarray:
            go.wait(PATIENCE)
            raise ThreadStopped

        def work(t: int) -> None:
            if t == 4:
                go.set()
                return
            x = npx.host(task, [np.ones(3)], [((3,), "float32")])[0]
            (x + t).wait()

        assert [type(e) for e in run_in_threads(5, work, keep=True)] == [ThreadStopped] * 4 + [type(None)]

    def test_daemon_threads_that_never_end(self):
        """Waiting, issuing and inside a task when the process exits."""
        from tests.support.processes.subprocesses import output

        assert output(
            """
import threading
x = np.ones(1000)
def issue():
    while True:
        y = x + 1
def wait():
    while True:
        (x * 2).sum().wait()
threads = [threading.Thread(target=f, daemon=True) for f in (issue, wait, issue, wait)]
for t in threads: t.start()
for _ in range(200): assert (x + 1)[0].item() == 2
print("ends")
"""
        ) == ["ends"]
