"""Further functions in MXNet's spelling: parts of arrays, sums of several, checks of values, casts of several."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    as_dtype,
    asarray,
    asarray_like_device,
    asarrays,
    axes_of,
    axis_of,
    cast,
    is_inexact,
    promote,
)
from .._base.host_task import host_op
from ..elementwise.arithmetic import isfinite, multiply
from ..index.getitem import getitem, take_along_axis
from ..reduce.reduction import all as all_
from ..shape.axis_order import transpose
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = [
    "add_n", "all_finite", "amp_cast", "amp_multicast", "batch_take", "constraint_check", "depth_to_space",
    "div_sqrt_dim", "index_array", "khatri_rao", "multi_all_finite", "slice_axis", "slice_like", "space_to_depth",
]  # fmt: skip


def add_n(*args: Array | Sequence[Array]) -> Array:
    """Return the sum of arrays of one shape.

    The arrays are given as several arguments, or as one list or tuple.

    Parameters
    ----------
    *args : array_like, or one list or tuple of array_like
        The arrays to be added, all of one shape.

    Returns
    -------
    array
        The sum, in the shape of the arrays; their dtypes are promoted. A single array is returned itself.

    Raises
    ------
    ValueError
        If shapes differ, or there is no array.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.add_n(np.ones(2), np.ones(2), np.arange(2)).tolist()
    [2.0, 3.0]
    """
    given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    arrays = asarrays(*given)
    shapes = {x.shape for x in arrays}
    if len(shapes) != 1:
        raise ValueError(f"add_n: arrays must have one shape, got {', '.join(map(str, sorted(shapes))) or 'none'}")
    return functools.reduce(operator.add, arrays)


def slice_axis(data: ArrayLike, axis: int, begin: int, end: int | None) -> Array:
    """Return data[begin:end] along an axis, as a view.

    Parameters
    ----------
    data : array_like
        The values.
    axis : int
        The axis to slice along.
    begin : int
        The position of the first element. Negative numbers and None are as in Python's slices.
    end : int or None
        The position after the last element. Negative numbers and None are as in Python's slices.

    Returns
    -------
    array
        A view of the elements from `begin` to `end` along the axis.

    Raises
    ------
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.slice_axis(np.arange(6).reshape(2, 3), axis=1, begin=0, end=-1).tolist()
    [[0, 1], [3, 4]]
    """
    x = asarray(data)
    before = axis_of("slice_axis", axis, x.ndim)
    return getitem(x, (slice(None),) * before + (slice(begin, end),))


def slice_like(data: ArrayLike, shape_like: ArrayLike, axes: int | Sequence[int] = ()) -> Array:
    """Return the first elements of data along each axis, as many as another array has, as a view.

    Parameters
    ----------
    data : array_like
        The values.
    shape_like : array_like
        The array whose extents are taken. Its values have no effect.
    axes : int or sequence of ints, optional
        The axes along which elements are left out; without any, all axes.

    Returns
    -------
    array
        A view of the first elements of data.

    Raises
    ------
    ValueError
        If data has too few elements along an axis, or, without `axes`, the arrays have different numbers of axes.
    IndexError
        If an axis is out of range for one of the arrays.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x, like = np.arange(6).reshape(2, 3), np.zeros((1, 2))
    >>> npx.slice_like(x, like).tolist(), npx.slice_like(x, like, axes=(1,)).tolist()
    ([[0, 1]], [[0, 1], [3, 4]])
    """
    x, like = asarrays(data, shape_like)
    if axes == () and x.ndim != like.ndim:
        raise ValueError(f"slice_like: arrays must have as many axes, got shapes {x.shape} and {like.shape}")
    wanted = axes_of("slice_like", None if axes == () else axes, min(x.ndim, like.ndim))
    if any(like.shape[a] > x.shape[a] for a in wanted):
        raise ValueError(f"slice_like: shape_like must not be larger, got {like.shape} for {x.shape}")
    return getitem(x, tuple(slice(0, like.shape[a]) if a in wanted else slice(None) for a in range(x.ndim)))


def batch_take(a: ArrayLike, indices: ArrayLike) -> Array:
    """Return one element of each row of a matrix.

    Parameters
    ----------
    a : array_like
        The matrix, of shape (rows, columns).
    indices : array_like
        The column of each row's element, of shape (rows,). Negative ones count from the end, and those of another dtype
        than integers are converted to int64.

    Returns
    -------
    array
        The elements, of shape (rows,), in the dtype of `a`.

    Raises
    ------
    ValueError
        If `a` is not a matrix, or `indices` has not one number for each row.
    IndexError
        Where the result is read, for a position that a row has not.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.batch_take([[1, 2], [3, 4]], [0, 1]).tolist()
    [1, 4]
    """
    x = asarray_like_device(a, indices)
    at = asarray_like_device(indices, x)
    if x.ndim != 2 or at.shape != x.shape[:1]:
        raise ValueError(f"batch_take: there must be one position for each row, got {at.shape} for {x.shape}")
    at = at if at.dtype.kind in "iu" else cast(at, numpy.dtype("int64"))
    return reshape(take_along_axis(x, reshape(at, (-1, 1)), 1), at.shape)


def index_array(data: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Return the position of each element of an array, along a new last axis.

    Parameters
    ----------
    data : array_like
        The array that gives the shape. Its values do not matter.
    axes : sequence of ints, optional
        The axes along which positions are returned; None for all.

    Returns
    -------
    array
        The positions, int64, of shape data.shape + (number of axes,).

    Raises
    ------
    IndexError
        If `data` lacks an axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.index_array(np.zeros((2, 1))).tolist(), npx.index_array(np.zeros((2, 1)), axes=(0,)).tolist()
    ([[[0, 0]], [[1, 0]]], [[[0]], [[1]]])
    """
    x = asarray(data)
    wanted = axes_of("index_array", None if axes is None else tuple(axes), x.ndim)
    grid = numpy.indices(x.shape)[list(wanted)]
    return _core.from_numpy(numpy.ascontiguousarray(numpy.moveaxis(grid, 0, -1)), x.device)


