"""Several arrays in asyncio: all of them, or each when it comes."""

from __future__ import annotations

import asyncio
import threading
from collections import namedtuple

import pytest

import forerun
from forerun import np
from forerun.testing import closed_gate
from tests.support.engine.event_loops import LOOPS, run_in_loop, run_other_tasks
from tests.support.engine.late_arrays import failing_array, late_array

Pair = namedtuple("Pair", "left right")


pytestmark = pytest.mark.usefixtures("four_workers")


def dropped() -> int:
    """Return the number of operations that the engine has dropped."""
    forerun.waitall()
    return forerun.stats()["dropped"]


class TestGather:
    @pytest.mark.parametrize("loop", LOOPS)
    def test_structure_is_kept(self, loop):
        async def main() -> None:
            a, b, c = (np.ones(3) + i for i in range(3))
            found = await forerun.gather(a, [b, (c,)], {"x": Pair(a, []), "y": {}}, ())
            assert found == [a, [b, (c,)], {"x": Pair(a, []), "y": {}}, ()]
            assert type(found[2]["x"]) is Pair
            assert all(x.ready for x in (a, b, c))

        run_in_loop(main(), loop)

    def test_gather_of_no_arrays(self):
        async def main() -> None:
            assert await forerun.gather() == []

        run_in_loop(main())

    def test_gather_waits_for_all_after_a_failure(self):
        async def main() -> None:
            go = threading.Event()
            failed = failing_array(KeyError("bad"))
            task = asyncio.create_task(forerun.gather(failed, late_array(go)))
            with pytest.raises(KeyError):
                await failed
            await run_other_tasks()
            assert not task.done()
            go.set()
            with pytest.raises(KeyError, match="bad") as caught:
                await task
            assert caught.value.__notes__[0].startswith("issued at")

        run_in_loop(main())

    def test_a_single_failure_is_raised_as_itself(self):
        async def main() -> None:
            x = failing_array(KeyError("bad"))
            with pytest.raises(KeyError, match="bad"):
                await forerun.gather(x + 1, np.ones(2), [x * 2, x])
            y = np.arange(3)[np.array([7])]  # a failure of the engine's own, not of Python
            with pytest.raises(IndexError, match="got 7"):
                await forerun.gather(y, y + 1)

        run_in_loop(main())

    def test_several_failures_are_a_group(self):
        async def main() -> None:
            x, y = failing_array(KeyError("one")), failing_array(KeyError("two"))
            with pytest.raises(ExceptionGroup, match="gather: 2 computations failed") as caught:
                await forerun.gather(x, np.ones(2), x + 1, [y])
            assert [error.args for error in caught.value.exceptions] == [("one",), ("two",)]

        run_in_loop(main())

    def test_errors_in_their_places(self):
        async def main() -> None:
            x, y, good = failing_array(KeyError("one")), np.arange(3)[np.array([7])], np.ones(2)
            first, (second, third), fine = await forerun.gather(x, (y, y + 1), {"good": good}, return_exceptions=True)
            assert isinstance(first, KeyError)
            assert isinstance(second, IndexError)
            assert third is second  # the same computation
            assert fine["good"] is good

        run_in_loop(main())

    @pytest.mark.parametrize("wrong", [3, None, "ab", {1, 2}])
    def test_non_array_argument_raises(self, wrong):
        async def main() -> None:
            with pytest.raises(TypeError, match="gather: must be given arrays"):
                await forerun.gather(np.ones(2), [wrong])

        run_in_loop(main())

    def test_a_cancelled_gather_holds_no_arrays(self):
        async def main() -> None:
            task = asyncio.create_task(forerun.gather(np.ones(3) + 1, np.ones(3) + 2))
            await run_other_tasks()
            task.cancel()
            await asyncio.wait([task])

        before = dropped()
        with closed_gate():
            run_in_loop(main())
        assert dropped() >= before + 2


class TestAsCompleted:
    @pytest.mark.parametrize("loop", LOOPS)
    def test_arrays_are_yielded_in_order_of_completion(self, loop):
        async def main() -> None:
            events = [threading.Event() for _ in range(3)]
            arrays = [late_array(go, value=float(i)) for i, go in enumerate(events)]
            there = np.zeros(3)
            there.wait()
            found = []
            async for x in forerun.as_completed([*arrays, there]):
                found.append(x)
                if len(found) < 4:
                    events[[2, 0, 1][len(found) - 1]].set()
            assert found[0] is there
            assert [x.tolist() for x in found[1:]] == [[2] * 3, [0] * 3, [1] * 3]

        run_in_loop(main(), loop)

    def test_a_failed_array_is_yielded_and_raises_when_read(self):
        async def main() -> None:
            x = failing_array(KeyError("bad"))
            found = [y async for y in forerun.as_completed([x, x])]
            assert len(found) == 2
            for y in found:
                assert y is x
                with pytest.raises(KeyError, match="bad"):
                    await y

        run_in_loop(main())

    def test_a_left_loop_holds_no_arrays(self):
        async def main() -> None:
            there = np.ones(3)
            there.wait()
            with closed_gate():
                coming = forerun.as_completed([np.ones(3) + 1, there])
                async for x in coming:
                    assert x is there
                    break
                del coming

        before = dropped()
        run_in_loop(main())
        assert dropped() > before

    def test_a_cancelled_iteration_continues(self):
        async def main() -> None:
            go = threading.Event()
            x = late_array(go)
            coming = forerun.as_completed([x])
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(coming), 0.01)
            go.set()
            assert await anext(coming) is x
            with pytest.raises(StopAsyncIteration):
                await anext(coming)

        run_in_loop(main())

    def test_as_completed_of_no_arrays(self):
        async def main() -> None:
            assert [x async for x in forerun.as_completed([])] == []

        run_in_loop(main())

    def test_where_no_loop_runs(self):
        with pytest.raises(RuntimeError, match="no running event loop"):
            forerun.as_completed([np.ones(2)])

    def test_non_array_argument_raises(self):
        async def main() -> None:
            with pytest.raises(TypeError):
                forerun.as_completed([np.ones(2), 3])

        run_in_loop(main())
