"""Slices of arrays by their bounds, in numbers or as another array has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._base.convert import asarray, asarrays, axes_of, axis_of
from ..index.getitem import getitem

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["slice_axis", "slice_like", "slice"]

_slice = slice


def slice(
    x: ArrayLike, begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None] = ()
) -> Array:
    """Return x[begin[0]:end[0]:step[0], ...], sliced along the first axes.

    Parameters
    ----------
    x : array_like
        The values.
    begin : sequence of int or None
        The position of the first element along each of the first axes; None as in Python's slices.
    end : sequence of int or None
        The position after the last element along each of these axes; None as in Python's slices.
    step : sequence of int or None, optional
        The distance between elements along each of these axes; None as in Python's slices, also for axes after its end.

    Returns
    -------
    array
        A view of the elements within the slices.

    Raises
    ------
    ValueError
        If `begin` and `end` differ in length, or `step` is longer.
    IndexError
        If there are more slices than axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.slice(np.arange(6).reshape(2, 3), (0, 1), (None, 3)).tolist()
    [[1, 2], [4, 5]]
    """
    steps = [*step, *[None] * (len(begin) - len(step))]
    return getitem(asarray(x), tuple(_slice(*bounds) for bounds in zip(begin, end, steps, strict=True)))


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
    return getitem(x, (_slice(None),) * before + (_slice(begin, end),))


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
    return getitem(x, tuple(_slice(0, like.shape[a]) if a in wanted else _slice(None) for a in range(x.ndim)))
