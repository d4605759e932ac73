"""A pool of arrays, and the parts common to all steps: pick arrays that fit, put results back, keep numbers small."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy

from stress.fuzz.marked import Poisoned
from stress.fuzz.program import Shape, Step

EXACT_DTYPES = ("float64", "float32", "int64", "int32", "int16", "uint8", "int8", "uint32")
FREE_DTYPES = ("float64", "float32", "int64")
Entry = tuple[Any, ...]


@dataclass
class Slot:
    """An array of the pool, and the number of its device."""

    value: Any
    device: int


class Pool:
    """Arrays that steps change; the language is a subclass with the steps.

    log: the reads of the program, in order. kept: results that no step uses, read at the end.
    """

    def __init__(self, back: Any, shapes: tuple[Shape, ...], exact: bool, room: int) -> None:
        self.back, self.xp = back, back.xp
        self.shapes, self.exact, self.room = shapes, exact, room
        self.dtypes = EXACT_DTYPES if exact else FREE_DTYPES
        self.most = max(map(math.prod, shapes))
        self.pool: list[Slot] = []
        self.kept: deque[Any] = deque(maxlen=24)
        self.log: list[Entry] = []
        self.number = 0  # of the step

    def run(self, steps: Iterable[Step]) -> list[Entry]:
        """Return the reads of the program, then all remaining arrays."""
        with self.back.running():
            self.issue(steps)
        return self.results()

    def issue(self, steps: Iterable[Step]) -> None:
        """Run the steps over a pool of four arrays. Errors of a step's call are logged, and the program continues."""
        for i in range(4):
            self.step(Step("make", i, i, i))
        for self.number, step in enumerate(steps):
            self.step(step)

    def step(self, step: Step) -> None:
        """Runs one step."""
        try:
            getattr(self, step.kind)(step.a, step.b, step.c)
        except Unfit:
            raise
        except Exception as error:
            self.refused(error)
        self.back.after_step()

    def refused(self, error: Exception) -> None:
        """A call has raised."""
        if isinstance(error, Poisoned):
            self.log.append(("raises", error.failures))
        else:
            notes = tuple(getattr(error, "__notes__", ()))
            self.log.append(("refused", type(error).__name__, str(error), notes))

    def results(self) -> list[Entry]:
        """Return the reads, and the remaining arrays."""
        left = [slot.value for slot in self.pool] + list(self.kept)
        return self.log + [self.back.look(value) for value in left]

    # --- picking ---

    def pick(self, n: int, fits: Callable[[Slot], bool] = lambda slot: True) -> Slot | None:
        """The n-th array that fits."""
        found = [slot for slot in self.pool if fits(slot)]
        return found[n % len(found)] if found else None

    def any(self, n: int) -> Slot:
        """The n-th array."""
        return self.pool[n % len(self.pool)]

    def beside(self, other: Slot, x: Slot) -> Any:
        """The other's values in x's dtype and on its device."""
        value = other.value if other.value.dtype == x.value.dtype else self.cast_to(other.value, x.value.dtype)
        return value if other.device == x.device else self.back.move(value, x.device)

    def cast_to(self, x: Any, dtype: Any) -> Any:
        """Numbers from -30 to 30 in another dtype; for unsigned dtypes only positive ones."""
        dtype = numpy.dtype(dtype)
        return (abs(x) if dtype.kind == "u" and x.dtype.kind != "u" else x).astype(dtype)

    def partner(self, x: Slot, n: int, into: bool = False) -> Any:
        """An operand that broadcasts with x; if `into`, to x's shape."""

        def fits(slot: Slot) -> bool:
            try:
                shape = numpy.broadcast_shapes(slot.value.shape, x.value.shape)
            except ValueError:
                return False
            return shape == x.value.shape if into else math.prod(shape) <= self.most

        other = self.pick(n, fits)
        if other is None:
            raise Unfit("x itself fits")
        return self.beside(other, x)

    def scalar(self, x: Any, n: int) -> int:
        """A number that x's dtype can represent."""
        return n % 31 if x.dtype.kind == "u" else n % 61 - 30

    # --- putting back ---

    def put(self, value: Any, device: int) -> None:
        """Put a new array into the pool."""
        self.put_view(self.back.dense(value), device)

    def put_view(self, value: Any, device: int) -> None:
        """Put an array into the pool unchanged."""
        if value.size > self.most:
            return
        if len(self.pool) >= self.room:
            del self.pool[value.size % self.room]
        self.pool.append(Slot(self.back.writable(value), device))

    def settle(self, x: Any) -> Any:
        """Reduce the values to small numbers, without a negative zero."""
        if not self.exact and x.dtype.kind == "f":
            return self.xp.tanh(x)
        return x % 31 if x.dtype.kind == "u" else x % 61 - 30

    def settle_inplace(self, x: Any) -> None:
        """The same in place."""
        if not self.exact and x.dtype.kind == "f":
            self.xp.tanh(x, out=x)
        elif x.dtype.kind == "u":
            x %= 31
        else:
            x %= 61
            x -= 30

    def some_axes(self, ndim: int, n: int) -> Any:
        """None, one axis, or all from one on."""
        if ndim == 0 or n % 4 == 0:
            return None
        return n % ndim if n % 4 < 3 else tuple(range(n % ndim, ndim))


class Unfit(Exception):
    """The language itself is at fault."""
