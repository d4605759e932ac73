"""Writes into existing arrays, and into parts of them."""

from __future__ import annotations

from stress.fuzz.pool import Pool


class Writes(Pool):
    """Operations in place."""

    def update(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        y, target = self.partner(x, b, into=True), x.value
        if c % 3 == 0:
            target += y
        elif c % 3 == 1:
            target -= y
        else:
            target *= y
        self.settle_inplace(target)

    def overlap(self, a: int, b: int, c: int) -> None:
        """x[1:] += x[:-1], and similar updates."""
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.shape[0] > 1)
        if x is None:
            return
        v = x.value
        if b % 3 == 0:
            v[1:] += v[:-1]
        elif b % 3 == 1:
            v[:-1] = v[1:]
        else:
            v[...] = v[::-1]
        self.settle_inplace(v)

    def assign(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        if c % 2 and x.value.ndim and x.value.shape[0] > 1:
            x.value[c % x.value.shape[0]] = self.scalar(x.value, c)
        else:
            x.value[...] = self.partner(x, b, into=True)

    def out(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        target = self.pick(c, lambda s: s.value.shape == x.value.shape and s.value.dtype == x.value.dtype)
        y = self.partner(x, b, into=True)
        if target is not None and target.device == x.device:
            self.xp.subtract(x.value, y, out=target.value)
            self.settle_inplace(target.value)
