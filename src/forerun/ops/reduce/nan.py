"""Data with NaN in it: reductions and running sums that leave it out, and other numbers in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    as_dtype,
    asarray,
    asarray_like_device,
    axes_of,
    axes_to_reduce,
    cast,
    is_inexact,
    is_real_float,
    write_out,
)
from .._base.dtypes import finfo
from .._base.primitive import primitive
from .._base.promotion import real_of
from ..elementwise.arithmetic import conjugate, fmax, fmin, isnan, sqrt
from ..elementwise.select import where
from ..elementwise.select import where as _where  # `where` is a parameter of many
from ..shape.complex_parts import imag, real
from .mean_variance import _less, _over
from .product import prod
from .reduction import _check_filled, _chosen, _floating, _ties, max, min, sum
from .scan import cumprod, cumsum

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = [
    "nan_to_num", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar",
]  # fmt: skip


@primitive(lambda g, y, x, axes, keepdims: _ties(g, y, x, axes, keepdims), op="nanmax")
def _nanmax(x: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
    return _core.reduce(fmax, x, axes, None, keepdims, "nanmax")


@primitive(lambda g, y, x, axes, keepdims: _ties(g, y, x, axes, keepdims), op="nanmin")
def _nanmin(x: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
    return _core.reduce(fmin, x, axes, None, keepdims, "nanmin")


def _without_nan(op: str, reduced: Callable[..., Any], x: Array, axis: Axis, out: Out, keepdims: bool) -> Array:
    """Return `nanmax` or `nanmin` of all elements."""
    axes = axes_to_reduce(op, axis, x.ndim)
    _check_filled(op, x, axes)
    return write_out(op, reduced(x, axes, keepdims), out)


def nanmax(
    a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False, initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the largest element over axes (by default all) that is not NaN; NaN if all are. `a`'s dtype.

    Equal largest elements share the gradient.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    initial : array_like, optional
        A further value to start from.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The largest element over axes (by default all) that is not NaN.

    Raises
    ------
    ValueError
        If there is no element.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanmax([[1.0, np.nan], [3.0, 2.0]], axis=1).tolist()
    [1.0, 3.0]
    """
    x = asarray_like_device(a, initial, where)
    if initial is not None or where is not True:
        return max(_filled(x, -numpy.inf), axis, out, keepdims, initial, where)
    return _without_nan("nanmax", _nanmax, x, axis, out, keepdims)


