"""Arrays in another shape of the same size: views where memory allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarrays, axes_of, axes_to_reduce, check_choice, extents_of
from .._base.convert import copy as copy_of
from .._base.primitive import direct, primitive, view_of_numpy
from .axis_order import transpose
from .memory_order import fortran, memory_axes

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...typing import Array, ArrayLike, Axis, Shape

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "expand_dims", "ravel", "reshape", "squeeze"]


@primitive(lambda g, shape: _reshape(g, shape), op="reshape")
def _reshape(x: Array, shape: Shape) -> Array:
    return _core.reshape(x, shape)


@direct("reshape")
def reshape(a: ArrayLike, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> Array:
    """Return an array with another shape of the same size: a view where memory allows.

    One extent may be -1: it is computed from the size and the other extents.

    Parameters
    ----------
    a : array_like
        The values.
    shape : int or tuple of ints
        The new shape.
    order : str, optional
        "F" takes and places elements with the first axis running fastest; all else is "C".
    copy : bool, optional
        True for a copy, False for a view or nothing.

    Returns
    -------
    array
        An array with another shape of the same size.

    Raises
    ------
    ValueError
        If the sizes differ, or there is no view and copy is False.

    Examples
    --------
    >>> from forerun import np
    >>> np.reshape(np.arange(6), (2, -1)).tolist(), np.reshape(np.arange(6), (2, -1), order="F").tolist()
    ([[0, 1, 2], [3, 4, 5]], [[0, 2, 4], [1, 3, 5]])
    """
    if order == "C" and copy is None:
        return _reshape(asarray(a), shape)
    x = asarray(a)
    check_choice("reshape", "order", order, ("C", "F", "A"))
    if order == "F" or (order == "A" and fortran(x)):
        extents = extents_of("reshape", "shape", shape)
        result = transpose(_reshape(transpose(x), extents[::-1]))
    else:
        result = _reshape(x, shape)
    shared = _core.shares_storage(x, result) or x.size == 0
    if copy is False and not shared:
        raise ValueError(f"reshape: copy must not be False where memory allows no view, got shape {x.shape}")
    return copy_of(result) if copy and shared else result


@direct("ravel")
def ravel(a: ArrayLike, order: str = "C") -> Array:
    """Return the elements as one axis: a view if they are contiguous, otherwise a copy.

    Parameters
    ----------
    a : array_like
        The values.
    order : str, optional
        "C", "F" with the first axis running fastest, "A" for "F" if memory is in that order and "C" if not, "K" as the
        elements lie in memory.

    Returns
    -------
    array
        The elements as one axis.

    Raises
    ------
    ValueError
        For another one.

    Examples
    --------
    >>> from forerun import np
    >>> np.ravel([[1, 2], [3, 4]]).tolist()
    [1, 2, 3, 4]
    >>> x = np.arange(4)
    >>> np.shares_memory(np.ravel(x), x), np.shares_memory(np.ravel(x[::2]), x)
    (True, False)
    """
    x = asarray(a)
    if order != "C":
        check_choice("ravel", "order", order, ("C", "F", "A", "K"))
        if order == "K":
            x = transpose(x, memory_axes(x))
        elif order == "F" or (order == "A" and fortran(x)):
            x = transpose(x)
    flat = _reshape(x, (-1,))
    return flat if flat.size < 2 or flat.strides[0] == flat.itemsize else copy_of(flat)


@direct("flatten")
def flatten(x: ArrayLike, order: str = "C") -> Array:
    """Return a copy of the elements as one axis.

    Parameters
    ----------
    x : array_like
        The values.
    order : str, optional
        The order of the elements, as for `ravel`.

    Returns
    -------
    array
        The elements as one axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.array([[1, 2], [3, 4]]).flatten("F").tolist()
    [1, 3, 2, 4]
    """
    flat = ravel(x, order)
    return copy_of(flat) if _core.shares_storage(x, flat) else flat


@view_of_numpy(numpy.expand_dims, "a axis", "ak")
def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """Return a view with new axes of extent 1 at the positions `axis` of the result.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or Sequence
        The positions of the new axes in the result.

    Returns
    -------
    array
        A view with new axes of extent 1 at the positions `axis` of the result.

    Raises
    ------
    IndexError
        If an axis is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.expand_dims(np.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    x = asarray(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    if axis is None:
        raise TypeError("expand_dims: axis must be an integer, got None")
    at = axes_of("expand_dims", axis, x.ndim + count)
    rest = iter(x.shape)
    return reshape(x, tuple(1 if i in at else next(rest) for i in range(x.ndim + count)))


@view_of_numpy(numpy.ndarray.squeeze, "a axis", "ai")
def squeeze(a: ArrayLike, axis: Axis = None) -> Array:
    """Return a view without axes of extent 1: all, or those named.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to drop; by default all of extent 1.

    Returns
    -------
    array
        A view without axes of extent 1: all, or those named.

    Raises
    ------
    ValueError
        If a named one is longer.

    Examples
    --------
    >>> from forerun import np
    >>> np.squeeze(np.zeros((1, 2, 1))).shape, np.squeeze(np.zeros((1, 2, 1)), 0).shape
    ((2,), (2, 1))
    """
    x = asarray(a)
    at = axes_to_reduce("squeeze", axis, x.ndim)
    if axis is not None and any(x.shape[a] != 1 for a in at):
        raise ValueError(f"squeeze: axes must have extent 1, got axis {axis} of shape {x.shape}")
    if isinstance(a, numpy.generic):
        return _core.as_scalar(x)
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if not (i in at and n == 1)))


def _each(function: Callable[..., Any], arys: tuple[Any, ...]) -> Any:
    """Return a function of each array: the result for one, else a tuple."""
    found = tuple(map(function, asarrays(*arys)))
    return found[0] if len(found) == 1 else found


@overload
def atleast_1d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_1d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@direct("atleast_1d")
def atleast_1d(*arys: ArrayLike) -> Any:
    """Return an array with at least one axis: a number becomes a vector. A tuple for several.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    array, or tuple of arrays
        The array, or a tuple for several.

    Examples
    --------
    >>> from forerun import np
    >>> np.atleast_1d(5).tolist()
    [5]
    """
    return _each(lambda x: x if x.ndim else reshape(x, (1,)), arys)


@overload
def atleast_2d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_2d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@direct("atleast_2d")
def atleast_2d(*arys: ArrayLike) -> Any:
    """Return an array with at least two axes, new ones in front: a vector becomes a row. A tuple for several.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    array, or tuple of arrays
        The array, or a tuple for several.

    Examples
    --------
    >>> from forerun import np
    >>> np.atleast_2d([1, 2]).tolist()
    [[1, 2]]
    """
    return _each(lambda x: x if x.ndim > 1 else reshape(x, (1, x.size) if x.ndim else (1, 1)), arys)


@overload
def atleast_3d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_3d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@view_of_numpy(numpy.atleast_3d, "x", "a")
def atleast_3d(*arys: ArrayLike) -> Any:
    """Return an array with at least three axes. A tuple for several.

    Shape (n,) becomes (1, n, 1), shape (m, n) becomes (m, n, 1).

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    array, or tuple of arrays
        The array, or a tuple for several.

    Examples
    --------
    >>> from forerun import np
    >>> np.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _each(lambda x: x if x.ndim > 2 else reshape(atleast_2d(x), (*atleast_2d(x).shape, 1)), arys)
