"""Cost of an await of an array, beside a turn of the loop and beside a thread that waits.

    python benchmarks/engine/awaiting.py

The second part: how the cost of an await grows with how many are outstanding. It must not.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import forerun
from forerun import _core, np, npx
from forerun._display.terminal import Terminal
from forerun.tour.measure import in_turn

N = 1000
ROUNDS = 21


async def turns() -> None:
    for _ in range(N):
        await asyncio.sleep(0)


async def there() -> None:
    x = np.ones(2)
    x.wait()
    for _ in range(N):
        await x


async def small() -> None:
    x = np.ones(2)
    for _ in range(N):
        x = await (x + 1)


async def larger() -> None:
    x = np.ones(100_000)
    for _ in range(N):
        await (x + 1)


async def larger_waits() -> None:
    x = np.ones(100_000)
    for _ in range(N):
        (x + 1).wait()  # blocks the loop


async def larger_in_threads() -> None:
    x, loop = np.ones(100_000), asyncio.get_running_loop()
    for _ in range(N):
        await loop.run_in_executor(None, (x + 1).wait)


async def behind_a_gate(end: Callable[[list[Any]], Coroutine[Any, Any, object]]) -> None:
    """The arrays come while all of them are awaited."""
    _core.gate(True)
    task = asyncio.ensure_future(end([np.full(2, i) + 1 for i in range(N)]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    _core.gate(False)
    await task


async def each(arrays: list[Any]) -> None:
    async def computed(x: Any) -> Any:
        return await x

    await asyncio.gather(*map(computed, arrays))


async def together(arrays: list[Any]) -> None:
    await forerun.gather(*arrays)


async def in_order(arrays: list[Any]) -> None:
    async for _ in forerun.as_completed(arrays):
        pass


async def threads(arrays: list[Any]) -> None:
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(loop.run_in_executor(None, x.wait) for x in arrays))


async def sums() -> None:
    x = np.ones(100_000)
    for _ in range(N):
        await x.sum()


def with_outstanding(runner: asyncio.Runner, n: int) -> list[float]:
    """Seconds of N awaits while n arrays behind a closed event are awaited."""
    go = threading.Event()
    (late,) = npx.host(lambda v: (go.wait(60), v)[1], [np.ones(2)], [((2,), "float32")])
    tasks = [runner.get_loop().create_task(forerun.gather(late + i)) for i in range(n)]
    runner.run(turns())
    seconds = in_turn({"": lambda: runner.run(sums())}, 5)[""]
    go.set()
    if tasks:
        runner.get_loop().run_until_complete(asyncio.wait(tasks))
    return seconds


def main() -> None:
    programs = {
        "a turn of the loop: asyncio.sleep(0)": turns,
        "await x, which is there": there,
        "x = await (x + 1), 2 elements": small,
        "await (x + 1), 100,000 elements": larger,
        "the same, (x + 1).wait()": larger_waits,
        "the same, a thread waits (run_in_executor)": larger_in_threads,
        "1000 at once: a task for each": lambda: behind_a_gate(each),
        "1000 at once: forerun.gather": lambda: behind_a_gate(together),
        "1000 at once: forerun.as_completed": lambda: behind_a_gate(in_order),
        "1000 at once: threads wait": lambda: behind_a_gate(threads),
    }
    forerun.configure(ops_ahead=1 << 18)  # issuing waits for nothing, however many are held
    with asyncio.Runner() as runner:
        timed = {name: lambda program=program: runner.run(program()) for name, program in programs.items()}
        in_turn(timed, 2)  # warm
        rows = [
            [name, f"{1e6 * statistics.median(t) / N:.2f}", f"{1e6 * min(t) / N:.2f}"]
            for name, t in in_turn(timed, ROUNDS).items()
        ]
        Terminal().table(["", "us each, median", "least"], rows)
        print()
        rows = []
        for n in (0, 1000, 10_000, 100_000):
            t = with_outstanding(runner, n)
            rows.append([f"{n:,}", f"{1e6 * statistics.median(t) / N:.2f}", f"{1e6 * min(t) / N:.2f}"])
        Terminal().table(["outstanding: await x.sum(), 100,000 elements", "us each, median", "least"], rows)


if __name__ == "__main__":
    main()
