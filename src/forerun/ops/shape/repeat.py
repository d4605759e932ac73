"""Arrays made larger from copies of their elements: each of them several times, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, copy, counts_of
from .._base.primitive import numpy_when_small
from .broadcast import broadcast_to
from .join import concatenate
from .reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["repeat", "tile"]


@numpy_when_small(numpy.ndarray.repeat, "a repeats axis", "aci", "biufc")
def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> Array:
    """Repeat each element along `axis`; without an axis, of the flat array.

    Parameters
    ----------
    a : array_like
        The values.
    repeats : array_like
        One number, or one for each position along the axis.
    axis : int, optional
        The axis; None for the flat array.

    Returns
    -------
    array
        The repeated elements.

    Raises
    ------
    ValueError
        If a number of repeats is negative, or their count does not fit the axis.
    TypeError
        If repeats are not integers.

    Examples
    --------
    >>> from forerun import np
    >>> np.repeat([1, 2], 2).tolist(), np.repeat([1, 2], [1, 3]).tolist()
    ([1, 1, 2, 2], [1, 2, 2, 2])
    """
    x = asarray(a)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        return repeat(reshape(x, -1), repeats, 0)
    a = axis_of("repeat", axis, x.ndim)
    if type(repeats) is int and repeats >= 0:
        return _repeated(x, repeats, a)
    counts = counts_of("repeat", "repeats", repeats, (x.shape[a],))
    if x.device.device_type == "cpu" and x.size and not (_core.recording() or _core.tracing()):
        few = x.ready and x.dtype.kind in "biufc" and x.size * int(counts.max()) <= _PIECE
        return _core.taken(numpy.repeat(x.numpy(), counts, a), x.device) if few else _repeated_by_counts(x, counts, a)
    index = numpy.repeat(numpy.arange(x.shape[a]), counts)
    return x[(*(slice(None),) * a, index)]


def _repeated(x: Array, times: int, axis: int) -> Array:
    """Each element so many times along an axis, from a view that repeats them."""
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    view = broadcast_to(reshape(x, (*before, n, 1, *after)), (*before, n, times, *after))
    return reshape(copy(view), (*before, n * times, *after))


def _repeated_by_counts(x: Array, counts: numpy.ndarray, axis: int) -> Array:
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    rows = reshape(x, (prod(before), n, prod(after)))
    if counts.sum(dtype="float64") >= 2**62:
        raise ValueError(f"repeat: repeats must have a sum below 2**62, got {counts}")
    piece = max(1, _PIECE // rows.shape[2])
    sums = numpy.add.reduceat(counts, numpy.arange(0, n, piece)).cumsum()
    found = _core.repeat(rows, asarray(counts, device=x.device), [0, *sums.tolist()], piece)
    return reshape(found, (*before, found.shape[1], *after))


_PIECE = 4096  # elements that one thread repeats at once
_FEW_TIMES = 8  # that an operation is given the same array


@numpy_when_small(numpy.tile, "A reps", "ac", "biufc")
def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """Return the whole array several times along each axis; missing axes are added in front.

    Parameters
    ----------
    A : array_like
        The values.
    reps : int or Sequence
        The number of repetitions along each axis.

    Returns
    -------
    array
        The whole array several times along each axis.

    Raises
    ------
    ValueError
        If a number of times is negative.
    TypeError
        If a number of times is not an integer.

    Examples
    --------
    >>> from forerun import np
    >>> np.tile([1, 2], (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = asarray(A)
    if type(reps) is int and 0 < reps <= _FEW_TIMES and x.ndim == 1 and x.size:
        return concatenate([x] * reps)
    given = numpy.atleast_1d(numpy.asarray(reps))
    counts = tuple(counts_of("tile", "reps", reps, given.shape).tolist())
    n = max(x.ndim, len(counts))
    shape = (1,) * (n - x.ndim) + x.shape
    counts = (1,) * (n - len(counts)) + counts
    inner = tuple(v for s in shape for v in (1, s))
    outer = tuple(v for s, c in zip(shape, counts) for v in (c, s))
    repeated = broadcast_to(reshape(x, inner), outer)  # a view, which must not be written: its elements repeat
    return reshape(copy(repeated), tuple(s * c for s, c in zip(shape, counts)))
