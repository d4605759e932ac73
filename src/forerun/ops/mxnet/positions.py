"""Positions of elements, and values written or added at positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarrays, axes_of, cast, copy
from ..create.fill import full
from ..elementwise.select import nonzero as _nonzero
from ..elementwise.select import where
from ..index.getitem import _scatter_along, getitem, take
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from ..shape.join import stack
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["index_array", "index_add", "index_update", "nonzero"]


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


def nonzero(x: ArrayLike) -> Array:
    """Return the positions of elements that are not 0, in rows.

    It waits, as the shape of the result depends on the values.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The positions, int64, of shape (n, axes), where n is the number of elements that are not 0.

    Raises
    ------
    ValueError
        If `x` has no axes.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.nonzero([[1, 0], [0, 2]]).tolist()
    [[0, 0], [1, 1]]
    """
    return transpose(stack(list(_nonzero(x))))


def index_add(x: ArrayLike, indices: ArrayLike, values: ArrayLike) -> Array:
    """Return a copy of x with values added at x[indices[0], indices[1], ...].

    Values are added once for each time that a position is named.

    Parameters
    ----------
    x : array_like
        The array.
    indices : array_like
        The positions, integers of shape (axes, n): a row for each of the first axes of `x`. Negative ones count from
        the end.
    values : array_like
        The values that are added, which broadcast to the shape of x[indices[0], indices[1], ...] and are converted to
        the dtype of `x`.

    Returns
    -------
    array
        The sums, in the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `values` do not broadcast to that shape.
    IndexError
        If `indices` are neither integers nor bools, or have more rows than `x` has axes. Where the result is read, if a
        position is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.index_add(np.zeros(3), np.array([[0, 2, 2]]), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.0, 5.0]
    """
    x, indices, values = asarrays(x, indices, values)
    places = _places(x, indices)
    given = broadcast_to(cast(values, x.dtype), places.shape)
    flat = _scatter_along(reshape(given, (-1,)), (x.size,), reshape(places, (-1,)), 0)
    return x + reshape(flat, x.shape)


def index_update(x: ArrayLike, indices: ArrayLike, values: ArrayLike) -> Array:
    """Return a copy of x with values at x[indices[0], indices[1], ...].

    Of several values for one position the last one is written.

    Parameters
    ----------
    x : array_like
        The array.
    indices : array_like
        The positions, integers of shape (axes, n): a row for each of the first axes of `x`. Negative ones count from
        the end.
    values : array_like
        The values that are written, which broadcast to the shape of x[indices[0], indices[1], ...] and are converted to
        the dtype of `x`.

    Returns
    -------
    array
        The copy, in the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `values` do not broadcast to that shape.
    IndexError
        If `indices` are neither integers nor bools, or have more rows than `x` has axes. Where the result is read, if a
        position is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.index_update(np.zeros((2, 2)), np.array([[0, 1], [1, 0]]), np.array([5.0, 6.0])).tolist()
    [[0.0, 5.0], [6.0, 0.0]]
    """
    x, indices, values = asarrays(x, indices, values)
    places = _places(x, indices)
    n = places.size
    given = broadcast_to(cast(values, x.dtype), places.shape)
    last = full(x.size, n, dtype="int64", device=x.device)  # which value each element gets: of several, the last
    last[reshape(places, (n,))] = _core.from_numpy(numpy.arange(n), x.device)
    last = reshape(last, x.shape)
    return where(last < n, take(reshape(given, (n,)), last, mode="clip"), x) if n else copy(x)


def _places(x: Array, at: Array) -> Array:
    """Return the positions of x[indices[0], indices[1], ...] in the flat array."""
    numbers = _core.from_numpy(numpy.arange(x.size).reshape(x.shape), x.device)
    return getitem(numbers, tuple(at[i] for i in range(at.shape[0])))
