"""Pooling: one number for each window, by windows' places one after the other, without writing windows out."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, cast, check_choice, default_float, is_real_float
from .._base.primitive import nondifferentiable, primitive
from ..elementwise.arithmetic import add, greater, less, logical_and, logical_not, maximum, square
from ..elementwise.select import where
from ..index.getitem import take_along_axis
from ..reduce.mean_variance import mean
from ..reduce.reduction import sum as sum_
from ..shape.axis_order import moveaxis
from ..shape.reshape import reshape
from ..sort.argmax import argmax
from .conv_windows import LAYOUTS, Extents, Windows, channels_first, channels_last, native, padded, per_axis

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Shape

__all__ = ["pooling"]


# --- the largest ----------------------------------------------------------------------------------


@primitive(lambda g, x, y, windows: _to_first(g, x, y, windows), op="pooling.max")
def _largest(x: Array, windows: Windows) -> Array:
    """Return the largest element of each window of x (..., *extents)."""
    if native(x):
        return _core.pool(x, windows.kernel, windows.stride, True)
    counts = _counts(x, windows)
    return functools.reduce(maximum, (_core.getitem(x, index) for _, index in windows.places(counts)))


def _firsts(x: Array, y: Array, windows: Windows) -> Any:
    """For each place in the kernel: its index, and in which windows it is the first that is not below the largest, y.

    If y is NaN, that is the first of all.
    """
    free = None
    for _, index in windows.places(_counts(x, windows)):
        below = less(_core.getitem(x, index), y)
        yield index, logical_not(below) if free is None else greater(free, below)
        free = below if free is None else logical_and(free, below)


@primitive(
    lambda g, b, c, windows: _at_first(g, b, c, windows), nondifferentiable, nondifferentiable,
    op="pooling.max.backward",
)  # fmt: skip
def _to_first(a: Array, b: Array, c: Array, windows: Windows) -> Array:
    """a, a number for each window of b, at the first place that has the window's largest, c; sums where these meet."""
    if native(a):
        return _core.pool_back(a, b, c, b.shape, windows.kernel, windows.stride)
    result = _core.full(b.shape, 0, a.dtype, a.device)
    for index, hit in _firsts(b, c, windows):
        _put(_core.getitem(result, index), where(hit, a, 0), windows)
    return result


@primitive(
    lambda g, b, c, windows: _to_first(g, b, c, windows), nondifferentiable, nondifferentiable,
    op="pooling.max.take",
)  # fmt: skip
def _at_first(a: Array, b: Array, c: Array, windows: Windows) -> Any:
    """The element of a, in the shape of b, at the first place of each window of b that has the window's largest, c."""
    taken = (where(hit, _core.getitem(a, index), 0) for index, hit in _firsts(b, c, windows))
    return functools.reduce(add, taken)


# --- the sum --------------------------------------------------------------------------------------


@primitive(lambda g, shape, windows: _to_all(g, shape[-len(windows.kernel) :], windows), op="pooling.sum")
def _total(x: Array, windows: Windows) -> Array:
    """Return the sum of each window of x (..., *extents)."""
    if native(x):
        return _core.pool(x, windows.kernel, windows.stride, False)
    counts = _counts(x, windows)
    return functools.reduce(add, (_core.getitem(x, index) for _, index in windows.places(counts)))


@primitive(lambda g, windows: _total(g, windows), op="pooling.sum.backward")
def _to_all(g: Array, extents: Extents, windows: Windows) -> Array:
    """Return a number for each window at all its elements; sums where windows meet."""
    if native(g):
        shape = (*g.shape[: -len(extents)], *extents)
        return _core.pool_back(g, None, None, shape, windows.kernel, windows.stride)
    counts = g.shape[-len(extents) :]
    result = _core.full((*g.shape[: -len(extents)], *extents), 0, g.dtype, g.device)
    for _, index in windows.places(counts):
        _put(_core.getitem(result, index), g, windows)
    return result


def _put(part: Array, value: Array, windows: Windows) -> None:
    """Add to the elements at one position of all windows, which are still 0 if windows do not overlap."""
    if windows.apart():
        _core.assign(part, value)
    else:
        add(part, value, out=part)


def _counts(x: Array, windows: Windows) -> Extents:
    return windows.counts(x.shape[-len(windows.kernel) :])


# --- public functions -----------------------------------------------------------------------------


