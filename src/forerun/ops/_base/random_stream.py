"""Streams of random numbers: a seed, and how many operations have drawn from it.

The numbers of an operation are a function of both and of the position, so they are fixed when it is submitted.
There is one stream for all, which `np.random.seed` starts anew, and one in each generator.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy

from ... import _core

if TYPE_CHECKING:
    from ..._runtime.device import Device
    from ...typing import Array, ArrayLike, DTypeLike, Shape


__all__ = ["Stream", "current", "drawing_from", "seed_word"]

_MASK = 2**64 - 1
_ON_HOST = "it draws random numbers on the host"  # and a program would not


class Stream:
    """The seed and number of the stream that all functions of `np.random` share."""

    def take(self) -> tuple[int, int]:
        """Return the seed, and the number of an operation that draws next."""
        return _core.random_seed(), _core.random_key()

    def fill(
        self, kind: str, shape: Shape, dtype: DTypeLike, device: Device | None, low: ArrayLike, high: ArrayLike
    ) -> Array:
        """Submit the filling of an array with numbers of one kind."""
        return _core.random(kind, shape, dtype, device, low, high)

    def generator(self) -> Callable[[], numpy.random.Generator]:
        """Return a maker of NumPy's generator for an operation that draws on the host: its stream is fixed now."""
        seed, number = self.take()
        return lambda: numpy.random.Generator(numpy.random.Philox(key=seed | number << 64))

    def draws(self) -> numpy.random.Generator:
        """Return a generator of NumPy's for draws that are made here and now: another one at each call."""
        return self.generator()()

    def chance(self) -> float:
        """Return a number in [0, 1)."""
        return self.draws().random()


class OwnStream(Stream):
    """A stream of a generator's own. Threads may share it: each operation gets a number of its own."""

    def __init__(self, seed: int, drawn: int = 0) -> None:
        self.seed = seed & _MASK
        self.drawn = drawn  # guarded by lock_
        self.lock_ = threading.Lock()

    def take(self) -> tuple[int, int]:
        """Return the seed, and the number of an operation that draws next."""
        with self.lock_:
            number, self.drawn = self.drawn, self.drawn + 1
        return self.seed, number

    def fill(
        self, kind: str, shape: Shape, dtype: DTypeLike, device: Device | None, low: ArrayLike, high: ArrayLike
    ) -> Array:
        """Submit the filling of an array with numbers of one kind."""
        return _core.random(kind, shape, dtype, device, low, high, self.take())

    def __reduce__(self) -> tuple[Any, tuple[int, int]]:
        return OwnStream, (self.seed, self.drawn)


class WorkStream(OwnStream):
    """A stream for a piece of work that one thread does by itself, such as a batch: it has one generator of NumPy's.

    key: the values from which its seed is made.
    """

    def __init__(self, *key: int) -> None:
        seed = 0
        for number in key:
            seed = _mixed(seed ^ number)
        super().__init__(seed)
        self.draws_: numpy.random.Generator | None = None
        self.chances_: list[float] = []  # drawn ahead

    def draws(self) -> numpy.random.Generator:
        """Return the generator, made at the first call."""
        _core.capture_refuse(_ON_HOST)
        if self.draws_ is None:
            self.draws_ = super().draws()
        return self.draws_

    def chance(self) -> float:
        """Return a number in [0, 1). Many are drawn at once, which is quicker."""
        _core.capture_refuse(_ON_HOST)
        if not self.chances_:
            self.chances_ = self.draws().random(128).tolist()
        return self.chances_.pop()


def seed_word(seed: ArrayLike | None) -> int:
    """Return the 64 bits by which a seed decides the numbers: an integer's lowest, or those of a `SeedSequence`.

    None takes them from the system's randomness.

    >>> seed_word(2**64 + 3), seed_word([3]) == seed_word((3,)), seed_word([3]) == 3
    (3, True, False)
    """
    if seed is None:
        return int.from_bytes(os.urandom(8))
    if isinstance(seed, (int, numpy.integer)):
        return int(seed) & _MASK
    values = seed.numpy() if isinstance(seed, _core.Array) else numpy.asarray(seed)
    if values.size and values.dtype.kind not in "iub":
        raise TypeError(f"seed: seed must be an integer or integers along one axis, got {seed!r}")
    if values.ndim == 0:
        return int(values) & _MASK
    if values.ndim > 1 or not values.size or values.min() < 0:
        raise ValueError(f"seed: integers must be along one axis, some, and not negative, got {seed!r}")
    return int(numpy.random.SeedSequence(values.tolist()).generate_state(1, numpy.uint64)[0])


def _mixed(x: int) -> int:
    """Another number of 64 bits for each: SplitMix64 (Steele, Lea and Flood 2014)."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31


_shared = Stream()
_current: ContextVar[Stream] = ContextVar("stream of random numbers", default=_shared)


def current() -> Stream:
    """Return the stream that functions draw from, here and now.

    >>> isinstance(current(), Stream)
    True
    """
    return _current.get()


@contextmanager
def drawing_from(stream: Stream) -> Iterator[None]:
    """Let functions draw from a stream for the statements of a with block, in this thread.

    >>> with drawing_from(OwnStream(3)):
    ...     current().take()
    (3, 0)
    """
    token = _current.set(stream)
    try:
        yield
    finally:
        _current.reset(token)
