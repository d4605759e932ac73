"""Axes in another order, as views: `transpose`, and functions that move or exchange some axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, axes_of, axis_of
from .._base.primitive import direct, primitive, view_of_numpy

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["matrix_transpose", "moveaxis", "rollaxis", "swapaxes", "transpose"]


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
        A view of `a` with its axes in another order; by default reversed.

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
    if isinstance(a, numpy.generic):
        return _core.as_scalar(x)
    return _transpose(x, axes_of("transpose", tuple(axes), x.ndim))


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
        A view with some axes moved to other positions; the others keep their order.

    Raises
    ------
    IndexError
        If an axis is out of range.
    ValueError
        If `source` and `destination` differ in length.

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
        A view with two axes exchanged.

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


@view_of_numpy(numpy.rollaxis, "a axis start", "akk")
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """Return a view with `axis` moved until it lies before axis `start`; prefer `moveaxis`.

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
        A view with `axis` moved until it lies before axis `start`.

    Raises
    ------
    IndexError
        If `axis` or `start` is out of range.

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