def pooling(
    data: ArrayLike,
    kernel: Shape | None = None,
    pool_type: str = "max",
    global_pool: bool = False,
    pooling_convention: str = "valid",
    stride: Shape | None = None,
    pad: Shape | None = None,
    p_value: int = 2,
    count_include_pad: bool = True,
    layout: str | None = None,
) -> Array:
    """Return one number for each window of data: the largest element, the mean, the sum, or a root of a sum of powers.

    Parameters
    ----------
    data : array_like
        The values, of shape (batch, channels, *extents), with one to three axes of extents.
    kernel : int or tuple of ints, optional
        The extents of a window: a number for each axis of extents, or one for all. It must be given, unless
        `global_pool` is True.
    pool_type : str, optional
        The number that is computed: "max", "avg" for the mean, "sum", or "lp" for the `p_value`-th root of the sum of
        powers of absolute values. The gradient of "max" goes to the first of equal elements.
    global_pool : bool, optional
        Whether there is one window, of all elements of a channel. `kernel`, `stride` and `pad` have no effect then.
    pooling_convention : str, optional
        "valid" leaves out windows at the end that only partly fit into the padded data; with "full" they count.
    stride : int or tuple of ints, optional
        The distance between windows: a number for each axis of extents, or one for all; by default 1.
    pad : int or tuple of ints, optional
        The padding at both ends: a number for each axis of extents, or one for all; by default 0.
    p_value : int, optional
        The power of "lp": 1, 2 or 3.
    count_include_pad : bool, optional
        Whether padding counts in averages.
    layout : str, optional
        The order of axes of data and of the result: "NCW", "NCHW" or "NCDHW"; or "NWC", "NHWC" or "NDHWC", with the
        channels last.

    Returns
    -------
    array
        The numbers, of shape (batch, channels, *windows), or with the channels last if data has them there; each axis
        of windows has extent 1 if `global_pool` is True. The dtype is that of data; "avg" and "lp" of integers give the
        default float.

    Raises
    ------
    ValueError
        If an option or `p_value` is unknown, data has no axis of extents or more than three, the kernel does not fit
        into the padded data, or the padding is not less than the kernel.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.pooling(np.array([[[1.0, 3.0, 2.0, 0.0]]]), kernel=2, stride=2).tolist()
    [[[3.0, 2.0]]]
    """
    x = asarray(data)
    n = x.ndim - 2
    if n not in LAYOUTS:
        raise ValueError(f"pooling: data must have 1 to 3 axes after the first two, got shape {x.shape}")
    if channels_last("pooling", layout, n):
        settings = kernel, pool_type, global_pool, pooling_convention, stride, pad, p_value, count_include_pad
        return moveaxis(pooling(channels_first(x), *settings), 1, -1)
    check_choice("pooling", "pool_type", pool_type, ("max", "avg", "sum", "lp"))
    check_choice("pooling", "pooling_convention", pooling_convention, ("valid", "full"))
    if p_value not in (1, 2, 3):
        raise ValueError(f"pooling: p_value must be 1, 2 or 3, got {p_value}")
    if pool_type in ("avg", "lp") and not is_real_float(x.dtype):
        x = cast(x, default_float())
    if global_pool:
        return _of_all(x, pool_type, p_value)
    windows = Windows(
        per_axis("pooling", "kernel", kernel, n, 0, 1), per_axis("pooling", "stride", stride, n, 1, 1), (1,) * n
    )
    pads = per_axis("pooling", "pad", pad, n, 0, 0)
    counts = _fitting(windows, pads, x.shape[2:], pooling_convention == "full")
    widths = tuple((p, max(p, r - s - p)) for p, r, s in zip(pads, windows.reach(counts), x.shape[2:]))
    if pool_type == "max":
        return _largest(padded(x, widths, _least(x.dtype)), windows)
    if pool_type == "lp":
        return _root(_total(padded(_power(x, p_value), widths), windows), p_value)
    total = _total(padded(x, widths), windows)
    if pool_type == "sum":
        return total
    result: Array = total / _divisor(windows, counts, pads if count_include_pad else (0,) * n, pads, x)
    return result


def _of_all(x: Array, kind: str, p: int) -> Array:
    """Pooling with one window, of everything: (batch, channels, 1, ...)."""
    flat = reshape(x, (*x.shape[:2], -1))
    if kind == "max":
        y = take_along_axis(flat, argmax(flat, 2, keepdims=True), 2)
    elif kind == "lp":
        y = _root(sum_(_power(flat, p), 2, keepdims=True), p)
    else:
        y = (mean if kind == "avg" else sum_)(flat, 2, keepdims=True)
    return reshape(y, (*x.shape[:2], *(1,) * (x.ndim - 2)))


def _fitting(windows: Windows, pads: Extents, extents: Extents, full: bool) -> Extents:
    """Return how many windows there are along each axis."""
    whole = tuple(n + 2 * p for n, p in zip(extents, pads))
    if any(k > n for k, n in zip(windows.kernel, whole)) or any(p >= k for p, k in zip(pads, windows.kernel)):
        raise ValueError(
            f"pooling: kernel must fit into the padded data and be larger than the padding, "
            f"got {windows.kernel} for {whole}, padded by {pads}"
        )
    more = tuple(s - 1 if full else 0 for s in windows.stride)
    return windows.counts([n + m for n, m in zip(whole, more)])


def _divisor(windows: Windows, counts: Extents, counted: Extents, pads: Extents, x: Array) -> Any:
    """Return the divisor of averages: the number of elements of each window in the data and the counted padding."""
    sizes = numpy.ones((), "int64")
    for k, s, n, c, p, extent in zip(windows.kernel, windows.stride, counts, counted, pads, x.shape[2:]):
        starts = numpy.arange(n) * s - p
        along = numpy.minimum(starts + k, extent + c) - numpy.maximum(starts, -c)
        sizes = numpy.multiply.outer(sizes, numpy.maximum(along, 1))
    if (sizes == sizes.flat[0]).all():
        return int(sizes.flat[0])
    return cast(_core.from_numpy(sizes, x.device), x.dtype)


def _least(dtype: numpy.dtype) -> float:
    """Return the lowest value of a dtype."""
    if dtype.kind == "b":
        return False
    return numpy.iinfo(dtype).min if dtype.kind in "iu" else -numpy.inf


def _power(x: Array, p: int) -> Array:
    """Return |x|^p."""
    return square(x) if p == 2 else abs(x) if p == 1 else abs(x) * square(x)


def _root(total: Array, p: int) -> Array:
    """Return total^(1 / p); nothing flows back where it is 0."""
    positive = total > 0
    return total if p == 1 else where(positive, where(positive, total, 1) ** (1 / p), 0)
