"""New arrays with elements added or left out along an axis, or with as many as another shape has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray, asarray_like_device, axis_of, copy, count_of, extents_of
from .._base.primitive import direct, numpy_when_small
from ..create.arguments import _known
from ..create.fill import zeros
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_to
from ..shape.join import _part, concatenate
from ..shape.reshape import ravel, reshape
from .getitem import take

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["append", "delete", "insert", "resize"]


_FEW = 8  # positions between which the elements are joined, where many would be picked


@direct("append")
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """Return arr with values at its end along `axis`; without an axis, both flat. Dtypes are promoted.

    Parameters
    ----------
    arr : array_like
        The values.
    values : array_like
        The values to append.
    axis : int, optional
        The axis; None for the flat array.

    Returns
    -------
    array
        `arr` with values at its end along `axis`; without an axis, both flat.

    Raises
    ------
    ValueError
        If shapes differ along another axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.append([1, 2], [3]).tolist(), np.append([[1, 2]], [[3, 4]], axis=0).tolist()
    ([1, 2, 3], [[1, 2], [3, 4]])
    """
    return concatenate([arr, values], axis)


def _along(op: str, x: Array, axis: int | None) -> tuple[Any, int]:
    """Return the array to edit, and along which axis: the flat one if none is given."""
    x = asarray(x)
    return (ravel(x), 0) if axis is None else (x, axis_of(op, axis, x.ndim))


def _positions(op: str, obj: ArrayLike | slice, n: int, last: int) -> numpy.ndarray:
    """Return positions that an int, a slice, integers or a mask stand for, up to `last`; the axis has n elements."""
    if isinstance(obj, slice):
        return numpy.arange(n)[obj]
    found = numpy.asarray(_known(obj))
    if found.dtype.kind == "b":
        if found.shape != (n,):
            raise ValueError(f"{op}: mask must have shape {(n,)}, got {found.shape}")
        return numpy.flatnonzero(found)
    if (found.dtype.kind not in "iu" and found.size) or found.ndim > 1:
        raise IndexError(f"{op}: positions must be integers, a slice or a mask, got {obj}")
    if found.size > 1:
        found = found.astype("int64")  # as in NumPy, uint64 wraps but for a single one
    for i in found.reshape(-1).tolist():
        if not -n <= i <= last:
            raise IndexError(f"{op}: index must be in [{-n}, {last}], got {i}")
    return found.astype("int64")


@numpy_when_small(numpy.delete, "arr obj axis", "aki", "biufc")
def delete(arr: ArrayLike, obj: ArrayLike | slice, axis: int | None = None) -> Array:
    """Return arr without the elements at positions along `axis`, or of the flat array.

    Parameters
    ----------
    arr : array_like
        The values.
    obj : int, slice or array_like
        An int, a slice, integers or a mask; if it is an array, this waits for it.
    axis : int, optional
        The axis; None for the flat array.

    Returns
    -------
    array
        `arr` without the elements at positions along `axis`, or of the flat array.

    Raises
    ------
    IndexError
        If a position is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.delete(np.array([5, 6, 7]), 1).tolist()
    [5, 7]
    """
    x, a = _along("delete", asarray_like_device(arr, obj), axis)
    n = x.shape[a]
    if type(obj) is int and -n <= obj < n:
        return concatenate([x[_part(a, 0, obj % n)], x[_part(a, obj % n + 1, n)]], a)
    gone = _positions("delete", obj, n, n - 1)
    if gone.size <= _FEW:
        ends = sorted({int(i) % n for i in gone.flat})
        return concatenate([x[_part(a, i, j)] for i, j in zip([0, *(i + 1 for i in ends)], [*ends, n])], a)
    return take(x, numpy.delete(numpy.arange(n), gone), a)


@numpy_when_small(numpy.insert, "arr obj values axis", "akni", "biufc")
def insert(arr: ArrayLike, obj: ArrayLike | slice, values: ArrayLike, axis: int | None = None) -> Array:
    """Return arr with values before the elements at positions along `axis`, or of the flat array.

    Values are cast to arr's dtype and broadcast.

    Parameters
    ----------
    arr : array_like
        The values.
    obj : int, slice or array_like
        An int, a slice, integers or a mask; if it is an array, this waits for it.
    values : array_like
        The values to insert.
    axis : int, optional
        The axis; None for the flat array.

    Returns
    -------
    array
        `arr` with values before the elements at positions along `axis`, or of the flat array.

    Raises
    ------
    IndexError
        If a position is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.insert(np.array([5, 7]), 1, 6).tolist()
    [5, 6, 7]
    """
    x, a = _along("insert", asarray_like_device(arr, obj, values), axis)
    n = x.shape[a]
    if type(obj) is int and type(values) is float and x.ndim == 1 and x.dtype.kind == "f" and -n <= obj <= n:
        return concatenate([x[:obj], asarray([values], x.dtype, x.device), x[obj + n * (obj < 0) :]])
    at = _positions("insert", obj, n, n)
    new = asarray(values, x.dtype, x.device)
    count = at.size
    one = type(obj) is int
    if at.size == 1:
        new = reshape(new, (1,) * (x.ndim - new.ndim) + new.shape)
        new = moveaxis(new, 0, a) if at.ndim == 0 else new
        count = new.shape[a]
    piece = broadcast_to(new, (*x.shape[:a], count, *x.shape[a + 1 :]))
    if one:
        i: int = obj + n if obj < 0 else obj  # type: ignore[operator,assignment]
        return concatenate([x[_part(a, 0, i)], piece, x[_part(a, i, n)]], a)
    order = numpy.insert(numpy.arange(n), at, n + numpy.arange(count))
    return take(concatenate([x, piece], a), order, a)


def resize(a: ArrayLike, new_shape: int | Sequence[int]) -> Array:
    """Return an array of another shape and size: the elements of `a`, repeated as often as needed; zeros if `a` is
    empty.

    In `a`'s dtype.

    Parameters
    ----------
    a : array_like
        The values.
    new_shape : int or tuple of ints
        The new shape.

    Returns
    -------
    array
        An array of another shape and size.

    Raises
    ------
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.resize([1, 2, 3], (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    x = ravel(asarray(a))
    shape = tuple(count_of("resize", "extents", n) for n in extents_of("resize", "new_shape", new_shape))
    if x.size == 0:
        return zeros(shape, x.dtype, device=x.device)
    whole, rest = divmod(math.prod(shape), x.size)
    copies = [reshape(copy(broadcast_to(x, (whole, x.size))), -1)] if whole > 1 else [x] * whole
    return reshape(concatenate([*copies, x[:rest]]), shape)
