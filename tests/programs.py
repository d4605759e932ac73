"""Random array programs, and an interpreter that runs them in order: over NumPy, or over forerun.

A step holds a kind and three numbers. Which arrays of the pool it means follows from their shapes, dtypes and devices,
so any list of steps is a program, and means the same to both back ends.

`exact` programs hold small whole numbers in arrays of every dtype, so that sums and products are exact in any order and
must equal NumPy's to the last bit. The others use functions whose last bits are each library's own, and random numbers;
they are compared with forerun's synchronous engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy

import forerun
from conftest import closed_gate
from forerun import np
from forerun.config import _apply as put_back

Shape = tuple[int, ...]
Snapshot = tuple[Shape, str, bytes]

SMALL: tuple[Shape, ...] = ((), (1,), (5,), (0,), (3, 4), (4, 3), (2, 3, 4), (3, 1), (12,))
LARGE: tuple[Shape, ...] = ((200,), (200, 150), (150, 200), (20, 25, 30), (1, 150), (30_000,), (200, 1))
EXACT_DTYPES = ("float64", "float32", "int64", "int32")
FREE_DTYPES = ("float64", "float32", "int64")


@dataclass(frozen=True)
class Step:
    """What to do, and three numbers that say with what."""

    kind: str
    a: int
    b: int
    c: int


@dataclass
class Slot:
    """An array of the pool, and the number of its device."""

    value: Any
    device: int


class InOrder:
    """NumPy, one step after the other."""

    xp = numpy

    def array(self, values: numpy.ndarray, device: int) -> Any:
        return values.copy()

    def dense(self, x: Any) -> Any:
        """Numbers become arrays; results are in C order, as forerun's: that decides whether a later reshape copies."""
        return numpy.asarray(x, order="C")

    def move(self, x: Any, device: int) -> Any:
        return x.copy()

    def values(self, x: Any) -> numpy.ndarray:
        return numpy.asarray(x)


class RunningAhead:
    """forerun, on two logical devices."""

    xp = np

    def array(self, values: numpy.ndarray, device: int) -> Any:
        return np.array(values, device=forerun.cpu(device))

    def dense(self, x: Any) -> Any:
        return x

    def move(self, x: Any, device: int) -> Any:
        return x.copyto(forerun.cpu(device))

    def values(self, x: Any) -> numpy.ndarray:
        return x.asnumpy()