def _blocks(op: str, data: ArrayLike, block_size: int, divided: Sequence[int]) -> Array:
    x = asarray(data)
    if block_size < 1 or x.ndim != 4 or any(x.shape[a] % n for a, n in zip((1, 2, 3), divided)):
        raise ValueError(f"{op}: shape must have 4 axes that block_size divides, got {x.shape} and {block_size}")
    return x


def depth_to_space(data: ArrayLike, block_size: int) -> Array:
    """Move channels into blocks of pixels.

    Parameters
    ----------
    data : array_like
        The images, of shape (n, c, h, w).
    block_size : int
        The height and width of a block in pixels, 1 or more.

    Returns
    -------
    array
        The images, of shape (n, c / block_size**2, h * block_size, w * block_size).

    Raises
    ------
    ValueError
        If channels are not a multiple of the square of `block_size`, `data` has not 4 axes, or `block_size` is below 1.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.depth_to_space(np.arange(4).reshape(1, 4, 1, 1), 2).tolist()
    [[[[0, 1], [2, 3]]]]
    """
    b = block_size
    x = _blocks("depth_to_space", data, b, (b * b, 1, 1))
    n, c, h, w = x.shape
    apart = transpose(reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    return reshape(apart, (n, c // (b * b), h * b, w * b))


def space_to_depth(data: ArrayLike, block_size: int) -> Array:
    """Return blocks of pixels moved into channels: the inverse of `depth_to_space`.

    Parameters
    ----------
    data : array_like
        Images, of shape (n, c, h, w).
    block_size : int
        The height and width of a block, in pixels.

    Returns
    -------
    array
        The images, of shape (n, c * block_size**2, h / block_size, w / block_size).

    Raises
    ------
    ValueError
        If height and width are not multiples of `block_size`, data does not have 4 axes, or `block_size` is not
        positive.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), 2).shape
    (1, 4, 1, 1)
    """
    b = block_size
    x = _blocks("space_to_depth", data, b, (1, b, b))
    n, c, h, w = x.shape
    apart = transpose(reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return reshape(apart, (n, c * b * b, h // b, w // b))


def khatri_rao(*args: ArrayLike) -> Array:
    """Return the Khatri-Rao product of matrices: the Kronecker products of their columns.

    Parameters
    ----------
    *args : array_like
        The matrices, at least one, all with the same number of columns.

    Returns
    -------
    array
        A matrix with that number of columns, whose number of rows is the product of those of the matrices.

    Raises
    ------
    ValueError
        If arrays are of other shapes, or none is given.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.khatri_rao([[1, 2]], [[3, 4], [5, 6]]).tolist()
    [[3, 8], [5, 12]]
    """
    matrices = asarrays(*args)
    if not matrices or any(m.ndim != 2 or m.shape[1] != matrices[0].shape[1] for m in matrices):
        shapes = ", ".join(str(m.shape) for m in matrices) or "none"
        raise ValueError(f"khatri_rao: matrices must have as many columns, got shapes {shapes}")
    columns = matrices[0].shape[1]
    pair = lambda a, b: reshape(multiply(a[:, None, :], b[None]), (a.shape[0] * b.shape[0], columns))
    return functools.reduce(pair, matrices)


def div_sqrt_dim(data: ArrayLike) -> Array:
    """Divide an array by the square root of the extent of its last axis, as attention scales its scores.

    Parameters
    ----------
    data : array_like
        The values, with at least one axis.

    Returns
    -------
    array
        The quotients, in the shape of `data`; of integers in the default float.

    Raises
    ------
    IndexError
        If `data` is an array without axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.div_sqrt_dim(np.ones(4)).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    x = asarray(data)
    return x / math.sqrt(x.shape[axis_of("div_sqrt_dim", -1, x.ndim)])


# --- checks and casts -----------------------------------------------------------------------------


def constraint_check(condition: ArrayLike, msg: str = "Constraint violated.") -> Array:
    """Check that a condition holds everywhere, and return an array of one True.

    Parameters
    ----------
    condition : array_like
        The values of the condition. Each must be true.
    msg : str, optional
        The message of the error.

    Returns
    -------
    array
        True, of shape () and dtype bool.

    Raises
    ------
    ValueError
        Where the result is read, with the message, if the condition does not hold everywhere.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.constraint_check(np.array([True, True]), "must be positive").item()
    True
    """

    def check(values: numpy.ndarray) -> Any:
        if not values.all():
            raise ValueError(f"constraint_check: {msg}")
        return numpy.True_

    return host_op("constraint_check", check, [asarray(condition)], (), "bool")


def all_finite(data: ArrayLike, init_output: bool = True) -> Array:
    """Test whether all elements of an array are finite.

    Parameters
    ----------
    data : array_like
        The values.
    init_output : bool, optional
        This must be True: results of earlier calls are not combined with this one.

    Returns
    -------
    array
        1 if all elements are finite and 0 if any is infinite or NaN, as float32, of shape (1,).

    Raises
    ------
    NotImplementedError
        If `init_output` is False.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.all_finite(np.array([1.0, np.nan])).tolist()
    [0.0]
    """
    return multi_all_finite(data, init_output=init_output)


def multi_all_finite(*arrays: ArrayLike, num_arrays: int | None = None, init_output: bool = True) -> Array:
    """Test whether all elements of all arrays are finite.

    Parameters
    ----------
    *arrays : array_like
        The arrays to test, at least one.
    num_arrays : int, optional
        The number of arrays, which is checked if it is given.
    init_output : bool, optional
        Must be True: earlier results are not combined with this one.

    Returns
    -------
    array
        1 if all elements are finite, 0 if not: float32, of shape (1,).

    Raises
    ------
    ValueError
        If no array is given, or `num_arrays` is not their number.
    NotImplementedError
        If `init_output` is False.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.multi_all_finite(np.ones(2), np.zeros((1, 2))).tolist()
    [1.0]
    """
    given = asarrays(*arrays)
    if not init_output:
        raise NotImplementedError("all_finite: init_output must be True, got False")
    if not given or num_arrays not in (None, len(given)):
        raise ValueError(f"multi_all_finite: there must be {num_arrays or 'some'} arrays, got {len(given)}")
    finite = functools.reduce(operator.and_, (all_(isfinite(x)) for x in given))
    return reshape(cast(finite, numpy.dtype("float32")), (1,))


def amp_cast(data: ArrayLike, dtype: DTypeLike) -> Array:
    """Return an array of floats in another dtype, and an array of another kind unchanged.

    Parameters
    ----------
    data : array_like
        The values.
    dtype : dtype
        The dtype that floats, and complex numbers, are converted to.

    Returns
    -------
    array
        `data` in that dtype if it has floats or complex numbers; otherwise, or if it has that dtype already, `data`
        itself.

    Raises
    ------
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.amp_cast(np.ones(2), "float16").dtype, npx.amp_cast(np.arange(2), "float16").dtype
    (dtype('float16'), dtype('int64'))
    """
    x, want = asarray(data), as_dtype("amp_cast", dtype)
    return cast(x, want) if is_inexact(x.dtype) and x.dtype != want else x


def amp_multicast(*arrays: Array, num_outputs: int | None = None, cast_narrow: bool = False) -> list[Any]:
    """Return arrays in one dtype: the widest that those of floats among them have, or the narrowest.

    Arrays that are not of floats are returned unchanged.

    Parameters
    ----------
    *arrays : array_like
        The arrays.
    num_outputs : int, optional
        The number of arrays, which is checked if it is given.
    cast_narrow : bool, optional
        False converts to the dtype that the dtypes of floats are promoted to; True to the one with the smallest
        elements.

    Returns
    -------
    list of arrays
        The arrays in that dtype, in the order of the arguments.

    Raises
    ------
    ValueError
        If `num_outputs` is given and is not the number of arrays.

    Examples
    --------
    >>> from forerun import np, npx
    >>> [x.dtype.name for x in npx.amp_multicast(np.ones(2), np.ones(2, dtype="float16"))]
    ['float32', 'float32']
    """
    given = asarrays(*arrays)
    if num_outputs not in (None, len(given)):
        raise ValueError(f"amp_multicast: num_outputs must be the number of arrays, got {num_outputs} for {len(given)}")
    dtypes = [x.dtype for x in given if is_inexact(x.dtype)]
    if not dtypes:
        return list(given)
    want = min(dtypes, key=lambda d: d.itemsize) if cast_narrow else promote(*dtypes)
    return [amp_cast(x, want) for x in given]
