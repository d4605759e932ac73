"""Rows of the table of cases: an op, sample arguments, a reference, accepted arguments, its gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

import forerun
import forerun.np
import forerun.npx
from forerun import _core

DTYPES = {
    "b": ["bool"],
    "i": ["int8", "int16", "int32", "int64"],
    "u": ["uint8", "uint16", "uint32", "uint64"],
    "h": ["float16"],
    "f": ["float32", "float64"],
    "c": ["complex64", "complex128"],
}
ALL = "biuhfc"
EVERY_DTYPE = [numpy.dtype(name) for names in DTYPES.values() for name in names]

ZERO = "zero"  # the op is piecewise constant: nothing flows back
NONE = "none"  # the op has no gradient, and says so


class Options(dict[str, Any]):
    """Keyword arguments, as the last of a sample's arguments."""


@dataclass
class Draw:
    """Makes arrays of one dtype, with values between `low` and `high`, for samples."""

    rng: numpy.random.Generator
    dtype: numpy.dtype
    low: float = -2.0
    high: float = 2.0

    def __call__(self, *shape: int, low: float | None = None, high: float | None = None) -> numpy.ndarray:
        """An array of the dtype; whole numbers where it has no others, from a wider range."""
        low, high = self.low if low is None else low, self.high if high is None else high
        kind = self.dtype.kind
        if kind == "b":
            return self.rng.random(shape) < 0.5
        if kind in "iu":
            least = 0 if kind == "u" and low < 0 else int(numpy.floor(4 * low))
            return self.rng.integers(least, max(least + 2, int(4 * high) + 1), shape).astype(self.dtype)
        values = self.rng.uniform(low, high, shape)
        if kind == "c":
            values = values + 1j * self.rng.uniform(low, high, shape)
        return numpy.asarray(values).astype(self.dtype)

    def index(self, n: int, *shape: int, dtype: str = "int64") -> numpy.ndarray:
        """Positions along an axis of extent n, negative ones too."""
        return self.rng.integers(-n, n, shape).astype(dtype)

    def order(self, *shape: int) -> numpy.ndarray:
        """Different numbers, far from each other: 0, 1, 2, ... in random order, with a fraction."""
        n = int(numpy.prod(shape))
        values = self.rng.permutation(n) - n // 3
        return (values * (0.25 if self.dtype.kind in "fc" else 1)).reshape(shape).astype(self.dtype)

    def ones(self, *shape: int) -> numpy.ndarray:
        """True and false in random places."""
        return self.rng.random(shape) < 0.5

    def regular(self, n: int, *lead: int) -> numpy.ndarray:
        """Square matrices that are far from singular."""
        return (self(*lead, n, n) + 6 * numpy.eye(n)).astype(self.dtype)

    def positive(self, n: int, *lead: int) -> numpy.ndarray:
        """Symmetric (Hermitian) matrices with positive eigenvalues."""
        x = self.regular(n, *lead)
        return (x @ numpy.conjugate(numpy.swapaxes(x, -1, -2))).astype(self.dtype)


Sample = Callable[[Draw], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A row. `tolerance` counts roundings of the result's dtype; 0 means the reference's bits.

    waits: the op has to know values before it can return. random: the values are the seed's, not a
    reference's. in_place: the result is the first argument.
    """

    name: str
    samples: tuple[Sample, ...]
    reference: Callable[..., Any] | None
    dtypes: str
    grad: tuple[int, ...] | str | None
    tolerance: float
    low: float
    high: float
    waits: bool
    random: bool
    in_place: bool

    @property
    def op(self) -> Any:
        """The function of that name in forerun."""
        return named(forerun, self.name)

    def __call__(self, function: Any, args: tuple[Any, ...]) -> list[Any]:
        """Return the results of a function (the op or the reference) for a sample's arguments, as a flat list."""
        value = call_with_sample(function, args)
        return results(args[0] if self.in_place else value)

    def dtype_list(self) -> list[numpy.dtype]:
        """The dtypes that the op is tried with."""
        return [numpy.dtype(name) for letter in self.dtypes for name in DTYPES[letter]]

    def draw(self, dtype: Any, seed: int = 0) -> Draw:
        """A source of arguments; the same ones each time."""
        return Draw(numpy.random.default_rng(seed), numpy.dtype(dtype), self.low, self.high)

    def arguments(self, dtype: Any) -> list[tuple[Any, ...]]:
        """NumPy arguments, one tuple per sample."""
        return [sample(self.draw(dtype, i)) for i, sample in enumerate(self.samples)]


def row(
    name: str,
    *samples: Sample,
    reference: Any = "numpy",
    dtypes: str = "f",
    grad: tuple[int, ...] | str | None = None,
    tolerance: float = 0,
    low: float = -2.0,
    high: float = 2.0,
    waits: bool = False,
    random: bool = False,
    in_place: bool = False,
) -> Case:
    """A row; the reference is NumPy's function of the same name unless another one is given."""
    if isinstance(reference, str):
        reference = None if random else named(numpy, name.removeprefix("np."))
    return Case(name, samples, reference, dtypes, grad, tolerance, low, high, waits, random, in_place)


def named(module: Any, path: str) -> Any:
    """Return the object at a dotted path."""
    for part in path.split("."):
        module = getattr(module, part)
    return module


def call_with_sample(function: Any, args: tuple[Any, ...]) -> Any:
    """Calls with a sample's arguments, which may end with keyword arguments."""
    if args and isinstance(args[-1], Options):
        return function(*args[:-1], **args[-1])
    return function(*args)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The arguments with a function applied to each array, in lists and options too."""
    if isinstance(value, (numpy.ndarray, _core.Array)):
        return function(value)
    if isinstance(value, Options):
        return Options({k: mapped(function, v) for k, v in value.items()})
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, v) for v in value)
    return value


def arrays_of(args: Any) -> list[Any]:
    """The arrays among arguments, in lists and options too."""
    found: list[Any] = []
    mapped(found.append, args)
    return found


def to_forerun(args: Any) -> Any:
    """The arguments with forerun's arrays in place of NumPy's."""
    return mapped(
        lambda a: a if isinstance(a, _core.Array) else _core.from_numpy(a, forerun.current_device().index), args
    )


def results(value: Any) -> list[Any]:
    """Return the results of an op as a flat list of arrays (and other returned values)."""
    if isinstance(value, (list, tuple)):
        return [r for v in value for r in results(v)]
    return [value]
