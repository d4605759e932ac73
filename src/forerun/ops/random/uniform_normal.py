"""Uniform and normal numbers, which the workers fill in tiles."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, asarray, cast, default_float, is_real_float
from .._base.random_stream import current
from .arguments import _FLOAT32, _numbers, _shape, device_for, draw_into
from .conditions import known
from .limits import FINITE, NOT_NEGATIVE, Limits, limited

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["uniform", "normal", "rand", "randn", "random", "random_sample", "standard_normal", "ranf", "sample"]


def _continuous(
    kind: str,
    first: Any,
    second: Any,
    size: Shape | None,
    dtype: Any,
    device: DeviceLike,
    combine: Callable[[Any, Any, Any], Any],
) -> Array:
    """Draw numbers of one kind; parameters that are arrays are applied to standard draws."""
    want = default_float() if dtype is None else as_dtype(kind, dtype)
    if not is_real_float(want):
        raise TypeError(f"{kind}: dtype must be a float, got {want}")
    drawn = _FLOAT32 if want.itemsize == 2 else want
    where = device_for(device, first, second)
    shape = _shape(kind, size, first, second)
    if kind == "normal" and not _numbers(second):
        second = limited("normal", "scale", second, NOT_NEGATIVE)
    if _numbers(first, second):
        result = current().fill(kind, shape, drawn, where, float(first), float(second))
    else:
        standard = current().fill(kind, shape, drawn, where, 0.0, 1.0)
        result = combine(standard, asarray(first, drawn, where), asarray(second, drawn, where))
    result = result if drawn == want else cast(result, want)
    return _core.as_scalar(result) if size is None else result


def uniform(
    low: ArrayLike = 0.0,
    high: ArrayLike = 1.0,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: Out = None,
) -> Array:
    """Draw numbers evenly spread over [low, high), of shape `size` or else that of low and high together.

    The default float (float32) unless dtype is given. low and high may be arrays, to which gradients flow.

    Parameters
    ----------
    low : array_like, optional
        The lower end.
    high : array_like, optional
        The upper end.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for device.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        The numbers, of floats.

    Raises
    ------
    TypeError
        If `dtype` is not a float.
    ValueError
        If they do not broadcast to the size.
    OverflowError
        If high - low is not finite (where the result is read, if they are forerun arrays).

    Examples
    --------
    >>> from forerun import np
    >>> x = np.random.uniform(-1, 1, size=(2, 3))
    >>> x.shape, (abs(x) <= 1).all().item()
    ((2, 3), True)
    """
    return uniform_of_width((FINITE,), low, high, size, dtype, device or ctx, out)


def uniform_of_width(
    limits: tuple[Limits, ...],
    low: Any,
    high: Any,
    size: Shape | None,
    dtype: DTypeLike,
    device: DeviceLike,
    out: Out,
) -> Array:
    """Draw as `uniform`, where high - low must be within limits.

    >>> uniform_of_width((FINITE,), 0.0, 1.0, (2,), None, None, None).shape
    (2,)
    """
    late: tuple[Limits, ...] = ()
    if not (known(low) and known(high)):
        late = limits
    elif not _numbers(low, high) or not 0 <= high - low < math.inf:
        for each in limits:
            each.check("uniform", "high - low", numpy.subtract(high, low, dtype="float64"))

    def combine(u: Array, a: Array, b: Array) -> Array:
        return a + functools.reduce(lambda width, each: limited("uniform", "high - low", width, each), late, b - a) * u

    draw = lambda s, d: _continuous("uniform", low, high, s, d, device, combine)
    return draw_into("uniform", out, size, dtype, draw)


def rand(*shape: int, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Draw numbers evenly spread over [0, 1); extents are separate arguments. The default float unless dtype is given.

    Parameters
    ----------
    *shape : int
        The extents.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(size=shape, dtype=dtype, device=device or ctx)


def random(
    size: Shape | None = None, dtype: DTypeLike = None, out: Out = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers evenly spread over [0, 1). Without a size: one, without axes.

    The default float unless dtype is given.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    out : array, optional
        An array for the result.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.random((2, 3)).shape, np.random.random().shape
    ((2, 3), ())
    """
    return draw_into("random", out, size, dtype, lambda s, d: uniform(0.0, 1.0, s, d, device=device or ctx))


random_sample = ranf = sample = random


def normal(
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: Out = None,
) -> Array:
    """Draw numbers from the normal distribution with mean `loc` and standard deviation `scale`, which may be arrays.

    Of shape `size` or else that of loc and scale together; the default float unless dtype is given. Gradients flow to
    loc and scale.

    Parameters
    ----------
    loc : array_like, optional
        The mean.
    scale : array_like, optional
        The standard deviation.
    size : int or tuple of ints, optional
        The shape of the result; by default that of the parameters together.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for device.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        The numbers, of floats.

    Raises
    ------
    TypeError
        If `dtype` is not a float.
    ValueError
        If scale is negative: where the result is read, if it is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.normal(size=(2, 3)).shape, np.random.normal([0.0, 5.0], 1.0).shape
    ((2, 3), (2,))
    """
    combine = lambda z, mean, std: mean + std * z
    if out is None:
        return _continuous("normal", loc, scale, size, dtype, device or ctx, combine)
    draw = lambda s, d: _continuous("normal", loc, scale, s, d, device or ctx, combine)
    return draw_into("normal", out, size, dtype, draw)


def randn(*shape: int, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> Array:
    """Draw standard normal numbers; extents are separate arguments. The default float unless dtype is given.

    Parameters
    ----------
    *shape : int
        The extents.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(size=shape, dtype=dtype, device=device or ctx)


def standard_normal(
    size: Shape | None = None, dtype: DTypeLike = None, out: Out = None, *, device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the standard normal distribution. Without a size: one, without axes.

    The default float unless dtype is given.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    dtype : dtype, optional
        The dtype of the result; by default the default float.
    out : array, optional
        An array for the result.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The numbers, of floats.

    Raises
    ------
    TypeError
        If `dtype` is not a float.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.standard_normal(4, dtype="float64").dtype
    dtype('float64')
    """
    return draw_into("standard_normal", out, size, dtype, lambda s, d: normal(0.0, 1.0, s, d, device=device or ctx))
