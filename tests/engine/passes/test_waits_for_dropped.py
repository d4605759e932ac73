"""Waits return after any operations were dropped, in any thread."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.comparison.bits import bits_of
from tests.support.engine.passes import ALL, gelu, random_floats
from tests.support.engine.settings import configured

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


class TestWaiting:
    """Waits return after any operations were dropped."""

    @pytest.mark.parametrize("workers", [1, 4])
    def test_with_dropped_ops_in_the_window(self, workers):
        with configured(engine="async", workers=workers, passes=ALL):
            x = np.array(random_floats(3000))
            slow = threading.Event()
            for i in range(30):
                late = host(lambda v: (slow.wait(60), v)[1], [x], [(x.shape, x.dtype)])[0]
                y = x + late
                (late * 2 + 1).sum()
                late += 1  # waits for the read that is dropped
                mark = _core.mark()
                x - i
                slow.set()
                (late.wait, y.wait, forerun.waitall, partial(_core.wait_mark, mark))[i % 4]()
                slow.clear() if i % 4 > 1 else forerun.waitall()
            assert late.asnumpy().tobytes() == (random_floats(3000) + 1).tobytes()

    def test_only_dropped_ops(self, improving):
        x = np.array(random_floats(3000))
        forerun.waitall()
        for wait in (forerun.waitall, lambda: _core.wait_mark(_core.mark()), _core.quiesce):
            with closed_gate():
                for _ in range(400):
                    x + 1
            wait()
        assert forerun.stats()["issued"] == forerun.stats()["done"]

    def test_await(self, improving):
        async def main():
            x = np.array(random_floats(3000))
            results = []
            for i in range(20):
                x * 3
                y = gelu(x) + i
                x - y
                results.append(y)
            for y in results:
                await y
            return [y[0].item() for y in results]

        values = asyncio.run(main())
        assert values == [gelu(np.array(random_floats(3000)))[0].item() + numpy.float32(i) for i in range(20)]

    def test_more_dropped_ops_than_the_window_holds(self, improving):
        forerun.configure(ops_ahead=64)
        x = np.array(random_floats(100))
        for _ in range(2000):
            y = x + 1
        assert y.asnumpy().tobytes() == (random_floats(100) + 1).tobytes()

    @pytest.mark.parametrize("workers", [1, 4])
    def test_many_threads(self, workers):
        values = random_floats(4000)
        expected = values.copy()
        for _ in range(40):
            expected = expected * numpy.float32(0.5) + values
        wrong: list[str] = []

        def issue(n: int) -> None:
            x = np.array(values)
            for _ in range(5):
                y = x.copy()
                for i in range(40):
                    t = y * 0.5
                    if i % 3 == n % 3:
                        (t - x).sum()
                    y = t + x
                    del t
                if y.asnumpy().tobytes() != expected.tobytes():
                    wrong.append(f"thread {n}")

        with configured(engine="async", workers=workers, passes=ALL):
            threads = [threading.Thread(target=issue, args=(n,)) for n in range(6)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        assert wrong == []

    def test_handles_that_another_thread_drops(self, improving):
        """The last handle goes while the window is planned, or while the op runs."""
        forerun.configure(workers=4)
        x = np.array(random_floats(3000))
        expected = (random_floats(3000) + 1) * 2
        handed: list[Any] = []
        ready, over = threading.Semaphore(0), threading.Event()

        def drop() -> None:
            while ready.acquire() and not over.is_set():
                handed.pop()

        thread = threading.Thread(target=drop)
        thread.start()
        for _ in range(300):
            y = x + 1
            z = y * 2
            handed.append(z - y)
            handed.append(y)
            del y
            ready.release(2)
            assert z.asnumpy().tobytes() == expected.tobytes()
        over.set()
        ready.release()
        thread.join()

    def test_sync_mode_drops_no_ops(self):
        with configured(engine="sync", passes=ALL):
            x = np.array(random_floats(3000))
            x + 1
            y = gelu(x)
            with pytest.raises(IndexError):
                np.take(x, np.array([3000]))
        assert bits_of(y) == bits_of(gelu(np.array(random_floats(3000))))
