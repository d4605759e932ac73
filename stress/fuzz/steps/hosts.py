"""Host tasks: Python functions among the operations, some of which issue operations themselves."""

from __future__ import annotations

import threading
from typing import Any

import numpy

import forerun
from forerun import np, npx
from stress.fuzz.marked import without_cells
from stress.fuzz.pool import Pool

PATIENCE = 2.0  # seconds


class Hosts(Pool):
    """Tasks that succeed."""

    def task(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        y = self.partner(x, b)
        shape = numpy.broadcast_shapes(x.value.shape, y.shape)
        both = lambda u, v: numpy.maximum(u, v).astype(u.dtype)
        self.put(self.back.host(both, [x.value, y], [(shape, x.value.dtype)])[0], x.device)

    def two_results(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        spec = (x.value.shape, x.value.dtype)
        halves = lambda u: (u // 2, u - u // 2)
        first, second = self.back.host(halves, [x.value], [spec, spec])
        self.put(self.settle(first), x.device)
        if c % 2:
            self.put(self.settle(second), x.device)

    def nested(self, a: int, b: int, c: int) -> None:
        """A task that issues operations, other tasks among them, and waits for them."""
        x, ahead = self.any(a), self.back.runs_ahead

        def task(values: numpy.ndarray) -> Any:
            inner = np.array(values, dtype=values.dtype) if ahead else values.copy()
            for _ in range(1 + c % 3):
                inner = inner * 2 - values
                if ahead and c % 2:
                    (inner,) = npx.host(lambda v: v, [inner], [(inner.shape, inner.dtype)])
            return inner.asnumpy() if ahead else inner

        self.put(self.settle(self.back.host(task, [x.value], [(x.value.shape, x.value.dtype)])[0]), x.device)

    def waiting(self, a: int, b: int, c: int) -> None:
        """A task that waits for another one's result, and for values computed from it, which are not its inputs."""
        x, ahead = self.any(a), self.back.runs_ahead
        spec = (x.value.shape, x.value.dtype)
        other = self.partner(x, b, into=True) * 1
        (other,) = self.back.host(lambda v: v, [other], [(other.shape, other.dtype)])
        if c % 2:
            other = self.settle(other + 1)

        def task(values: numpy.ndarray) -> Any:
            return values - (other.asnumpy() if ahead else without_cells(self.back.known(other)))

        self.put(self.settle(self.back.host(task, [x.value], [spec])[0]), x.device)

    def self_wait(self, a: int, b: int, c: int) -> None:
        """A task that waits for its own result, or for later operations; the wait raises, and the task continues."""
        x, ahead = self.any(a), self.back.runs_ahead
        issued, own = threading.Event(), list[Any]()
        at_once = ahead and forerun.config()["engine"] == "sync"  # in this mode it has ended when the call returns

        def task(values: numpy.ndarray) -> Any:
            if ahead and not at_once:
                if not issued.wait(PATIENCE):  # the window is full, and other threads delay the next operation
                    return values
                try:
                    own[c % 2].wait()
                except RuntimeError as error:
                    if "must not wait for operations after its own end" in str(error):
                        return values
                raise AssertionError("the wait of a task for its own end must raise")
            return values

        (y,) = self.back.host(task, [x.value], [(x.value.shape, x.value.dtype)])
        z = y * 2
        own += [y, z]
        issued.set()
        self.put(self.settle(z), x.device)
