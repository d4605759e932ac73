"""Functions whose last bits depend on the library, and random numbers."""

from __future__ import annotations

import forerun
from forerun import np
from stress.fuzz.pool import Pool


class Free(Pool):
    """Only in programs that NumPy does not check."""

    def normalised(self, a: int, b: int, c: int) -> None:
        """Softmax, its logarithm, or mean 0 and variance 1, along some axes."""
        x = self.pick(a, lambda slot: slot.value.dtype.kind == "f" and slot.value.size > 0)
        if x is None:
            return
        axes = self.some_axes(x.value.ndim, b)
        shifted = x.value - x.value.max(axis=axes, keepdims=True)
        e = self.xp.exp(shifted)
        total = e.sum(axis=axes, keepdims=True)
        centred = x.value - x.value.mean(axis=axes, keepdims=True)
        wide = (centred**2).mean(axis=axes, keepdims=True)
        results = (e / total, shifted - self.xp.log(total), centred / self.xp.sqrt(wide + 0.125))
        self.put(self.settle(results[c % 3]), x.device)

    def smooth(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.dtype.kind == "f")
        if x is not None:
            f = getattr(self.xp, ("tanh", "sin", "arctan", "expm1", "cbrt")[b % 5])
            self.put(self.settle(f(x.value) / 3), x.device)

    def average(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.dtype.kind == "f" and slot.value.size > 0)
        if x is not None:
            axis = None if c % 3 == 0 or x.value.ndim == 0 else c % x.value.ndim
            self.put(getattr(x.value, ("mean", "var", "prod")[b % 3])(axis=axis, keepdims=bool(c % 2)), x.device)

    def random(self, a: int, b: int, c: int) -> None:
        shape, where = self.shapes[a % len(self.shapes)], forerun.cpu(c % 2)
        if b % 3 == 0:
            value = np.random.uniform(-1, 1, shape, device=where)
        elif b % 3 == 1:
            value = np.tanh(np.random.normal(0, 1, shape, dtype="float64", device=where))
        else:
            value = np.random.randint(-30, 31, shape, device=where)
        self.put(value, c % 2)
