"""Normalised exponentials, and their logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, as_real_float, asarray_like_device, asarrays, axis_of, cast
from .._base.one_module import one_module
from .._base.primitive import primitive
from ..elementwise.exponential import exp, log
from ..elementwise.select import where
from ..reduce.reduction import _max, _sum
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = ["softmax", "log_softmax", "masked_softmax", "softmin"]


@primitive(lambda g, y, axis: y * (g - _sum(g * y, (axis,), True)), op="softmax")
@one_module
def _softmax(x: Array, axis: int) -> Array:
    e = exp(x - _max(x, (axis,), True))
    return e / _sum(e, (axis,), True)


@primitive(lambda g, y, axis: g - exp(y) * _sum(g, (axis,), True), op="log_softmax")
@one_module
def _log_softmax(x: Array, axis: int) -> Array:
    shifted = x - _max(x, (axis,), True)
    return shifted - log(_sum(exp(shifted), (axis,), True))


def _prepared(op: str, x: Array, axis: int, temperature: float | None, dtype: DTypeLike) -> tuple[Array, int]:
    """Return x in floats, divided by the temperature, and its axis; an array without axes may stand for a vector."""
    x = as_real_float(op, x)
    if dtype is not None:
        x = as_real_float(op, cast(x, as_dtype(op, dtype)))
    x = x if temperature is None else x / temperature
    return x, 0 if x.ndim == 0 and axis in (0, -1) else axis_of(op, axis, x.ndim)


def _within(op: str, x: Array, axis: int, length: ArrayLike | None, use_length: bool) -> Array | None:
    """Return where positions along the axis are below lengths; None without lengths."""
    if use_length != (length is not None):
        raise ValueError(f"{op}: use_length must be True with length, and only then, got {use_length}")
    if length is None:
        return None
    n, shape = asarray_like_device(length, x), x.shape[:axis] + x.shape[axis + 1 :]
    if n.shape != shape:
        raise ValueError(f"{op}: length must have x's shape without axis {axis}, got {n.shape} for {x.shape}")
    steps = _core.from_numpy(numpy.arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - axis - 1)), x.device)
    return steps < reshape(n, (*shape[:axis], 1, *shape[axis:]))


def softmax(
    x: ArrayLike, axis: int = -1, length: ArrayLike | None = None, temperature: float | None = None,
    use_length: bool = False, dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """Return exp(x) divided by its sum along `axis`, computed without overflow.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. An array without axes is taken as a vector of one element.
    axis : int, optional
        The axis along which the results add up to 1.
    length : array_like, optional
        With `use_length`, how many elements of each slice along the axis count: an array of x's shape without the axis.
        Other elements of the result are 0.
    temperature : float, optional
        A number that `x` is divided by first.
    use_length : bool, optional
        Whether `length` is used. It must be True with `length`, and False without.
    dtype : dtype, optional
        The dtype of the result; by default x's.

    Returns
    -------
    array
        Numbers between 0 and 1, of x's shape; of integers in the default float.

    Raises
    ------
    ValueError
        If `length` is given without `use_length` or the other way around, or it is of another shape than x's without
        the axis.
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.softmax(np.zeros(4)).tolist(), npx.softmax(np.zeros((1, 4)), length=[2], use_length=True).tolist()
    ([0.25, 0.25, 0.25, 0.25], [[0.5, 0.5, 0.0, 0.0]])
    """
    x, a = _prepared("softmax", asarray_like_device(x, length), axis, temperature, dtype)
    inside = _within("softmax", x, a, length, use_length)
    if not x.ndim or not x.shape[a]:
        return reshape(_softmax(reshape(x, (1,)), 0), ()) if not x.ndim else exp(x)
    return _softmax(x, a) if inside is None else masked_softmax(x, inside, a)


def log_softmax(
    x: ArrayLike, axis: int = -1, length: ArrayLike | None = None, temperature: float | None = None,
    use_length: bool = False, dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """Return log(softmax(x)), computed without loss of small values.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. An array without axes is taken as a vector of one element.
    axis : int, optional
        The axis along which the softmax adds up to 1.
    length : array_like, optional
        With `use_length`, how many elements of each slice along the axis count: an array of x's shape without the axis.
        Other elements of the result are -inf.
    temperature : float, optional
        A number that `x` is divided by first.
    use_length : bool, optional
        Whether `length` is used. It must be True with `length`, and False without.
    dtype : dtype, optional
        The dtype of the result; by default x's.

    Returns
    -------
    array
        The logarithms of the softmax, of x's shape; of integers in the default float.

    Raises
    ------
    ValueError
        If `length` is given without `use_length` or the other way around, or it is of another shape than x's without
        the axis.
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.log_softmax([0.0, 1000.0]).tolist()
    [-1000.0, 0.0]
    """
    x, a = _prepared("log_softmax", asarray_like_device(x, length), axis, temperature, dtype)
    inside = _within("log_softmax", x, a, length, use_length)
    if not x.ndim or not x.shape[a]:
        return reshape(_log_softmax(reshape(x, (1,)), 0), ()) if not x.ndim else exp(x)
    if inside is None:
        return _log_softmax(x, a)
    return where(inside, _log_softmax(where(inside, x, -1e30), a), -math.inf)


def softmin(x: ArrayLike, axis: int = -1, temperature: float | None = None, dtype: DTypeLike = None) -> Array:
    """Return softmax(-x), which is largest for the smallest elements.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. An array without axes is taken as a vector of one element.
    axis : int, optional
        The axis along which the results add up to 1.
    temperature : float, optional
        A number that -x is divided by first.
    dtype : dtype, optional
        The dtype of the result; by default x's.

    Returns
    -------
    array
        Numbers between 0 and 1, of x's shape; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.softmin([0.0, 1000.0]).tolist()
    [1.0, 0.0]
    """
    return softmax(-as_real_float("softmin", x), axis, temperature=temperature, dtype=dtype)


def masked_softmax(x: ArrayLike, mask: ArrayLike, axis: int = -1, temperature: float | None = None) -> Array:
    """Return the softmax over the elements where the mask is true; 0 elsewhere, and everywhere if it is true nowhere.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. Integers and bools are taken in the default float.
    mask : array_like
        The elements that count: True or 1 for those that do, False or 0 for others. It is of x's shape, or broadcasts
        to it.
    axis : int, optional
        The axis along which the results add up to 1.
    temperature : float, optional
        A number that `x` is divided by first.

    Returns
    -------
    array
        Numbers between 0 and 1; 0 where the mask is false.

    Raises
    ------
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.masked_softmax(np.zeros(4), [1, 1, 0, 0]).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    x, mask = asarrays(x, mask)
    x, mask = as_real_float("masked_softmax", x), cast(mask, "bool")
    x = x if temperature is None else x / temperature
    return softmax(where(mask, x, -1e30), axis) * cast(mask, x.dtype)
