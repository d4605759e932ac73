"""Medians and quantiles, as host tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import (
    asarray,
    asarray_like_device,
    axes_of,
    check_choice,
    default_float,
    is_inexact,
    is_real_float,
    write_out,
)
from .._base.host_task import host_op, quiet
from .._base.primitive import numpy_when_small

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, Out

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]


def _statistic(
    name: str, fn: Callable[..., Any], x: ArrayLike, extra: tuple[int, ...], axis: Axis, keepdims: bool
) -> Array:
    x = asarray(x)
    at = axes_of(name, axis, x.ndim)
    shape = tuple(1 if i in at else n for i, n in enumerate(x.shape) if keepdims or i not in at)
    dtype = x.dtype if is_inexact(x.dtype) else default_float()
    return host_op(name, lambda v: numpy.asarray(fn(v, at)).astype(dtype), [x], extra + shape, dtype)


@numpy_when_small(numpy.median, "a axis", "ai", "f")
def median(
    a: ArrayLike, axis: Axis = None, out: Out = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """Return the middle value along axes (by default all), of an even number the mean of two.

    In `a`'s dtype, or the default float if `a` is not of floats.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    overwrite_input : bool, optional
        Has no effect.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The middle value along axes (by default all).

    Examples
    --------
    >>> from forerun import np
    >>> np.median([[1, 5, 2], [4, 3, 8]], axis=1).tolist(), np.median([1, 2]).item()
    ([2.0, 4.0], 1.5)
    """
    middle = lambda v, at: numpy.median(v, at, keepdims=keepdims)
    return write_out("median", _statistic("median", middle, a, (), axis, keepdims), out)


_METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
    "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip


_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")  # give one of the elements


def _quantile(
    op: str, x: Any, q: Any, most: int, axis: Any, out: Any, method: str, keepdims: bool, weights: Any
) -> Array:
    """Return `quantile` and its relatives: `most` is the upper limit of q."""
    check_choice(op, "method", method, _METHODS)
    x, q = asarray_like_device(x, q, weights), numpy.asarray(q, "float64")
    if not ((q >= 0) & (q <= most)).all():
        raise ValueError(f"{op}: q must be in [0, {most}], got {q}")
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: array must be of real numbers, got {x.dtype}")
    at = axes_of(op, axis, x.ndim)
    fn = numpy.nanquantile if op.startswith("nan") else numpy.quantile
    if fn is numpy.quantile and any(x.shape[i] == 0 for i in at):
        raise IndexError(f"{op}: reduced axes must not be empty, got shape {x.shape}")
    options = {"method": method, "keepdims": keepdims}

    def found(v: numpy.ndarray, w: numpy.ndarray | None = None) -> Any:
        return quiet(fn, v, q / most, at, weights=w, **options)

    shape = q.shape + tuple(1 if i in at else n for i, n in enumerate(x.shape) if keepdims or i not in at)
    some = all(x.shape[i] for i in at)
    kept = is_real_float(x.dtype) or (method in _DISCRETE and x.dtype.kind in "iu" and some)
    dtype = x.dtype if kept else default_float()
    inputs = [x] if weights is None else [x, _weights(op, x, weights, at, axis, method)]

    def task(*values: numpy.ndarray) -> numpy.ndarray:
        return numpy.broadcast_to(numpy.asarray(found(*values)).astype(dtype), shape)

    return write_out(op, host_op(op, task, inputs, shape, dtype), out)


def _weights(op: str, x: Array, weights: Array, at: tuple[int, ...], axis: int | None, method: str) -> Array:
    if method != "inverted_cdf":
        raise ValueError(f"{op}: method must be inverted_cdf with weights, got {method!r}")
    w = asarray(weights, device=x.device)
    if w.dtype.kind == "c":
        raise TypeError(f"{op}: weights must be real numbers, got {w.dtype}")
    if w.shape == x.shape:
        return w
    if axis is None:
        raise TypeError(f"{op}: axis must be given as weights have another shape, got {w.shape} for {x.shape}")
    if w.shape != tuple(x.shape[i] for i in at):
        raise ValueError(f"{op}: weights must have the shape of axes, got {w.shape} for {x.shape} along {axis}")
    order = [int(i) for i in numpy.argsort(at)]
    full = tuple(n if i in at else 1 for i, n in enumerate(x.shape))
    return w.transpose(order).reshape(full).broadcast_to(x.shape)


@numpy_when_small(numpy.quantile, "a q", "an", "D")
def quantile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: Out = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
    interpolation: str | None = None,
) -> Array:  # fmt: skip
    """Return the q-th quantiles (q between 0 and 1) along axes (by default all); `a`'s dtype or the default float.

    Axes of q, which may be an array, come first in the result.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like
        The quantile, or quantiles, between 0 and 1.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    overwrite_input : bool, optional
        Has no effect.
    method : str, optional
        The rule for a value between two elements: "linear", "lower", "higher", "nearest", "midpoint" or another of
        NumPy's; those that give an element keep the dtype of integers.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    weights : array_like, optional
        How much each element counts, with method "inverted_cdf" only.
    interpolation : str, optional
        An older name for method.

    Returns
    -------
    array
        The q-th quantiles (q between 0 and 1) along axes (by default all).

    Raises
    ------
    ValueError
        If q is out of range or the method is another.
    IndexError
        If there is no element.
    TypeError
        For complex numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.quantile([0, 1, 2, 3], [0.5, 1]).tolist(), np.quantile([0, 1, 2, 3], 0.5, method="lower").item()
    ([1.5, 3.0], 1)
    """
    return _quantile("quantile", a, q, 1, axis, out, interpolation or method, keepdims, weights)


@numpy_when_small(numpy.percentile, "a q", "an", "f")
def percentile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: Out = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
    interpolation: str | None = None,
) -> Array:  # fmt: skip
    """Return the q-th percentiles (q between 0 and 100) along axes; otherwise as `quantile`.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like
        The percentile, or percentiles, between 0 and 100.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    overwrite_input : bool, optional
        Has no effect.
    method : str, optional
        The rule for a value between two elements, as in `quantile`.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    weights : array_like, optional
        How much each element counts, as in `quantile`.
    interpolation : str, optional
        An older name for `method`.

    Returns
    -------
    array
        The q-th percentiles (q between 0 and 100) along axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.percentile([0, 1, 2, 3, 4], [25, 50]).tolist()
    [1.0, 2.0]
    """
    return _quantile("percentile", a, q, 100, axis, out, interpolation or method, keepdims, weights)


def nanquantile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: Out = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
    interpolation: str | None = None,
) -> Array:  # fmt: skip
    """Return the q-th quantiles of the elements that are not NaN; NaN if all are. Otherwise as `quantile`.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like
        The quantile, or quantiles, between 0 and 1.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    overwrite_input : bool, optional
        Has no effect.
    method : str, optional
        The rule for a value between two elements, as in `quantile`.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    weights : array_like, optional
        How much each element counts, as in `quantile`.
    interpolation : str, optional
        An older name for `method`.

    Returns
    -------
    array
        The q-th quantiles of the elements that are not NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanquantile([0.0, np.nan, 2.0], 0.5).item()
    1.0
    """
    return _quantile("nanquantile", a, q, 1, axis, out, interpolation or method, keepdims, weights)


def nanpercentile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: Out = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
    interpolation: str | None = None,
) -> Array:  # fmt: skip
    """Return the q-th percentiles of the elements that are not NaN; NaN if all are. Otherwise as `percentile`.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like
        The percentile, or percentiles, between 0 and 100.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    overwrite_input : bool, optional
        Has no effect.
    method : str, optional
        The rule for a value between two elements, as in `quantile`.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    weights : array_like, optional
        How much each element counts, as in `quantile`.
    interpolation : str, optional
        An older name for `method`.

    Returns
    -------
    array
        The q-th percentiles of the elements that are not NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanpercentile([0.0, np.nan, 2.0], [0, 100]).tolist()
    [0.0, 2.0]
    """
    return _quantile("nanpercentile", a, q, 100, axis, out, interpolation or method, keepdims, weights)


def nanmedian(
    a: ArrayLike, axis: Axis = None, out: Out = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """Return the middle one of the values along axes that are not NaN; NaN if all are. Otherwise as `median`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    overwrite_input : bool, optional
        Has no effect.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The middle one of the values along axes that are not NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanmedian([1.0, np.nan, 2.0, 5.0]).item()
    2.0
    """
    middle = lambda v, at: quiet(numpy.nanmedian, v, at, keepdims=keepdims)
    return write_out("nanmedian", _statistic("nanmedian", middle, a, (), axis, keepdims), out)
