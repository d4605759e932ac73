"""Calls of the engine itself: barriers, pace, settings in the middle, captured calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stress.fuzz.pool import Pool


class Control(Pool):
    """Steps that change when operations run, never their results."""

    def barrier(self, a: int, b: int, c: int) -> None:
        if b % 3 == 0:
            self.back.barrier()

    def settings(self, a: int, b: int, c: int) -> None:
        if b % 3 == 0:
            self.back.settings(c)

    def paced(self, a: int, b: int, c: int) -> None:
        x = self.any(a)
        total = self.back.writable(x.value * 1)
        with self.back.reading():
            for i in self.back.pace(range(2 + b % 4), c % 3):
                total += i
                self.settle_inplace(total)
        self.put(total, x.device)

    def recorded(self, a: int, b: int, c: int) -> None:
        """A function whose calls are recorded once; shapes and dtypes differ from call to call."""
        x = self.any(a)
        y = self.partner(x, b, into=True)
        result = self.function(c % 4)(x.value, y)
        self.put(self.settle(result), x.device)

    def recorded_twice(self, a: int, b: int, c: int) -> None:
        """The second call with the first one's result, where it fits."""
        x = self.any(a)
        y = self.partner(x, b, into=True)
        f = self.function(c % 4)
        first = self.settle(f(x.value, y))
        if first.shape == x.value.shape and first.dtype == x.value.dtype:
            self.put(self.settle(f(first, y)), x.device)

    def function(self, n: int) -> Callable[[Any, Any], Any]:
        """One of a few functions, recorded once per program."""
        made: dict[int, Any] = self.__dict__.setdefault("functions", {})
        if n not in made:
            made[n] = self.back.hybrid((self.polynomial, self.reduced, self.rewritten, self.viewed)[n])
        return made[n]

    def polynomial(self, x: Any, y: Any) -> Any:
        """Element-wise."""
        return x * y + x - y * 2

    def reduced(self, x: Any, y: Any) -> Any:
        """With a reduction that is used again."""
        return (x - y).sum() + x * 2

    def rewritten(self, x: Any, y: Any) -> Any:
        """With a result that changes in place."""
        z = x * 2
        z += y
        if not z.ndim:
            return z * 3 - 1  # a scalar, which is not written to
        z[...] = z * 3 - 1
        return z

    def viewed(self, x: Any, y: Any) -> Any:
        """Through views."""
        z = (x + y).reshape(-1)
        z[::2] += 1
        return z[::-1].reshape(x.shape).T
