"""Gathers, joins, reductions, scans and products."""

from __future__ import annotations

import math
from typing import Any

import numpy

from stress.fuzz.pool import Pool, Slot


class Moves(Pool):
    """Operations that move or combine elements."""

    def index(self, x: Slot, n: int) -> Any:
        """Positions along x's first axis, computed by the program."""
        whole = self.pick(n, lambda slot: slot.value.dtype == "int64" and slot.value.ndim == 1)
        if whole is None:
            return self.back.array(numpy.arange(3) % x.value.shape[0], x.device)
        value = whole.value if whole.device == x.device else self.back.move(whole.value, x.device)
        return value[:8] % x.value.shape[0]

    def gather(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.shape[0] > 0)
        if x is not None:
            self.put(self.xp.take(x.value, self.index(x, b), axis=0), x.device)

    def scatter(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.size > 0)
        if x is not None:
            index = self.index(x, b)
            x.value[index] = self.settle(x.value[: index.shape[0]][::-1][:1] + c % 7)

    def concatenate(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is None:
            return
        n = c % x.value.ndim
        rest = x.value.shape[:n] + x.value.shape[n + 1 :]
        y = self.pick(b, lambda s: s.value.ndim > n and s.value.shape[:n] + s.value.shape[n + 1 :] == rest)
        if y is not None:  # x itself fits
            self.put(self.xp.concatenate([x.value, self.beside(y, x), x.value], axis=n), x.device)

    def reduce(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.size > 0)
        if x is not None:
            axis = None if c % 3 == 0 or x.value.ndim == 0 else c % x.value.ndim
            value = getattr(x.value, ("sum", "max", "min")[b % 3])(axis=axis, keepdims=bool(c % 2))
            self.put(self.settle(value), x.device)

    def scan(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is not None:
            self.put(self.settle(self.xp.cumsum(x.value, axis=c % x.value.ndim)), x.device)

    def sort(self, a: int, b: int, c: int) -> None:
        """A host task."""
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is not None:
            self.put(self.xp.sort(x.value, axis=b % x.value.ndim), x.device)

    def product(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim == 2 and slot.value.size > 0)
        if x is None:
            return
        y = self.pick(b, lambda s: s.value.ndim in (1, 2) and s.value.shape[0] == x.value.shape[1])
        if y is not None and x.value.shape[0] * math.prod(y.value.shape[1:]) <= self.most:
            self.put(self.settle(x.value @ self.beside(y, x)), x.device)
