"""Memory for batches: NumPy's arrays that become arrays of forerun without a copy.

In a worker process this is memory that the consumer sees, too; otherwise it is memory of NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import numpy

from ... import np
from ...ops._base.convert import default_float, ints_become_floats, is_supported

if TYPE_CHECKING:
    from ...typing import Array, DTypeLike


__all__ = ["empty", "placed", "is_placed", "adopted", "created"]

Allocate = Callable[[int], memoryview | None]
_place: ContextVar[Allocate | None] = ContextVar("where batches are put", default=None)


@contextmanager
def placed(place: Allocate) -> Iterator[None]:
    """Lets `empty` ask for memory there, for the statements of a with block."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def is_placed() -> bool:
    """Return whether batches are put where another process sees them: there all examples are copied."""
    return _place.get() is not None


def empty(shape: Sequence[int], dtype: DTypeLike) -> numpy.ndarray:
    """Return an array of NumPy's for a batch, with any values.

    >>> empty((2, 3), "int8").shape
    (2, 3)
    """
    dtype, place = numpy.dtype(dtype), _place.get()
    buffer = place(math.prod(shape) * dtype.itemsize) if place is not None else None
    if buffer is None:
        return numpy.empty(shape, dtype)
    return numpy.frombuffer(buffer, dtype).reshape(shape)


def created(dtype: DTypeLike) -> numpy.dtype:
    """Return the dtype that `np.array` gives values of NumPy's: theirs, but float64 may be narrowed by `npx.set_np`."""
    dtype = numpy.dtype(dtype)
    return default_float() if dtype == numpy.float64 and ints_become_floats() else dtype


def adopted(values: numpy.ndarray) -> Array:
    """Return values that will not change as an array of forerun; without a copy if their dtype may stay.

    >>> adopted(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    dtype = values.dtype
    if dtype.kind == "V" or not (is_supported(dtype) and dtype.isnative and dtype == created(dtype)):
        return np.array(values)
    return np.from_dlpack(values)