class Machine:
    """Runs steps over a pool of arrays. `log` has what the program has read."""

    def __init__(self, back: Any, shapes: tuple[Shape, ...], exact: bool, room: int) -> None:
        self.back, self.xp = back, back.xp
        self.shapes, self.exact, self.room = shapes, exact, room
        self.dtypes = EXACT_DTYPES if exact else FREE_DTYPES
        self.most = max(map(math.prod, shapes))
        self.pool: list[Slot] = []
        self.log: list[Snapshot] = []

    def run(self, steps: Iterable[Step]) -> list[Snapshot]:
        """What the program read on its way, then every array that is left."""
        self.issue(steps)
        return self.results()

    def issue(self, steps: Iterable[Step]) -> None:
        for i in range(4):
            self.make(i, i, i)
        for step in steps:
            getattr(self, step.kind)(step.a, step.b, step.c)

    def results(self) -> list[Snapshot]:
        return self.log + [self.snapshot(slot) for slot in self.pool]

    # --- the pool ---

    def snapshot(self, slot: Slot) -> Snapshot:
        values = self.back.values(slot.value)
        return values.shape, values.dtype.str, values.tobytes()

    def pick(self, n: int, fits: Callable[[Slot], bool] = lambda slot: True) -> Slot | None:
        found = [slot for slot in self.pool if fits(slot)]
        return found[n % len(found)] if found else None

    def put(self, value: Any, device: int) -> None:
        """A new array into the pool."""
        self.put_view(self.back.dense(value), device)

    def put_view(self, value: Any, device: int) -> None:
        if value.size > self.most:
            return
        if len(self.pool) >= self.room:
            del self.pool[value.size % self.room]
        self.pool.append(Slot(value, device))

    def beside(self, other: Slot, x: Slot) -> Any:
        """The other's values in x's dtype and on its device."""
        value = other.value if other.value.dtype == x.value.dtype else other.value.astype(x.value.dtype)
        return value if other.device == x.device else self.back.move(value, x.device)

    def partner(self, x: Slot, n: int, into: bool = False) -> Any:
        """An operand that broadcasts with x; if `into`, to x's shape."""

        def fits(slot: Slot) -> bool:
            try:
                shape = numpy.broadcast_shapes(slot.value.shape, x.value.shape)
            except ValueError:
                return False
            return shape == x.value.shape if into else math.prod(shape) <= self.most

        other = self.pick(n, fits)
        assert other is not None  # x itself fits
        return self.beside(other, x)

    def settle(self, x: Any) -> Any:
        """Back to small numbers, without a negative zero."""
        if not self.exact and x.dtype.kind == "f":
            return self.xp.tanh(x)
        return x % 61 - 30

    def settle_inplace(self, x: Any) -> None:
        if not self.exact and x.dtype.kind == "f":
            self.xp.tanh(x, out=x)
            return
        x %= 61
        x -= 30

    # --- steps: new arrays ---

    def make(self, a: int, b: int, c: int) -> None:
        shape, dtype = self.shapes[a % len(self.shapes)], self.dtypes[b % len(self.dtypes)]
        values = numpy.random.default_rng(c).integers(-30, 31, shape)
        if not self.exact and dtype != "int64":
            values = values / 31
        self.put(self.back.array(numpy.asarray(values, dtype), (a + b + c) % 2), (a + b + c) % 2)

    def fill(self, a: int, b: int, c: int) -> None:
        x = self.pick(a)
        if x is not None:
            self.put(self.xp.full_like(x.value, b % 61 - 30), x.device)

    def drop(self, a: int, b: int, c: int) -> None:
        if len(self.pool) > 2:
            del self.pool[a % len(self.pool)]

    def read(self, a: int, b: int, c: int) -> None:
        if b % 4 == 0:  # seldom, so that much piles up between two reads
            self.log.append(self.snapshot(self.pool[a % len(self.pool)]))

    def move(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        self.put(self.back.move(x.value, 1 - x.device), 1 - x.device)

    def copy(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        self.put(x.value.copy(), x.device)

    def cast(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        self.put(x.value.astype(self.dtypes[b % len(self.dtypes)]), x.device)

    # --- element-wise ---

    def binary(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        names = ("add", "subtract", "multiply", "maximum", "minimum")
        f = getattr(self.xp, names[c % len(names)])
        self.put(self.settle(f(x.value, self.partner(x, b))), x.device)

    def unary(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        f = getattr(self.xp, ("negative", "abs", "square", "sign")[b % 4])
        self.put(self.settle(f(x.value)), x.device)

    def chain(self, a: int, b: int, c: int) -> None:
        """Several element-wise ops whose intermediates nobody holds."""
        x = self.pool[a % len(self.pool)]
        y = self.partner(x, b)
        z = x.value
        for i in range(2 + c % 4):
            z = self.settle(z * y + i)
        self.put(z, x.device)

    def choose(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        y, z = self.partner(x, b), self.partner(x, c)
        if math.prod(numpy.broadcast_shapes(x.value.shape, y.shape)) <= self.most and y.shape == z.shape:
            self.put(self.xp.where(x.value > y, x.value, z), x.device)

    # --- in place ---

    def update(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        y, target = self.partner(x, b, into=True), x.value
        if c % 3 == 0:
            target += y
        elif c % 3 == 1:
            target -= y
        else:
            target *= y
        self.settle_inplace(target)

    def overlap(self, a: int, b: int, c: int) -> None:
        """x[1:] += x[:-1], and its like."""
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
        x = self.pool[a % len(self.pool)]
        if c % 2 and x.value.ndim and x.value.shape[0] > 1:
            x.value[c % x.value.shape[0]] = c % 61 - 30
        else:
            x.value[...] = self.partner(x, b, into=True)

    def out(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        target = self.pick(c, lambda s: s.value.shape == x.value.shape and s.value.dtype == x.value.dtype)
        assert target is not None  # x itself
        y = self.partner(x, b, into=True)
        if target.device == x.device:
            self.xp.subtract(x.value, y, out=target.value)
            self.settle_inplace(target.value)

    def scatter(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.size > 0)
        if x is not None:
            index = self.index(x, b)
            x.value[index] = self.settle(x.value[: index.shape[0]][::-1][:1] + c % 7)

    # --- views ---

    def slices(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is not None:
            cut = (slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(1, 3))[b % 5]
            self.put_view(x.value[(slice(None),) * (c % x.value.ndim) + (cut,)], x.device)

    def element(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0 and slot.value.shape[0] > 0)
        if x is not None:
            self.put_view(x.value[b % x.value.shape[0], ...], x.device)

    def transpose(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        n = x.value.ndim
        self.put_view(x.value.transpose([(i + 1 + b) % n for i in range(n)]) if b % 2 else x.value.T, x.device)

    def reshape(self, a: int, b: int, c: int) -> None:
        x = self.pool[a % len(self.pool)]
        fitting = [s for s in (*self.shapes, (x.value.size,)) if math.prod(s) == x.value.size]
        self.put_view(x.value.reshape(fitting[b % len(fitting)]), x.device)

    # --- moves and joins ---

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

    def concatenate(self, a: int, b: int, c: int) -> None:
        x = self.pick(a, lambda slot: slot.value.ndim > 0)
        if x is None:
            return
        n = c % x.value.ndim
        rest = x.value.shape[:n] + x.value.shape[n + 1 :]
        y = self.pick(b, lambda s: s.value.ndim > n and s.value.shape[:n] + s.value.shape[n + 1 :] == rest)
        assert y is not None  # x itself
        self.put(self.xp.concatenate([x.value, self.beside(y, x), x.value], axis=n), x.device)

    # --- reductions and products ---

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
        if y is not None:
            self.put(self.settle(x.value @ self.beside(y, x)), x.device)

    # --- strings of ops that a planner likes to join ---

    def along(self, a: int, b: int, c: int) -> None:
        """x less its greatest values along some axes, scaled by their neighbours; those may be kept."""
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
        """Reductions of one value, and ops with what they give."""
        x = self.pick(a, lambda slot: slot.value.size > 0)
        if x is None:
            return
        far, axes = x.value * 2 - 1, self.some_axes(x.value.ndim, b)
        total, least = far.sum(axis=axes), far.min(axis=axes)
        self.put(self.settle(total - least * 3), x.device)
        if c % 2:
            self.put(self.settle(abs(total) + 1), x.device)

    def several(self, a: int, b: int, c: int) -> None:
        """Functions with two results, of which some are thrown away."""
        x = self.pool[a % len(self.pool)]
        f = ("divmod", "modf", "frexp")[b % 3] if x.value.dtype.kind == "f" else "divmod"
        y = x.value * 3 + 1
        first, second = self.xp.divmod(y, 7) if f == "divmod" else getattr(self.xp, f)(y)
        if c % 3:
            self.put(self.settle(first + 1), x.device)
        if c % 3 != 1:
            self.put(self.settle(second * 2), x.device)

    def mixed(self, a: int, b: int, c: int) -> None:
        """Casts on the way, and conditions."""
        x = self.pool[a % len(self.pool)]
        others = ("float64", "int16", "float32", "int64", "float16", "int8", "bool")
        y = (x.value + 1).astype(others[b % len(others)])
        z = self.xp.where(y > 0, x.value, x.value * 2)
        self.put(self.settle(z - 1), x.device)
        if c % 3 == 0:
            self.put(((y == 1) | (z < 0)).astype(x.value.dtype), x.device)

    def replaced(self, a: int, b: int, c: int) -> None:
        """t = 2x, then x changes, then both are read."""
        x = self.pool[a % len(self.pool)]
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
        """What nobody will read, beside what somebody will."""
        x = self.pool[a % len(self.pool)]
        y = x.value + 1
        z = y * 2
        for _ in range(b % 4):
            z = z - x.value
        if c % 2:
            self.put(self.settle(y), x.device)

    def some_axes(self, ndim: int, n: int) -> Any:
        """None, one axis, or all from one on."""
        if ndim == 0 or n % 4 == 0:
            return None
        return n % ndim if n % 4 < 3 else tuple(range(n % ndim, ndim))

    # --- only in programs that are not exact ---

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


EXACT_KINDS = (
    "make", "fill", "drop", "read", "move", "copy", "cast", "binary", "unary", "chain", "choose", "update",
    "overlap", "assign", "out", "scatter", "slices", "element", "transpose", "reshape", "gather",
    "concatenate", "reduce", "scan", "sort", "product",
)  # fmt: skip
FREE_KINDS = (*EXACT_KINDS, "smooth", "average", "random")
FUSED_EXACT = ("along", "sums", "several", "mixed", "replaced", "through", "wasted")
FUSED_KINDS = (*FUSED_EXACT, "normalised")


def in_order(steps: Iterable[Step], shapes: tuple[Shape, ...] = SMALL, room: int = 12) -> list[Snapshot]:
    """What an exact program reads if NumPy runs it."""
    return Machine(InOrder(), shapes, True, room).run(steps)


def running_ahead(
    steps: Iterable[Step], shapes: tuple[Shape, ...] = SMALL, exact: bool = True, room: int = 12
) -> list[Snapshot]:
    """What a program reads if forerun runs it, on two devices."""
    np.random.seed(7)
    return Machine(RunningAhead(), shapes, exact, room).run(steps)


def all_at_once(
    steps: Iterable[Step], shapes: tuple[Shape, ...] = SMALL, exact: bool = True, room: int = 12
) -> list[Snapshot]:
    """The same if nothing starts before all is issued. No step may read."""
    np.random.seed(7)
    machine = Machine(RunningAhead(), shapes, exact, room)
    with closed_gate():
        machine.issue(steps)
    return machine.results()


def seeded(kinds: tuple[str, ...], n: int, seed: int) -> list[Step]:
    """A program of n steps that the seed decides."""
    rng = numpy.random.default_rng(seed)
    likely = ("make", "make", "make", *kinds)  # cuts and reductions make arrays smaller
    names = [likely[i] for i in rng.integers(len(likely), size=n)]
    return [Step(name, *map(int, row)) for name, row in zip(names, rng.integers(10_000, size=(n, 3)))]


@contextmanager
def configured(**settings: Any) -> Iterator[None]:
    """The engine with other settings for a while."""
    before = forerun.config()
    forerun.configure(**settings)
    try:
        yield
    finally:
        put_back(before)
