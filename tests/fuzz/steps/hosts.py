"""Host tasks: Python functions among the operations, some of which issue operations themselves."""

from __future__ import annotations

from typing import Any

import numpy

from forerun import np, npx
from fuzz.pool import Pool


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
