"""Chains of operations for the passes: to fuse, to drop, or to place in reused memory."""

from __future__ import annotations

from stress.fuzz.pool import Pool


class Joined(Pool):
    """Operations whose intermediate results are released."""

    def along(self, a: int, b: int, c: int) -> None:
        """x minus its maxima along some axes, scaled by their neighbours; the maxima may be kept."""
        x = self.pick(a, lambda slot: slot.value.size > 0)
        if x is None:
            return
        top = x.value.max(axis=self.some_axes(x.value.ndim, b), keepdims=True)
        shifted = x.value - top
        self.put(self.settle(shifted * (top + 2) + x.value), x.device)
        if c % 3 == 0:
            self.put(self.settle(shifted), x.device)
        if c % 4 == 0:
            self.put(top, x.device)

    def sums(self, a: int, b: int, c: int) -> None:
        """Reductions of one value, and ops with their results."""
        x = self.pick(a, lambda slot: slot.value.size > 0)
        if x is None:
            return
        far, axes = x.value * 2 - 1, self.some_axes(x.value.ndim, b)
        total, least = far.sum(axis=axes), far.min(axis=axes)
        self.put(self.settle(total - least * 3), x.device)
        if c % 2:
            self.put(self.settle(abs(total) + 1), x.device)

    def several(self, a: int, b: int, c: int) -> None:
        """Functions with two results, some of which are dropped."""
        x = self.any(a)
        f = ("divmod", "modf", "frexp")[b % 3] if x.value.dtype.kind == "f" else "divmod"
        y = x.value * 3 + 1
        first, second = self.xp.divmod(y, 7) if f == "divmod" else getattr(self.xp, f)(y)
        if self.exact and f == "frexp":
            first = self.xp.rint(first * 8)  # an integer again
        if c % 3:
            self.put(self.settle(first + 1), x.device)
        if c % 3 != 1:
            self.put(self.settle(second * 2), x.device)

    def mixed(self, a: int, b: int, c: int) -> None:
        """Casts in between, and conditions."""
        x = self.any(a)
        others = ("float64", "int16", "float32", "int64", "float16", "int8", "bool")
        y = (x.value + 1).astype(others[b % len(others)])
        z = self.xp.where(y > 0, x.value, x.value * 2)
        self.put(self.settle(z - 1), x.device)
        if c % 3 == 0:
            self.put(((y == 1) | (z < 0)).astype(x.value.dtype), x.device)

    def replaced(self, a: int, b: int, c: int) -> None:
        """t = 2x, then x is changed, then both are read."""
        x = self.any(a)
        y, target = self.partner(x, b, into=True), x.value
        t = target * 2
        target += y
        u = t - target
        if c % 2:
            target *= u
        self.settle_inplace(target)
        self.put(self.settle(u + target), x.device)

    def through(self, a: int, b: int, c: int) -> None:
        """In place through a view; the whole is read before and after."""
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is None:
            return
        v = x.value
        cuts = (v[1:], v[:-1], v[..., ::2], v.T, v[::-1], v[..., :1], v[v.shape[0] // 2 :], v[...])
        view = cuts[b % len(cuts)]
        before = v * 2
        view += 1
        if c % 2:
            view *= 2
        after = v + before
        self.settle_inplace(v)
        self.put(self.settle(after), x.device)

    def wasted(self, a: int, b: int, c: int) -> None:
        """Results that are never read, together with others that are."""
        x = self.any(a)
        y = x.value + 1
        z = y * 2
        for _ in range(b % 4):
            z = z - x.value
        if c % 2:
            self.put(self.settle(y), x.device)
