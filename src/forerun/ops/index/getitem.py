"""Indexing: basic views, integer and boolean arrays, mixed; take and relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, asarray, asarray_like_device, axis_of, cast, default_float, is_array, write_out
from .._base.primitive import numpy_when_small, primitive
from ..elementwise.select import nonzero, not_zero, where
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape
from .parser import Key, check_range, entries_of, in_64_bits, is_basic, places_within

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike, Out

__all__ = [
    "take", "take_along_axis", "argwhere", "flatnonzero", "compress", "one_hot",
]  # fmt: skip


# --- views ----------------------------------------------------------------------------------------


@primitive(lambda g, index: getitem(g, index), op="getitem.backward")
def _embed(g: Array, shape: tuple[int, ...], index: Array) -> Array:
    """Return zeros of `shape` with g at a basic index."""
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.assign(_core.getitem(full, index), g)
    return full


def _view_gradient(g: Array, shape: tuple[int, ...], index: Array) -> Any:
    """Return g and its index for the backward pass to add in place, or an array of x's shape while recording."""
    return _embed(g, shape, index) if _core.recording() else (g, index)


@primitive(_view_gradient, op="getitem")
def _view(x: Array, index: ArrayLike) -> Array:
    return _core.read(x, index)


# --- integer arrays -------------------------------------------------------------------------------


@primitive(lambda g, shape, indices, axis: _scatter_zeros(g, shape, indices, axis), op="take")
def _gather(x: Array, indices: list[Any], axis: int, op_name: str = "take") -> Array:
    return _core.gather(x, indices, axis, op_name)


@primitive(lambda g, indices, axis: _gather(g, indices, axis), op="take.backward")
def _scatter_zeros(g: Array, shape: tuple[int, ...], indices: list[Any], axis: int) -> Array:
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.scatter(full, indices, axis, g, True)
    return full


def getitem(x: Array, index: Any) -> Array:
    """Return x[index]: a view for ints, slices, None and Ellipsis; a new array for arrays of positions.

    A scalar, with a copy of the element, where integers alone name one.

    Masks wait for their values. Errors as in NumPy; an index that only the computation sees is checked there.
    """
    if is_basic(index):
        return _view(x, index)
    wide = in_64_bits(index)
    if wide is not index:
        return x[wide]
    key = Key("getitem", x, entries_of("getitem", index, x.device))
    v = key.view(x)
    return _gather(v, key.positions(v), key.axis) if key.arrays else v


# --- functions ------------------------------------------------------------------------------------


def _plain_positions(x: Any, indices: Any) -> TypeGuard[Array]:
    """Whether x is a vector and indices are an array of positions in it: then the result is `x[indices]`."""
    plain = is_array(x) and is_array(indices) and x.ndim == 1 and indices.ndim and x.size and indices.size
    return bool(plain) and indices.dtype == numpy.int64 and x.device == indices.device


def _plain_mask(x: Any, mask: Any) -> TypeGuard[Array]:
    """Return whether x is a vector and mask an array of bools for its elements."""
    plain = is_array(x) and is_array(mask) and x.ndim == 1 and mask.shape == x.shape and x.size
    return bool(plain) and mask.dtype == numpy.bool_ and x.device == mask.device


@numpy_when_small(numpy.ndarray.take, "a indices axis out mode", "wai-s", "biufc")
def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: Out = None, mode: str = "raise") -> Array:
    """Return elements at integer positions along `axis`, or of the flat array. indices may have any shape.

    Parameters
    ----------
    a : array_like
        The values.
    indices : array_like
        The positions.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    mode : str, optional
        The treatment of positions out of range: "raise" (IndexError, where the result is read if positions are a
        forerun array), "clip", "wrap".

    Returns
    -------
    array
        Elements at integer positions along `axis`.

    Raises
    ------
    TypeError
        If positions are not integers.
    ValueError
        For another mode.

    Examples
    --------
    >>> from forerun import np
    >>> np.take([[1, 2], [3, 4]], [1, 1, 0], axis=0).tolist()
    [[3, 4], [3, 4], [1, 2]]
    """
    if axis is None and mode == "raise" and out is None and _plain_positions(a, indices):
        return a[indices]
    x = asarray_like_device(a, indices)
    if type(indices) is int and out is None and x.ndim == 1 and axis in (None, 0, -1) and -x.size <= indices < x.size:
        return x[indices]
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = reshape(x, -1), 0
    at = axis_of("take", axis, x.ndim)
    before, n, after = x.shape[:at], x.shape[at], x.shape[at + 1 :]
    if 0 in before or (0 in after and mode != "raise"):  # as in NumPy, positions are not checked
        index = places_within("take", indices, max(n, 1), "clip", x.device, "same_kind")
        return write_out("take", _core.full((*before, *index.shape, *after), 0, x.dtype, x.device), out)
    index = places_within("take", indices, n, mode, x.device, "same_kind")
    return write_out("take", _gather(x, [index], at), out)


@primitive(lambda g, shape, indices, axis: _scatter_along(g, shape, indices, axis), op="take_along_axis")
def _gather_along(x: Array, indices: Array, axis: int, op_name: str = "take", from_end: bool = True) -> Array:
    """Return elements of x at integers along an axis; indices of x's shape but there, and where x has extent 1.

    op_name: how the error of a position out of range begins. from_end: negative ones count from the end; without it,
    they are out of range.
    """
    return _core.gather_along(x, indices, axis, op_name, from_end)


@primitive(lambda g, indices, axis: _gather_along(g, indices, axis), op="take_along_axis.backward")
def _scatter_along(g: Array, shape: tuple[int, ...], indices: Array, axis: int) -> Array:
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.scatter_along(full, indices, axis, g, True)
    return full


