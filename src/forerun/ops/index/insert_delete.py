"""Elements put in, taken out and written over; arrays put together from blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    _has_arrays,
    asarray,
    asarray_like_device,
    axis_of,
    cast,
    copy,
    count_of,
    extents_of,
    is_array,
    promote,
)
from .._base.primitive import direct, numpy_when_small
from ..create.fill import _known, zeros
from ..elementwise.select import where
from ..shape.join import _part, concatenate, split
from ..shape.views import broadcast_to, moveaxis, ravel, reshape
from .getitem import _along as _positions_along
from .getitem import _vector, take
from .parser import places_within
from .setitem import fit, fitting, no_scalar, setitem, untaped, values_at, values_for

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "append", "block", "copyto", "delete", "dsplit", "fill_diagonal", "insert", "put", "put_along_axis", "resize",
    "select",
]  # fmt: skip


# --- new arrays -----------------------------------------------------------------------------------


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


def _positions(op: str, obj: ArrayLike, n: int, last: int) -> numpy.ndarray:
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
def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> Array:
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
    return take(x, numpy.delete(numpy.arange(n), gone), a)


@numpy_when_small(numpy.insert, "arr obj values axis", "akni", "biufc")
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Array:
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
        i = obj + n if obj < 0 else obj
        return concatenate([x[_part(a, 0, i)], piece, x[_part(a, i, n)]], a)
    order = numpy.insert(numpy.arange(n), at, n + numpy.arange(count))
    return take(concatenate([x, piece], a), order, a)


def resize(a: ArrayLike, new_shape: int | Sequence[int]) -> Array:
    """Return an array of another shape and size: the elements of `a` as often as it takes; zeros if there are none.

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
    return reshape(take(x, numpy.arange(math.prod(shape)) % x.size), shape)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: object = 0) -> Array:
    """Build an array by taking each element from the first choice whose condition holds, else `default`.

    Parameters
    ----------
    condlist : sequence of arrays
        The conditions.
    choicelist : sequence of arrays
        The values for each condition.
    default : array_like, optional
        The value where no condition holds.

    Returns
    -------
    array
        The selected elements.

    Raises
    ------
    ValueError
        If there is not a choice for each condition.
    TypeError
        If conditions are not of bools.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, 10 * x], -1).tolist()
    [0, 1, -1, -1, 40]
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: there must be a choice for each condition, got {len(choicelist)} for {len(condlist)}"
        )
    result: Any = default
    given = (*condlist, *choicelist, default)
    conditions = [asarray_like_device(c, *given) for c in condlist]
    choices = [c if type(c) in (int, float, complex) else asarray_like_device(c, *given) for c in choicelist]
    arrays = [c for c in choices if is_array(c)]
    dtype = promote(*(c.dtype for c in arrays)) if arrays else None
    for holds, choice in zip(reversed(conditions), reversed(choices)):
        if holds.dtype.kind != "b":
            raise TypeError(f"select: conditions must be of bools, got {holds.dtype}")
        result = where(holds, cast(choice, dtype) if is_array(choice) else choice, result)
    chosen: Array = result
    return chosen


def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> list[Any]:
    """Return views cut along the third axis; as `split`.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.

    Returns
    -------
    list of arrays
        Views cut along the third axis.

    Examples
    --------
    >>> from forerun import np
    >>> [a.shape for a in np.dsplit(np.zeros((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    return split(ary, indices_or_sections, 2)


def _depth(blocks: ArrayLike) -> int:
    """Return how many lists there are around each array. ValueError if not the same for all."""
    if not isinstance(blocks, list):
        return 0
    depths = {_depth(b) for b in blocks}
    if len(depths) != 1:
        raise ValueError("block: lists must not be empty and all of one depth, got " + repr(sorted(depths)))
    return depths.pop() + 1


def block(arrays: Array) -> Array:
    """Return an array from nested lists of blocks.

    Those of the innermost lists stand side by side along the last axis, these rows along the second to last, and so on.

    Parameters
    ----------
    arrays : nested lists of arrays
        Nested lists of arrays.

    Returns
    -------
    array
        An array from nested lists of blocks.

    Raises
    ------
    ValueError
        If lists are empty or not of one depth, or shapes do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> a = np.ones((2, 2), "int64")
    >>> np.block([[a, 0 * a], [5 * a[:1], a[:1]]]).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [5, 5, 1, 1]]
    """
    depth = _depth(arrays)

    def leaves(blocks: ArrayLike) -> list[Any]:
        return (
            [x for b in blocks for x in leaves(b)]
            if isinstance(blocks, list)
            else [asarray_like_device(blocks, arrays)]
        )

    ndim = max(depth, *(x.ndim for x in leaves(arrays)))

    def joined(blocks: ArrayLike, level: int) -> Array:
        if isinstance(blocks, list):
            return concatenate([joined(b, level - 1) for b in blocks], -level)
        x = asarray_like_device(blocks, arrays)
        return reshape(x, (1,) * (ndim - x.ndim) + x.shape)

    return joined(arrays, depth) if depth else copy(asarray(arrays))


# --- in place -------------------------------------------------------------------------------------

_KINDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}  # of arrays that take a Python number


@direct("copyto")
def copyto(dst: Array | numpy.ndarray, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True) -> None:
    """Write values into an array, in place: broadcast, and cast if the rule allows it (TypeError if not).

    Into a NumPy array: waits.

    Parameters
    ----------
    dst : array or ndarray
        The array that is written.
    src : array_like
        The values to write.
    casting : str, optional
        NumPy's rule for casts that are allowed.
    where : array_like, optional
        A mask of the elements to write.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros(3)
    >>> np.copyto(x, [1, 2, 3], where=[True, False, True]); x.tolist()
    [1.0, 0.0, 3.0]
    """
    if not is_array(dst):
        return numpy.copyto(dst, _known(src), casting, where=_known(where))  # type: ignore[arg-type]
    number = type(src) in _KINDS
    value: Any = src if number else asarray(src, device=None if is_array(src) else dst.device)
    if number:
        fits, got = dst.dtype.kind in _KINDS[type(src)], type(src).__name__
    else:
        fits, got = numpy.can_cast(value.dtype, dst.dtype, casting), value.dtype  # type: ignore[arg-type]
    if not fits and casting != "unsafe":
        raise TypeError(f"copyto: casting must be possible by rule {casting!r}, got {got} to {dst.dtype}")
    if where is True:
        return setitem(dst, ..., value)
    untaped("copyto", dst, value)
    mask = broadcast_to(asarray(where, bool, dst.device), dst.shape)
    new = values_for("copyto", dst, value)
    return _core.masked_copy(dst, mask, fitting(new, dst.ndim) if is_array(new) else new, "copyto")


@direct("put")
def put(a: Array | numpy.ndarray, ind: Any, v: ArrayLike, mode: str = "raise") -> None:
    """Write values at positions of the flat array, in place; values start over if there are fewer.

    Values are cast to a's dtype; without any, nothing is written.

    Parameters
    ----------
    a : array or ndarray
        The array that is written.
    ind : array_like
        The positions in the flat array.
    v : array_like
        The values to write.
    mode : str, optional
        The treatment of positions out of range: "raise" (IndexError, where the array is read if positions are a
        forerun array), "clip", "wrap".

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros((2, 2))
    >>> np.put(x, [0, 3], [5, 6]); x.tolist()
    [[5.0, 0.0], [0.0, 6.0]]
    """
    if not is_array(a):
        return numpy.put(a, _known(ind), _known(v), mode)  # type: ignore[arg-type]
    no_scalar("put", a)
    if not _has_arrays(ind) and not isinstance(ind, numpy.ndarray):
        # as NumPy: arguments that are not arrays are cast from any dtype
        ind = ind.astype("int64") if isinstance(ind, numpy.integer) else fit("put", numpy.dtype("int64"), ind)
    if a.size == 0 or ind.dtype == "uint64":  # errors of positions come before those of values
        places_within("put", ind, a.size, mode, a.device, "safe")
    new = flat_values("put", a, v)
    at = ravel(places_within("put", ind, a.size, mode if new.size else "clip", a.device, "safe"))
    untaped("put", a, new)
    if at.size and new.size:
        _core.put(a, at, new)
    return None


def flat_values(op: str, x: Array, values: ArrayLike) -> Array:
    """Return values to be written into x one after the other, as a vector of x's dtype.

    Errors as those of assignment.
    """
    new = values_at(op, x, values)
    return cast(ravel(new), x.dtype) if is_array(new) else _core.full((1,), new, x.dtype, x.device)


def put_along_axis(arr: Array | numpy.ndarray, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """Write values at positions along `axis` that differ from place to place, in place.

    Values are cast to arr's dtype and broadcast. Axis None: into the flat array. Errors as `take_along_axis`;
    ValueError if values do not fit.

    Parameters
    ----------
    arr : array or ndarray
        The array that is written.
    indices : array_like
        The positions along the axis.
    values : array_like
        The values to write.
    axis : int
        The axis; None for the flat array.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[3, 1], [2, 4]])
    >>> np.put_along_axis(x, np.array([[1], [0]]), 9, axis=1); x.tolist()
    [[3, 9], [9, 4]]
    """
    if not is_array(arr):
        return numpy.put_along_axis(arr, _known(indices), _known(values), axis)
    if axis is None:
        return put(arr, _vector("put_along_axis", indices), values)
    untaped("put_along_axis", arr, values)
    at, a = _positions_along("put_along_axis", arr, indices, axis)
    new = values_at("put_along_axis", arr, values)
    new = fitting(cast(new, arr.dtype), at.ndim) if is_array(new) else _core.full((), new, arr.dtype, arr.device)
    return _core.scatter_along(arr, at, a, new)


@direct("fill_diagonal")
def fill_diagonal(a: Array | numpy.ndarray, val: ArrayLike, wrap: bool = False) -> None:
    """Write values on the main diagonal, in place; values start over if there are fewer.

    The axes of an array of more than two must have one extent (ValueError).

    Parameters
    ----------
    a : array or ndarray
        The array that is written.
    val : array_like
        The values to write.
    wrap : bool, optional
        In a matrix with more rows than columns, again below each square.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros((2, 3))
    >>> np.fill_diagonal(x, 7); x.tolist()
    [[7.0, 0.0, 0.0], [0.0, 7.0, 0.0]]
    """
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) != 1):
        raise ValueError(f"fill_diagonal: array must be a matrix or have equal axes, got shape {a.shape}")
    if not is_array(a):
        return numpy.fill_diagonal(a, _known(val), wrap)
    new = flat_values("fill_diagonal", a, val)
    untaped("fill_diagonal", a, new)
    if new.size == 0 or a.size == 0:
        return None
    if wrap and a.ndim == 2 and a.shape[0] > a.shape[1]:
        return _core.put(a, _core.from_numpy(numpy.arange(0, a.size, a.shape[1] + 1), a.device), new)
    n = min(a.shape)
    new = new[:n] if new.size >= n or new.size == 1 else take(new, numpy.arange(n) % new.size)
    return _core.assign(_core.view(a, (n,), (sum(a.strides),)), new)
