"""Element-wise operations with new results."""

from __future__ import annotations

import math

import numpy

from stress.fuzz.pool import Pool


class Elementwise(Pool):
    """Operations on one array or several."""

    def binary(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        names = ("add", "subtract", "multiply", "maximum", "minimum")
        f = getattr(self.xp, names[c % len(names)])
        self.put(self.settle(f(x.value, self.partner(x, b))), x.device)

    def unary(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        f = getattr(self.xp, ("negative", "abs", "square", "sign")[b % 4])
        self.put(self.settle(f(x.value)), x.device)

    def chain(self, a: int, b: int, c: int) -> None:
        """Several element-wise ops whose intermediate results are released."""
        x = self.any(a)
        y = self.partner(x, b)
        z = x.value
        for i in range(2 + c % 4):
            z = self.settle(z * y + i)
        self.put(z, x.device)

    def choose(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        y, z = self.partner(x, b), self.partner(x, c)
        if math.prod(numpy.broadcast_shapes(x.value.shape, y.shape)) <= self.most and y.shape == z.shape:
            self.put(self.xp.where(x.value > y, x.value, z), x.device)
