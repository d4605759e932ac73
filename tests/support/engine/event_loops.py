"""For tests of arrays in asyncio: event loops of several kinds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

import uvloop

from forerun import np
from forerun.testing import closed_gate


class NoReaders(asyncio.SelectorEventLoop):
    """A loop that cannot poll descriptors for others."""

    def add_reader(self, fd, callback, *args):
        raise NotImplementedError


LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop, "no readers": NoReaders}


def run_in_loop(main: Coroutine[Any, Any, Any], loop: str = "asyncio") -> Any:
    """The result of a coroutine, which must end within a minute, in a fresh loop of a kind."""

    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await main

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        return runner.run(bounded())


async def run_other_tasks(n: int = 3) -> None:
    """Lets the other tasks have some turns."""
    for _ in range(n):
        await asyncio.sleep(0)


def open_descriptors() -> int:
    """How many file descriptors the process has open."""
    return len(os.listdir("/proc/self/fd"))


async def _first() -> None:
    with closed_gate():
        tasks = [asyncio.ensure_future(np.ones(2) + 1)]
        await run_other_tasks()
    await asyncio.wait(tasks)


for _loop in LOOPS:  # resources of the first loop of a kind are the process's
    run_in_loop(_first(), _loop)