def _along(op: str, x: Array, indices: Any, axis: int) -> tuple[Any, int]:
    """Return positions along an axis of x in x's shape but there: repeated where theirs is 1, as x is where its is.

    ValueError if x has another number of axes, IndexError if shapes do not fit, positions are not integers or known
    ones are out of range.
    """
    found = asarray(indices) if isinstance(indices, (list, tuple)) else indices
    if found.ndim != x.ndim:
        raise ValueError(f"{op}: indices must have {x.ndim} axes, got shape {found.shape}")
    if found.dtype.kind not in "iu":
        raise IndexError(f"{op}: indices must be integers, got {found.dtype}")
    at = axis_of(op, axis, x.ndim)
    pairs = [(m, n) for i, (m, n) in enumerate(zip(x.shape, found.shape)) if i != at]
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise IndexError(f"{op}: shapes must fit but along the axis, got {x.shape} and {found.shape}")
    shape = tuple(n if i == at or m == 1 else m for i, (m, n) in enumerate(zip(x.shape, found.shape)))
    if 0 not in shape:
        check_range(op, found, x.shape[at])
    found = asarray(found, device=x.device)
    return found if shape == found.shape else broadcast_to(found, shape), at


def _vector(op: str, indices: Any) -> Array:
    """Return positions in the flat array: integers in a vector. ValueError or IndexError if they are not."""
    found = asarray(indices) if isinstance(indices, (list, tuple)) else indices
    if found.ndim != 1:
        raise ValueError(f"{op}: indices must have one axis if none is given, got shape {found.shape}")
    if found.dtype.kind not in "iu":
        raise IndexError(f"{op}: indices must be integers, got {found.dtype}")
    return found


@numpy_when_small(numpy.take_along_axis, "arr indices axis", "aai", "biufc")
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Array:
    """Return elements of arr at positions along `axis` that differ from place to place, as `argsort` gives them.

    Axis None: of the flat array.

    Parameters
    ----------
    arr : array_like
        The values.
    indices : array_like
        The positions along the axis.
    axis : int, optional
        The axis; None for the flat array.

    Returns
    -------
    array
        Elements of arr at positions along `axis` that differ from place to place.

    Raises
    ------
    ValueError
        If indices have not as many axes as arr.
    IndexError
        If shapes do not fit or indices are not integers, and for a position out of range, where the result is read if
        they are a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.take_along_axis(np.array([[3, 1], [2, 4]]), np.array([[1], [0]]), axis=1).tolist()
    [[1], [2]]
    """
    if axis in (0, -1) and _plain_positions(arr, indices) and indices.ndim == 1:  # type: ignore[union-attr]
        return arr[indices]
    x = asarray_like_device(arr, indices)
    if axis is None:
        x, indices, axis = reshape(x, -1), _vector("take_along_axis", indices), 0
    return _gather_along(x, *_along("take_along_axis", x, indices, axis))


@numpy_when_small(numpy.argwhere, "a", "r", "biufc", waits=True)
def argwhere(a: ArrayLike) -> Array:
    """Return positions of the elements that are not zero, as rows of an int64 matrix. Waits.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    array
        Positions of the elements that are not zero.

    Examples
    --------
    >>> from forerun import np
    >>> np.argwhere([[0, 2], [3, 0]]).tolist()
    [[0, 1], [1, 0]]
    """
    x = asarray(a)
    return _core.taken(numpy.argwhere(not_zero(x)), x.device)


@numpy_when_small(numpy.flatnonzero, "a", "r", "biufc", waits=True)
def flatnonzero(a: ArrayLike) -> Array:
    """Return positions in the flat array of the elements that are not zero. int64. Waits.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    array
        Positions in the flat array of the elements that are not zero.

    Examples
    --------
    >>> from forerun import np
    >>> np.flatnonzero([[0, 2], [3, 0]]).tolist()
    [1, 2]
    """
    found: Array = nonzero(reshape(asarray(a), -1))[0]
    return found


@numpy_when_small(numpy.compress, "condition a axis", "aai", waits=True)
def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: Out = None) -> Array:
    """Return slices along `axis` where the condition (a vector) holds, or elements of the flat array. Waits.

    Parameters
    ----------
    condition : array_like
        A vector, which holds where it is not zero.
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Slices along `axis` where the condition (a vector) holds.

    Raises
    ------
    ValueError
        If the condition is not a vector.
    IndexError
        If it holds behind the end of the axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=1).tolist()
    [[2], [4]]
    """
    if axis in (None, 0) and out is None and _plain_mask(a, condition):
        return a[condition]
    known = asarray(condition).numpy()
    if known.ndim != 1:
        raise ValueError(f"compress: condition must have one axis, got shape {known.shape}")
    return take(asarray_like_device(a, condition), numpy.flatnonzero(known), axis, out)


def one_hot(
    indices: ArrayLike, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DTypeLike = None
) -> Array:
    """Return a new last axis of extent `depth` with on_value at the index and off_value elsewhere.

    The default float by default. An index out of range has no on_value.

    Parameters
    ----------
    indices : array_like
        The positions of `on_value`.
    depth : int
        The extent of the new axis.
    on_value : float, optional
        The value at the position.
    off_value : float, optional
        The value elsewhere.
    dtype : dtype, optional
        The dtype; by default the default float.

    Returns
    -------
    array
        a new last axis of extent `depth` with on_value at the index and off_value elsewhere.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.one_hot([0, 2], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    index = asarray(indices)
    want = as_dtype("one_hot", dtype) if dtype is not None else default_float()
    positions = _core.from_numpy(numpy.arange(depth), index.device)
    hit = reshape(index, (*index.shape, 1)) == positions
    return cast(where(hit, float(on_value), float(off_value)), want)