def nanmin(
    a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False, initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the smallest element over axes (by default all) that is not NaN; NaN if all are. `a`'s dtype.

    Equal smallest elements share the gradient.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    initial : array_like, optional
        A further value to start from.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The smallest element over axes (by default all) that is not NaN.

    Raises
    ------
    ValueError
        If there is no element.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanmin([[1.0, np.nan], [3.0, 2.0]], axis=1).tolist()
    [1.0, 2.0]
    """
    x = asarray_like_device(a, initial, where)
    if initial is not None or where is not True:
        return min(_filled(x, numpy.inf), axis, out, keepdims, initial, where)
    return _without_nan("nanmin", _nanmin, x, axis, out, keepdims)


def _filled(x: ArrayLike, value: float) -> Array:
    """Return x with a number in place of NaN."""
    x = asarray(x)
    return where(isnan(x), value, x) if is_inexact(x.dtype) else x


def nansum(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the sum over axes with NaN counted as 0; otherwise as `sum`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    initial : array_like, optional
        A further value to start from.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The sum over axes with NaN counted as 0.

    Examples
    --------
    >>> from forerun import np
    >>> np.nansum([1.0, np.nan, 2.0]).item()
    3.0
    """
    return sum(_filled(asarray_like_device(a, initial, where), 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the product over axes (by default all) with NaN counted as 1; otherwise as `prod`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    initial : array_like, optional
        A further value to start from.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The product over axes (by default all) with NaN counted as 1.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanprod([2.0, np.nan, 3.0]).item()
    6.0
    """
    return prod(_filled(asarray_like_device(a, initial, where), 1), axis, dtype, out, keepdims, initial, where)


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """Return running sums along `axis`, or of the flat array, with NaN counted as 0.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Running sums along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.nancumsum([2.0, np.nan, 3.0]).tolist()
    [2.0, 2.0, 5.0]
    """
    return cumsum(_filled(a, 0), axis, dtype, out)


def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """Return running products along `axis`, or of the flat array, with NaN counted as 1.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Running products along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.nancumprod([2.0, np.nan, 3.0]).tolist()
    [2.0, 2.0, 6.0]
    """
    return cumprod(_filled(a, 1), axis, dtype, out)


def _numbers(x: Array, axes: tuple[int, ...], dtype: numpy.dtype) -> Array:
    """Return how many elements over axes are not NaN, as floats, with the axes kept."""
    return sum(cast(~isnan(x), dtype), axes, keepdims=True)


def _unmasked(a: ArrayLike, dtype: DTypeLike, mask: ArrayLike) -> Array:
    """Floats, with NaN in place of the elements that a mask leaves out. TypeError if others are asked of floats."""
    a = asarray_like_device(a, mask)
    if dtype is not None and is_inexact(a.dtype) and not is_inexact(as_dtype("dtype", dtype)):
        raise TypeError(f"dtype: must be of floats as the array is, got {dtype}")
    x = _floating(a if dtype is None else asarray(a, dtype), None, "nanmean")
    return x if mask is True else _chosen(_over(x, mask), mask, numpy.nan)


def nanmean(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False, *,
    where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the mean over axes of the elements that are not NaN; NaN if all are. Of integers in the default float.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The mean over axes of the elements that are not NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanmean(np.array([1.0, np.nan, 3.0])).item()
    2.0
    """
    x = _unmasked(a, dtype, where)
    axes = _axes("nanmean", a, axis)
    result = sum(_filled(x, 0), axes, keepdims=True) / _numbers(x, axes, real_of(x.dtype))
    return write_out("nanmean", result if keepdims else _dropped(result, axes), out)


def _axes(op: str, a: ArrayLike, axis: Axis) -> tuple[int, ...]:
    """Return axes to reduce; as in NumPy, only floats without axes may be reduced over axis 0."""
    x = asarray(a)
    return axes_to_reduce(op, axis, x.ndim) if is_inexact(x.dtype) else axes_of(op, axis, x.ndim)


def _dropped(x: Array, axes: tuple[int, ...]) -> Array:
    return _core.as_scalar(x.reshape(tuple(n for i, n in enumerate(x.shape) if i not in axes)))


def nanvar(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, ddof: float = 0, keepdims: bool = False,
    *, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Return the variance over axes (by default all) of the elements that are not NaN.

    Squared deviations from their mean, divided by their number less ddof; NaN if there are not more than ddof. Of
    integers in the default float. where, mean, correction: as for `var`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    ddof : float, optional
        The number that is subtracted from the count before the division.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    where : array_like, optional
        A mask of the elements that count.
    mean : array_like, optional
        The mean, if it is known, with its axes kept.
    correction : float, optional
        Another name for `ddof`.

    Returns
    -------
    array
        The variance over axes (by default all) of the elements that are not NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanvar([2.0, np.nan, 4.0]).item()
    1.0
    """
    x, less = _unmasked(asarray_like_device(a, mean, where), dtype, where), _less("nanvar", ddof, correction)
    axes = _axes("nanvar", a, axis)
    n = _numbers(x, axes, real_of(x.dtype))
    middle = sum(_filled(x, 0), axes, keepdims=True) / n if mean is None else asarray_like_device(mean, x)
    deviation = _where(isnan(x), 0, x - middle)  # of an infinite mean they are NaN
    squares = real(deviation * conjugate(deviation)) if x.dtype.kind == "c" else deviation * deviation
    result = sum(squares, axes, keepdims=True) / _where(n > less, n - less, numpy.nan)
    return write_out("nanvar", result if keepdims else _dropped(result, axes), out)


def nanstd(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, ddof: float = 0, keepdims: bool = False,
    *, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Return the standard deviation over axes of the elements that are not NaN: the root of `nanvar`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    ddof : float, optional
        The number that is subtracted from the count before the division.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    where : array_like, optional
        A mask of the elements that count.
    mean : array_like, optional
        The mean, if it is known, with its axes kept.
    correction : float, optional
        Another name for `ddof`.

    Returns
    -------
    array
        The standard deviation over axes of the elements that are not NaN.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanstd([1.0, np.nan, 5.0]).item()
    2.0
    """
    known: dict[str, Any] = {"where": where, "mean": mean, "correction": correction}
    return write_out("nanstd", sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, **known)), out)


def nan_to_num(
    x: ArrayLike, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """Return x with `nan` in place of NaN, and `posinf` and `neginf` in place of infinities. x's dtype.

    Parameters
    ----------
    x : array_like
        The values.
    copy : bool, optional
        False writes them into x.
    nan : float, optional
        The number in place of NaN.
    posinf, neginf : float, optional
        By default the largest and smallest number of the dtype.

    Returns
    -------
    array
        `x` with `nan` in place of NaN, and `posinf` and `neginf` in place of infinities.

    Examples
    --------
    >>> from forerun import np
    >>> np.nan_to_num([1.0, np.nan, np.inf], posinf=9).tolist()
    [1.0, 0.0, 9.0]
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        result = nan_to_num(real(x), True, nan, posinf, neginf) + 1j * nan_to_num(imag(x), True, nan, posinf, neginf)
    elif is_real_float(x.dtype):
        limits = finfo(x.dtype)
        high, low = (
            (float(limits.max) if posinf is None else posinf),
            (float(limits.min) if neginf is None else neginf),
        )
        result = where(isnan(x), nan, where(x == numpy.inf, high, where(x == -numpy.inf, low, x)))
    else:
        result = x.copy() if copy else x
    return _core.as_scalar(result) if copy else write_out("nan_to_num", result, x)
