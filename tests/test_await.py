"""Arrays in asyncio: awaiting one never blocks the loop."""

import asyncio
import threading

import pytest

from forerun import np, npx


def held(go: threading.Event, fails: bool = False):
    """An array whose op waits for an event."""

    def task(v):
        go.wait(60)
        if fails:
            raise KeyError("late")
        return v

    return npx.host(task, [np.ones(3)], [((3,), "float32")])[0]


def test_other_tasks_go_on_while_an_array_is_awaited():
    go = threading.Event()

    async def release() -> None:
        await asyncio.sleep(0)  # runs only if the loop is not blocked
        go.set()

    async def main() -> list[float]:
        x = held(go) * 2
        releasing = asyncio.create_task(release())
        y = await x
        await releasing
        assert y is x
        return y.tolist()

    assert asyncio.run(main()) == [2, 2, 2]


def test_many_arrays_are_awaited_together():
    async def main() -> list[float]:
        arrays = await asyncio.gather(*(wrapped(np.full(2, float(i)) + 1) for i in range(100)))
        return [a[0].item() for a in arrays]

    async def wrapped(x):
        return await x

    assert asyncio.run(main()) == [i + 1 for i in range(100)]


def test_awaiting_raises_what_the_computation_raised():
    go = threading.Event()
    x = held(go, fails=True)

    async def main() -> None:
        asyncio.get_running_loop().call_soon(go.set)
        await x

    for _ in range(2):
        with pytest.raises(KeyError, match="late"):
            asyncio.run(main())
