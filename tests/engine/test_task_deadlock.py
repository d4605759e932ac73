"""A host task that waits for its own end raises, with the line that issued it and the one that waits."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import numpy
import pytest

import forerun
from forerun import np, npx
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.settings import configured

FLOATS = [((3,), "float32")]
WORDS = (
    "a host task must not wait for operations after its own end, got a wait at {here}:{wait}"
    " in the task issued at {here}:{issue}"
)


def line() -> int:
    frame = inspect.currentframe()
    assert frame
    assert frame.f_back
    return frame.f_back.f_lineno


def error_of(x: Any) -> str:
    """Return the error of a read of an array that a task could not make."""
    with pytest.raises(RuntimeError, match="must not wait for operations after") as caught:
        x.tolist()
    return str(caught.value)


def words_of_error(wait: int, issue: int) -> str:
    return WORDS.format(here=__file__, wait=wait, issue=issue)


class TestItsOwnResult:
    READS: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "numpy": lambda x: x.numpy(), "item": lambda x: x[0].item(), "bool": lambda x: bool(x.any()),
        "wait": lambda x: x.wait(), "several": lambda x: forerun.wait([np.ones(1), x]), "print": repr,
        "mask": lambda x: x[x > 0], "asarray": numpy.asarray, "int": lambda x: int(x.sum()),
        "save": lambda x: np.save("/dev/null", x), "a result computed from it": lambda x: (x * 2 + 1).sum().item(),
        "a view": lambda x: x[1:].tolist(), "an update of it": lambda x: (x.__iadd__(1)).tolist(),
    }  # fmt: skip

    @pytest.mark.parametrize("read", READS)
    @pytest.mark.parametrize("engine", ["1 worker", "4 workers"], indirect=True)
    def test_read(self, engine: str, read: str) -> None:
        result: list[Any] = []

        def task(values: numpy.ndarray) -> numpy.ndarray:
            self.READS[read](result[0])
            return values

        with closed_gate():
            result += host(task, [np.ones(3)], FLOATS)
        error_of(result[0])
        result.clear()
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]

    def test_both_lines_are_named(self) -> None:
        result: list[Any] = []
        lines: list[int] = []

        def task(values: numpy.ndarray) -> Any:
            lines.append(line() + 1)
            return result[0].numpy()

        with closed_gate():
            result += host(task, [np.ones(3)], FLOATS); issued = line()  # fmt: skip # noqa: E702
        assert error_of(result[0]) == "host: " + words_of_error(lines[0], issued)
        result.clear()

    def test_the_task_may_continue(self) -> None:
        """It is an exception like others."""
        result: list[Any] = []

        def task(values: numpy.ndarray) -> numpy.ndarray:
            try:
                result[0].wait()
            except RuntimeError:
                return values + 1
            return values

        with closed_gate():
            result += host(task, [np.ones(3)], FLOATS)
        assert result[0].tolist() == [2, 2, 2]
        result.clear()

    def test_in_synchronous_mode_an_array_that_the_task_reads(self) -> None:
        """Writes into it come after the task."""
        x = np.ones(3)

        def task(values: numpy.ndarray) -> numpy.ndarray:
            x[:] = 5
            return values

        with configured(engine="sync"), pytest.raises(RuntimeError, match="must not wait for operations after"):
            host(task, [x], FLOATS)

    @pytest.mark.parametrize("engine", ["1 worker", "4 workers"], indirect=True)
    def test_a_write_that_comes_after_it(self, engine: str) -> None:
        x = np.ones(3)

        def task(values: numpy.ndarray) -> numpy.ndarray:
            x[:] = values + 5
            return x.numpy()

        error_of(host(task, [x], FLOATS)[0])
        assert x.tolist() == [6, 6, 6]

    @pytest.mark.parametrize("queue", ["compute", "io"])
    def test_on_every_queue_with_one_thread(self, queue: str) -> None:
        result: list[Any] = []
        with configured(io_threads=1):
            with closed_gate():
                result += npx.host(lambda v: result[0].numpy(), [np.ones(3)], FLOATS, queue=queue)
            error_of(result[0])
            result.clear()

    def test_in_asyncio(self) -> None:
        result: list[Any] = []

        async def program() -> None:
            await result[0]

        def task(values: numpy.ndarray) -> numpy.ndarray:
            loop = asyncio.new_event_loop()  # `run` would make this thread known to `threading`
            try:
                loop.run_until_complete(program())
            finally:
                loop.close()
            return values

        with closed_gate():
            result += host(task, [np.ones(3)], FLOATS)
        error_of(result[0])
        result.clear()


class TestThroughOthers:
    @pytest.mark.parametrize("engine", ["1 worker", "4 workers"], indirect=True)
    def test_two_tasks_that_wait_for_each_other(self, engine: str) -> None:
        results: dict[int, Any] = {}

        def task(i: int) -> Callable[[numpy.ndarray], Any]:
            def run(values: numpy.ndarray) -> Any:
                return results[1 - i].numpy()

            return run

        with closed_gate():
            for i in range(2):
                (results[i],) = host(task(i), [np.ones(3)], FLOATS)
        for i in range(2):
            error_of(results[i])
        results.clear()

    def test_a_circle_of_tasks_and_operations(self) -> None:
        """Each waits for something that is computed from the result of the next."""
        results: list[Any] = []

        def task(i: int) -> Callable[[numpy.ndarray], Any]:
            def run(values: numpy.ndarray) -> Any:
                return results[(i + 1) % 3][:3].numpy()

            return run

        with closed_gate():
            for i in range(3):
                results.append(np.concatenate([host(task(i), [np.ones(3)], FLOATS)[0] * 2, np.ones(2)]))
        for x in results:
            error_of(x)
        del x
        results.clear()


class TestNoOtherThread:
    """Waits that last, and end."""

    def test_for_the_result_of_a_task_that_does_not_wait_for_it(self) -> None:
        go = threading.Event()
        slow = host(lambda v: (go.wait(60), v)[1], [np.ones(3)], FLOATS)[0]
        seen = threading.Semaphore(0)

        def task(values: numpy.ndarray) -> Any:
            seen.release()
            return (slow * values).numpy()

        found = [host(task, [np.full((3,), float(i))], FLOATS)[0] for i in range(3)]
        after = [x + 1 for x in found]
        for _ in found:
            assert seen.acquire(timeout=60)
        result: list[Any] = []
        with closed_gate():
            result += host(lambda v: result[0].numpy(), [np.ones(3)], FLOATS)
        error_of(result[0])  # now those that began to wait before it have been looked at, too
        result.clear()
        go.set()
        assert [x.tolist() for x in after] == [[i + 1] * 3 for i in range(3)]

    def test_for_work_of_its_own(self, engine: str) -> None:
        def tree(depth: int) -> Callable[[numpy.ndarray], Any]:
            def run(values: numpy.ndarray) -> Any:
                if depth == 0:
                    return values + 1
                parts = [host(tree(depth - 1), [np.array(values)], FLOATS)[0] for _ in range(2)]
                return (parts[0] + parts[1]).numpy()

            return run

        assert host(tree(4), [np.ones(3)], FLOATS)[0].tolist() == [32, 32, 32]
