"""Shapes: views where memory allows; parts of complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    asarray,
    asarrays,
    axes_of,
    axes_to_reduce,
    axis_of,
    broadcast_shapes,
    check_choice,
    extents_of,
    write_out,
)
from .._base.convert import copy as copy_of
from .._base.primitive import direct, primitive, view_of_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...typing import Array, ArrayLike, Axis, Out, Shape

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "expand_dims", "flip",
    "fliplr", "flipud", "imag", "matrix_transpose", "moveaxis", "ravel", "real", "reshape", "rollaxis",
    "rot90", "squeeze", "swapaxes", "transpose",
]  # fmt: skip


@primitive(lambda g, shape: _reshape(g, shape), op="reshape")
def _reshape(x: Array, shape: Shape) -> Array:
    return _core.reshape(x, shape)


@direct("reshape")
def reshape(a: ArrayLike, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> Array:
    """Return an array with another shape of the same size: a view where memory allows.

    One extent may be -1: what the others leave.

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


@primitive(lambda g, axes: _transpose(g, tuple(map(axes.index, range(len(axes))))), op="transpose")
def _transpose(x: Array, axes: tuple[int, ...]) -> Array:
    return _core.transpose(x, axes)


@direct("transpose")
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Return a view of `a` with its axes in another order; by default reversed.

    Parameters
    ----------
    a : array_like
        The values.
    axes : tuple of ints, optional
        Where each axis of the result comes from.

    Returns
    -------
    array
        `a` view of `a` with its axes in another order; by default reversed.

    Raises
    ------
    ValueError
        If they do not name every axis once.

    Examples
    --------
    >>> from forerun import np
    >>> np.transpose(np.zeros((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    x = asarray(a)
    if axes is None:
        axes = tuple(range(x.ndim))[::-1]
    elif not hasattr(axes, "__len__") or len(axes) != x.ndim:
        raise ValueError(f"transpose: axes must name each of {x.ndim} axes, got {axes}")
    return _transpose(x, axes_of("transpose", tuple(axes), x.ndim))


@primitive(lambda g: g, op="broadcast_to")
def broadcast_to(array: ArrayLike, shape: Shape, subok: bool = False) -> Array:
    """Return a view of an array repeated to a larger shape. Not to be written to.

    An extent of -2 stands for that of the array's axis at this place, counted from the last.

    Parameters
    ----------
    array : array_like
        The array.
    shape : int or tuple of ints
        The shape to repeat it to.
    subok : bool, optional
        Has no effect.

    Returns
    -------
    array
        a view of an array repeated to a larger shape.

    Raises
    ------
    ValueError
        If the shape does not fit.

    Examples
    --------
    >>> from forerun import np
    >>> np.broadcast_to(np.arange(3), (2, 3)).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    x = asarray(array)
    if not isinstance(shape, int) and -2 in (shape := extents_of("broadcast_to", "shape", shape)):
        before = len(shape) - x.ndim
        if -2 in shape[: max(before, 0)]:
            raise ValueError(f"broadcast_to: an extent of -2 must stand for an axis, got {shape} for {x.shape}")
        shape = tuple(x.shape[i - before] if n == -2 and i >= before else n for i, n in enumerate(shape))
    return _core.broadcast_to(x, shape)


def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[Any, ...]:
    """Return views of the arrays with the shape that they have together.

    Parameters
    ----------
    *args : array_like
        The arrays.
    subok : bool, optional
        Has no effect.

    Returns
    -------
    tuple of arrays
        Views of the arrays with the shape that they have together.

    Raises
    ------
    ValueError
        If the shapes do not broadcast together.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.broadcast_arrays([1, 2], [[3], [4]])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    all_ = asarrays(*args)
    shape = broadcast_shapes("broadcast_arrays", *(a.shape for a in all_))
    return tuple(a if a.shape == shape else broadcast_to(a, shape) for a in all_)


@view_of_numpy(numpy.expand_dims, "a axis", "ak")
def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """Return a view with axes of extent 1 put in at `axis`: positions in the result.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or Sequence
        The positions of the new axes in the result.

    Returns
    -------
    array
        `a` view with axes of extent 1 put in at `axis`: positions in the result.

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
        `a` view without axes of extent 1: all, or those named.

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
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if not (i in at and n == 1)))


@view_of_numpy(numpy.moveaxis, "a source destination", "akk")
def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Return a view with some axes moved to other positions; the others keep their order.

    Parameters
    ----------
    a : array_like
        The values.
    source : int or Sequence
        The axes to move.
    destination : int or Sequence
        The positions that they move to.

    Returns
    -------
    array
        `a` view with some axes moved to other positions; the others keep their order.

    Examples
    --------
    >>> from forerun import np
    >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = asarray(a)
    a, b = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    if len(a) != len(b):
        raise ValueError(f"moveaxis: source and destination must be of one length, got {source} and {destination}")
    order = [i for i in range(x.ndim) if i not in a]
    for to, axis in sorted(zip(b, a)):
        order.insert(to, axis)
    return transpose(x, order)


@view_of_numpy(numpy.ndarray.swapaxes, "a axis1 axis2", "akk")
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Return a view with two axes exchanged.

    Parameters
    ----------
    a : array_like
        The values.
    axis1 : int
        One axis.
    axis2 : int
        The other axis.

    Returns
    -------
    array
        `a` view with two axes exchanged.

    Raises
    ------
    IndexError
        If an axis is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.swapaxes(np.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    x = asarray(a)
    a, b = axis_of("swapaxes", axis1, x.ndim), axis_of("swapaxes", axis2, x.ndim)
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return transpose(x, order)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """Return a view with `axis` moved until it lies before axis `start`; `moveaxis` says the same more plainly.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int
        The axis to move.
    start : int, optional
        The axis before which it is put.

    Returns
    -------
    array
        `a` view with `axis` moved until it lies before axis `start`; `moveaxis` says the same more plainly.

    Examples
    --------
    >>> from forerun import np
    >>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = asarray(a)
    a = axis_of("rollaxis", axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise numpy.exceptions.AxisError(f"rollaxis: start must be in [{-x.ndim}, {x.ndim}], got {start}")
    to = start + x.ndim if start < 0 else start
    return moveaxis(x, a, to - 1 if to > a else to)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """Return a view with the last two axes exchanged.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        a view with the last two axes exchanged.

    Raises
    ------
    IndexError
        If there are not two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.matrix_transpose(np.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    return swapaxes(x, -1, -2)


@direct("ravel")
def ravel(a: ArrayLike, order: str = "C") -> Array:
    """Return the elements as one axis: a view where they lie in memory one after the other, otherwise a copy.

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
            x = transpose(x, _memory_order(x))
        elif order == "F" or (order == "A" and fortran(x)):
            x = transpose(x)
    flat = _reshape(x, (-1,))
    return flat if flat.size < 2 or flat.strides[0] == flat.itemsize else copy_of(flat)


@direct("flatten")
def flatten(x: ArrayLike, order: str = "C") -> Array:
    """Return a copy of the elements as one axis. order: as for `ravel`.

    >>> from forerun import np
    >>> flatten(np.array([[1, 2], [3, 4]]), "F").tolist()
    [1, 3, 2, 4]
    """
    flat = ravel(x, order)
    return copy_of(flat) if _core.shares_storage(x, flat) else flat


def _memory_order(x: Array) -> list[int]:
    """Return the axes by their steps in memory, the longest first.

    Axes that repeat, or have one position, stay where they are.
    """
    steps = [abs(step) if n > 1 else 0 for n, step in zip(x.shape, x.strides)]
    order = list(range(x.ndim))[::-1]
    for i in range(1, x.ndim):
        to = i
        for j in range(i)[::-1]:
            here, there = steps[order[i]], steps[order[j]]
            if here and there > here:
                to = j
            elif here and there:
                break
        order.insert(to, order.pop(i))
    return order[::-1]


def fortran(x: Array) -> bool:
    """Return whether elements lie in memory without gaps, with the first axis running fastest and not the last.

    >>> from forerun import np
    >>> fortran(np.zeros((2, 3)).T), fortran(np.zeros((2, 3)))
    (True, False)
    """
    return not dense(x) and dense(transpose(x))


def in_order(x: Array, order: str | None) -> bool:
    """Return whether x is contiguous in an order, as in NumPy: "C", "F", "A" (either), "K" or None (any).

    >>> from forerun import np
    >>> in_order(np.zeros((2, 3)).T, "F"), in_order(np.zeros((2, 3)).T, "C"), in_order(np.zeros(4)[::2], "K")
    (True, False, True)
    """
    if order is None or order == "K":
        return True
    return (order != "F" and dense(x)) or (order != "C" and dense(transpose(x)))


def copied_in(x: Array, order: str | None) -> Array:
    """Return a copy of x in an order of memory: "F", "A" for "F" if x lies so and "C" if not; all else is "C".

    >>> from forerun import np
    >>> copied_in(np.zeros((2, 3)), "F").strides
    (4, 8)
    """
    return transpose(copy_of(transpose(x))) if order == "F" or (order == "A" and fortran(x)) else copy_of(x)


def dense(x: Array) -> bool:
    """Return whether elements lie in memory without gaps, with the last axis running fastest.

    >>> from forerun import np
    >>> dense(np.zeros((2, 3))), dense(np.zeros((2, 3))[:, 1:])
    (True, False)
    """
    step = x.itemsize if x.size else 0
    for n, stride in zip(reversed(x.shape), reversed(x.strides)):
        if step and n != 1 and stride != step:
            return False
        step *= n
    return True


def _each(function: Callable[..., Any], arys: tuple[Any, ...]) -> Any:
    """Return a function of each array: the result for one, else a tuple."""
    found = tuple(map(function, asarrays(*arys)))
    return found[0] if len(found) == 1 else found


@view_of_numpy(numpy.atleast_1d, "x", "a")
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


@view_of_numpy(numpy.atleast_2d, "x", "a")
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


# --- reversing ------------------------------------------------------------------------------------


@direct("flip")
def flip(m: ArrayLike, axis: Axis = None, *, out: Out = None) -> Array:
    """Return a view with the order of elements reversed along the axes; by default all. out: an array for a copy of it.

    Parameters
    ----------
    m : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reverse; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The view, or `out`.

    Examples
    --------
    >>> from forerun import np
    >>> np.flip([[1, 2], [3, 4]]).tolist(), np.flip([[1, 2], [3, 4]], 0).tolist()
    ([[4, 3], [2, 1]], [[3, 4], [1, 2]])
    """
    x = asarray(m)
    at = axes_of("flip", axis, x.ndim)
    return write_out("flip", x[tuple(slice(None, None, -1) if i in at else slice(None) for i in range(x.ndim))], out)


@direct("fliplr")
def fliplr(m: ArrayLike) -> Array:
    """Return a view reversed along axis 1: columns from right to left.

    Parameters
    ----------
    m : array_like
        The values.

    Returns
    -------
    array
        The view.

    Raises
    ------
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.fliplr([[1, 2], [3, 4]]).tolist()
    [[2, 1], [4, 3]]
    """
    return flip(m, 1)


@direct("flipud")
def flipud(m: ArrayLike) -> Array:
    """Return a view reversed along axis 0: rows from bottom to top.

    Parameters
    ----------
    m : array_like
        The values.

    Returns
    -------
    array
        The view.

    Raises
    ------
    IndexError
        If there is no axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.flipud([[1, 2], [3, 4]]).tolist()
    [[3, 4], [1, 2]]
    """
    return flip(m, 0)


@view_of_numpy(numpy.rot90, "m k", "ak")
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Return a view turned by 90 degrees k times in the plane of two axes, from the first towards the second.

    Parameters
    ----------
    m : array_like
        The values.
    k : int, optional
        The number of turns.
    axes : tuple of ints, optional
        The plane: two axes.

    Returns
    -------
    array
        a view turned by 90 degrees k times in the plane of two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.rot90([[1, 2], [3, 4]]).tolist()
    [[2, 4], [1, 3]]
    """
    first = asarray(m)
    if len(axes) != 2:
        raise ValueError(f"rot90: axes must be two, got {axes}")
    if any(not -first.ndim <= a < first.ndim for a in axes):
        raise ValueError(f"rot90: axes must be in [{-first.ndim}, {first.ndim}), got {axes}")
    if (axes[0] - axes[1]) % first.ndim == 0:
        raise ValueError(f"rot90: axes must be different, got {axes}")
    k %= 4
    if k == 0:
        return asarray(m)
    if k == 2:
        return flip(m, axes)
    return swapaxes(flip(m, axes[1]), *axes) if k == 1 else flip(swapaxes(m, *axes), axes[1])


# --- parts of complex numbers ---------------------------------------------------------------------


@primitive(lambda g: g, op="real")
def _real(x: object) -> Array:
    return _core.part(x, False)


@primitive(lambda g: 1j * g, op="imag")
def _imag(x: Array) -> Array:
    return _core.part(x, True)


@direct("real")
def real(val: ArrayLike) -> Array:
    """Return a view of the real part; val itself if it is not complex.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    array
        a view of the real part.

    Examples
    --------
    >>> from forerun import np
    >>> np.real([1 + 2j, 3.0]).tolist()
    [1.0, 3.0]
    """
    x = asarray(val)
    return _real(x) if x.dtype.kind == "c" else x


def imag(val: ArrayLike) -> Array:
    """Return a view of the imaginary part; new zeros if val is not complex.

    Parameters
    ----------
    val : array_like
        The numbers.

    Returns
    -------
    array
        a view of the imaginary part.

    Examples
    --------
    >>> from forerun import np
    >>> np.imag([1 + 2j, 3.0]).tolist()
    [2.0, 0.0]
    """
    x = asarray(val)
    return _imag(x) if x.dtype.kind == "c" else _core.full(x.shape, 0, x.dtype, x.device)
