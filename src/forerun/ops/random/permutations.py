"""Elements and slices in random order; as NumPy draws it in a host task."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any

from .._base import core as _core
from .._base.convert import asarray, axis_of, count_of, is_array, is_whole, write_out
from .._base.host_task import host_op
from .._base.random_stream import current
from ..index.getitem import take
from .arguments import _rows

if TYPE_CHECKING:
    import numpy

    from ...typing import Array, ArrayLike, DeviceLike, Out

__all__ = ["permutation", "permuted", "shuffle"]


def _order(op: str, n: int, device: DeviceLike) -> Array:
    """Return the numbers below n in random order."""
    make = current().generator()
    return host_op(op, lambda _: make().permutation(n), [asarray(0, device=device)], (n,), "int64")


def permutation(x: int | Any, axis: int = 0, *, device: DeviceLike = None) -> Array:
    """Return the numbers below x in random order (int64), or a shuffled copy of an array along an axis.

    Parameters
    ----------
    x : int or array_like
        An integer, or the array to shuffle.
    axis : int, optional
        The axis along which slices are shuffled.
    device : device, optional
        The device of the result.

    Returns
    -------
    array
        The numbers below x in random order (int64).

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.sort(np.random.permutation(4)).tolist()
    [0, 1, 2, 3]
    """
    if is_whole(x):
        return _order("permutation", count_of("permutation", "x", x), device)
    rows = asarray(x)
    _rows("permutation", rows)
    at = axis_of("permutation", axis, rows.ndim)
    return take(rows, _order("permutation", rows.shape[at], rows.device), at)


def shuffle(x: Array | numpy.ndarray | MutableSequence[Any], axis: int = 0) -> None:
    """Shuffle the slices of an array along an axis, in place.

    A NumPy array or a list: waits.

    Parameters
    ----------
    x : array_like
        The array that is shuffled.
    axis : int, optional
        The axis along which slices are shuffled.

    Raises
    ------
    ValueError
        For an array without axes.
    TypeError
        For an object that is not an array.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(4)
    >>> np.random.shuffle(x); np.sort(x).tolist()
    [0, 1, 2, 3]
    """
    if not is_array(x):
        other: Any = x
        current().generator()().shuffle(other, axis)
    else:
        _rows("shuffle", x)
        _core.assign(x, permutation(x, axis))


def permuted(x: ArrayLike, *, axis: int | None = None, out: Out = None) -> Array:
    """Return a copy of an array with the elements along an axis in random order, in another one in each row.

    axis None: all elements.

    Parameters
    ----------
    x : array_like
        The array.
    axis : int, optional
        The axis; None for all elements.
    out : array, optional
        An array for the result, x itself too.

    Returns
    -------
    array
        a copy of an array with the elements along an axis in random order.

    Examples
    --------
    >>> from forerun import np
    >>> y = np.random.permuted(np.arange(6).reshape(2, 3), axis=1)
    >>> np.sort(y, axis=1).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    x = asarray(x)
    at = None if axis is None else axis_of("permuted", axis, x.ndim)
    make = current().generator()
    return write_out("permuted", host_op("permuted", lambda v: make().permuted(v, axis=at), [x], x.shape, x.dtype), out)
