"""Vectors of numbers at equal distances or ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, count_of, default_float, ints_become_floats, is_inexact, unsupported
from .._base.primitive import direct
from .arguments import _device, _known

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__ = ["arange", "geomspace", "linspace", "logspace"]


def _placed(values: numpy.ndarray, dtype: DTypeLike, device: DeviceLike, ctx: DeviceLike, op: str) -> Array:
    """Return values that NumPy made, in the default float if they are floats and nothing else is asked for."""
    if dtype is not None:
        values = values.astype(as_dtype(op, dtype), copy=False)
    elif values.dtype.kind == "f" or (values.dtype.kind == "i" and ints_become_floats() and op == "arange"):
        values = values.astype(default_float())
    elif values.dtype.kind == "c":
        values = values.astype(as_dtype(op, complex))
    return _core.taken(values, _device(device, ctx))


@direct("arange")
def arange(
    start: complex | Array | None = None, stop: complex | Array | None = None, step: complex | Array = 1,
    dtype: DTypeLike = None, *, device: DeviceLike = None, like: None = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return numbers from start (by default 0) up to, not including, stop: a vector.

    int64 from integers, otherwise the default float, unless dtype is given. start by keyword must come with stop.

    Parameters
    ----------
    start : number or array, optional
        The first number; 0 by default.
    stop : number or array, optional
        The end of the range, which is not included.
    step : number or array, optional
        The distance of two numbers.
    dtype : dtype, optional
        The dtype of the result.
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        Numbers from start (by default 0) up to.

    Raises
    ------
    ZeroDivisionError
        If step is 0.
    TypeError
        If neither start nor stop is given or one has axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.arange(3).tolist(), np.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    unsupported("arange", like=like)
    if start is None and stop is None:
        raise TypeError("arange: start or stop must be given, got none")
    if any(getattr(v, "ndim", 0) for v in (start, stop, step)):
        raise TypeError(f"arange: numbers must have no axes, got {start!r}, {stop!r}, {step!r}")
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    if step == 0:
        raise ZeroDivisionError("arange: step must not be zero, got 0")
    want = None if dtype is None else as_dtype("arange", dtype)
    whole = want is not None and want.kind in "iub"  # NumPy counts in these; floats are rounded once, at the end
    bounds: list[Any] = [start, stop, step]
    return _placed(numpy.arange(*bounds, dtype=want if whole else None), want, device, ctx, "arange")


@overload
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: Literal[False] = False,
    dtype: DTypeLike = None, axis: int = 0, *, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array: ...  # fmt: skip
@overload
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, *, retstep: Literal[True],
    dtype: DTypeLike = None, axis: int = 0, device: DeviceLike = None, ctx: DeviceLike = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@direct("linspace")
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: DTypeLike = None, axis: int = 0, *, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Any:  # fmt: skip
    """Return num numbers at equal distances from start to stop, which is the last one unless `endpoint` is False.

    The default float unless dtype is given; start and stop may be arrays, and the numbers lie along a new axis `axis`.

    Parameters
    ----------
    start : array_like
        The first number.
    stop : array_like
        The last number.
    num : int, optional
        The number of values.
    endpoint : bool, optional
        Whether `stop` is the last number.
    retstep : bool, optional
        Whether to return the distance too.
    dtype : dtype, optional
        The dtype; by default the default float.
    axis : int, optional
        The axis of the result along which the numbers lie.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array, or tuple of arrays
        The numbers, with `retstep` also their distance.

    Raises
    ------
    ValueError
        If num is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.linspace(0, 1, 5).tolist(), np.linspace(0, 1, 4, endpoint=False).tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75])
    """
    num = count_of("linspace", "num", num)
    want = None if dtype is None else as_dtype("linspace", dtype)
    exact = None if want is None or is_inexact(want) else want
    values, step = numpy.linspace(_known(start), _known(stop), num, endpoint, retstep=True, dtype=exact, axis=axis)
    placed = _placed(values, want, device, ctx, "linspace")
    return (placed, step) if retstep else placed


def logspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, base: ArrayLike = 10.0,
    dtype: DTypeLike = None, axis: int = 0, *, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return base to the power of each number of `linspace(start, stop, num)`; the default float unless dtype is given.

    Parameters
    ----------
    start : array_like
        The exponent of the first number.
    stop : array_like
        The exponent of the last number.
    num : int, optional
        The number of values.
    endpoint : bool, optional
        Whether `stop` is the last number.
    base : array_like, optional
        The base of the powers.
    dtype : dtype, optional
        The dtype; by default the default float.
    axis : int, optional
        The axis of the result along which the numbers lie.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        `base` to the power of each number of `linspace(start, stop, num)`; the default float unless dtype is given.

    Examples
    --------
    >>> from forerun import np
    >>> np.logspace(0, 3, 4, base=2).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    num = count_of("logspace", "num", num)
    values = numpy.logspace(_known(start), _known(stop), num, endpoint, _known(base), None, axis)
    return _placed(values, dtype, device, ctx, "logspace")


def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0, *,
    device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return num numbers at equal ratios from start to stop; the default float unless dtype is given.

    Parameters
    ----------
    start : array_like
        The first number.
    stop : array_like
        The last number.
    num : int, optional
        The number of values.
    endpoint : bool, optional
        Whether `stop` is the last number.
    dtype : dtype, optional
        The dtype; by default the default float.
    axis : int, optional
        The axis of the result along which the numbers lie.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        `num` numbers at equal ratios from start to stop; the default float unless dtype is given.

    Raises
    ------
    ValueError
        If start or stop is 0, or num is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.geomspace(1, 8, 4).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    num, ends = count_of("geomspace", "num", num), (_known(start), _known(stop))
    if not all(map(numpy.all, ends)):
        raise ValueError(f"geomspace: start and stop must not be zero, got {ends[0]} and {ends[1]}")
    return _placed(numpy.geomspace(*ends, num, endpoint, None, axis), dtype, device, ctx, "geomspace")
