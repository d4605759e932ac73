"""Elements in another order along axes: reversed, rotated by 90 degrees, or shifted cyclically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray, axes_of, copy, write_out
from .._base.primitive import direct, view_of_numpy
from .axis_order import swapaxes
from .join import concatenate
from .reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, Out

__all__ = ["flip", "fliplr", "flipud", "rot90", "roll"]


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
    """Return a view rotated by 90 degrees k times in the plane of two axes, from the first towards the second.

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
        a view rotated by 90 degrees k times in the plane of two axes.

    Raises
    ------
    ValueError
        If `axes` are not two different axes of the array.

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


def roll(a: ArrayLike, shift: int | Sequence[int], axis: Axis = None) -> Array:
    """Return `a` with elements shifted along axes; those beyond the last position reappear at the first.

    Without an axis: the flat array is moved.

    Parameters
    ----------
    a : array_like
        The values.
    shift : int or Sequence
        One number, or one for each axis.
    axis : int or tuple of ints, optional
        The axis or axes; None for the flat array.

    Returns
    -------
    array
        `a` with elements moved along axes.

    Raises
    ------
    ValueError
        If the number of shifts is not that of the axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.roll([1, 2, 3, 4], 1).tolist(), np.roll([[1, 2], [3, 4]], 1, axis=0).tolist()
    ([4, 1, 2, 3], [[3, 4], [1, 2]])
    """
    x = asarray(a)
    if axis is None:
        return reshape(roll(reshape(x, -1), shift, 0), x.shape)
    at = axes_of("roll", axis, x.ndim)
    shifts: Any = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,) * len(at)
    if len(at) == 1:
        at = at * len(shifts)
    if len(at) != len(shifts):
        raise ValueError(f"roll: shift and axis must be of one length, got {shift} and {axis}")
    moved = False
    for i, s in zip(at, shifts):
        n = x.shape[i]
        s = s % n if n else 0
        if s:
            head = (slice(None),) * i
            x = concatenate([x[(*head, slice(n - s, None))], x[(*head, slice(0, n - s))]], i)
            moved = True
    return x if moved else copy(x)
