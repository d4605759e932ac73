"""Whether a function waits: it is called in a thread of its own while the engine is held."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy

import forerun
from forerun import _core, np, npx
from forerun.testing import closed_gate

PATIENCE = 60.0  # seconds; only a failure ever takes so long


def wait_until_ready(arrays: list[Any]) -> None:
    """Waits as an event loop does: without a hand in the work."""

    async def all_of_them() -> None:
        for x in arrays:
            await x

    asyncio.run(asyncio.wait_for(all_of_them(), PATIENCE))


class ResultThread(threading.Thread):
    """Runs a function, and keeps its result or error."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.function = function
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error


@contextmanager
def thread_at_closed_gate(function: Callable[[], Any]) -> Iterator[ResultThread]:
    """A thread that runs the function while the gate is closed; the gate is open again after the block."""
    with closed_gate():
        helper = ResultThread(function)
        helper.start()
        yield helper
    helper.join(PATIENCE)
    assert not helper.is_alive()
    forerun.waitall()
    if helper.error:
        raise helper.error


def result_without_waiting(function: Callable[[], Any]) -> Any:
    """Return the result of a function that must not wait, while the engine is held."""
    forerun.waitall()
    waits = _core.stats()["waits"]
    with thread_at_closed_gate(function) as helper:
        helper.join(PATIENCE)
        stuck, waited = helper.is_alive(), _core.stats()["waits"] - waits
    assert not stuck, "it must return while the engine is held"
    assert not waited, "it must not wait"
    return helper.result


def assert_waits(function: Callable[[], Any]) -> None:
    """Checks that the function waits: it is seen waiting, and ends only when the engine goes on."""
    forerun.waitall()
    waits = _core.stats()["waits"]
    with thread_at_closed_gate(function) as helper:
        while helper.is_alive() and _core.stats()["waits"] == waits:
            helper.join(0.001)
        waited = helper.is_alive()
    assert waited, "it must wait for values"


READERS: dict[str, Callable[[Any], Any]] = {
    "wait": lambda x: x.wait(),
    "wait_to_read": lambda x: x.wait_to_read(),
    "waitall": lambda x: forerun.waitall(),
    "npx.waitall": lambda x: npx.waitall(),
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x.sum():.2f}",
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist(),
    "asnumpy": lambda x: x.asnumpy(),
    "numpy": lambda x: x.numpy(),
    "__array__": numpy.asarray,
    "memoryview": memoryview,
    "DLPack": numpy.from_dlpack,
    "bool": lambda x: bool(x[0]),
    "int": lambda x: int(x[0]),
    "float": lambda x: float(x[0]),
    "complex": lambda x: complex(x[0]),
    "index": lambda x: [1, 2, 3][x.astype("int64")[0]],
    "iteration": lambda x: [float(v) for v in x],
    "in": lambda x: 3.0 in x,
    "mask": lambda x: x[x > 0],
    "where without values": np.where,
    "a function that only NumPy has": numpy.ma.masked_invalid,
}
