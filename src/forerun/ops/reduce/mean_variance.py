"""Means, variances, standard deviations, weighted means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .._base import core as _core
from .._base.convert import (
    as_dtype,
    asarray,
    asarray_like_device,
    asarrays,
    axes_of,
    broadcast_shapes,
    cast,
    is_inexact,
    write_out,
)
from .._base.host_task import checked
from .._base.primitive import direct
from .._base.promotion import real_of
from ..elementwise.arithmetic import sqrt, square, subtract
from ..elementwise.select import where as select
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from ..shape.complex_parts import real
from ..shape.reshape import reshape
from .reduction import _chosen, _floating, _sum, sum

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = ["average", "mean", "std", "var"]


def _count(x: Array, axes: tuple[int, ...], where: ArrayLike, dtype: numpy.dtype | None = None) -> Any:
    """Return how many elements over axes count: a number, or floats with the axes kept if a mask chooses them."""
    if where is True:
        return math.prod(x.shape[i] for i in axes)
    real_dtype = dtype or real_of(x.dtype)
    mask = broadcast_to(asarray(where, device=x.device), x.shape)
    return _sum(cast(mask, real_dtype), axes, True)


def _divided(total: Array, n: Array | float, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return sums (with their axes kept if n is an array) divided by n; NaN where n is not positive."""
    if isinstance(n, (int, float)):
        return total / (n if n > 0 else math.nan)
    result = total / select(n > 0, n, math.nan)
    if keepdims:
        return result
    return _core.as_scalar(reshape(result, tuple(k for i, k in enumerate(result.shape) if i not in axes)))


def _over(x: Array, where: ArrayLike) -> Array:
    """Return x. Raises ValueError if the mask does not fit it."""
    shape = asarray(where).shape
    if broadcast_shapes("where", x.shape, shape) != x.shape:
        raise ValueError(f"where: mask must broadcast to {x.shape}, got {shape}")
    return x


def _whole(op: str, dtype: DTypeLike) -> numpy.dtype | None:
    """Return the dtype asked for, if it has no fractions."""
    want = None if dtype is None else as_dtype(op, dtype)
    return None if want is None or is_inexact(want) else want


def _cut_off(
    op: str, x: Array, axis: Axis, dtype: numpy.dtype, keepdims: bool, where: ArrayLike, ddof: float = 0
) -> Array:
    """Return the mean in a dtype without fractions, as NumPy's: summed in it; the quotient is cast to it."""
    axes = axes_of(op, axis, x.ndim)
    x = x if where is True else _over(x, where)
    total = sum(x, axes, dtype, None, keepdims or where is not True, where=where)
    wide = numpy.dtype("float64")
    return cast(_divided(cast(total, wide), _count(x, axes, where, wide) - ddof, axes, keepdims), dtype)


@direct("mean")
def mean(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False, *,
    where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the mean over axes (by default all).

    The mean of integers is in the default float; 16-bit floats are summed in float32, and rounded once.

    Of no elements: NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to sum in, and of the result; if it has no fractions they are cut off.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The mean over axes (by default all).

    Examples
    --------
    >>> from forerun import np
    >>> np.mean([[1, 2], [3, 4]], axis=0).tolist()
    [2.0, 3.0]
    """
    if whole := _whole("mean", dtype):
        return write_out("mean", _cut_off("mean", asarray_like_device(a, where), axis, whole, keepdims, where), out)
    x = _floating(asarray_like_device(a, where), dtype, "mean")
    if x.dtype.itemsize == 2:
        wide = mean(cast(x, numpy.dtype("float32")), axis, None, None, keepdims, where=where)
        return write_out("mean", cast(wide, x.dtype), out)
    axes = axes_of("mean", axis, x.ndim)
    if where is True:
        n = math.prod(x.shape[i] for i in axes)
        return write_out("mean", _sum(x, axes, keepdims) / (n if n else math.nan), out)
    x = _over(x, where)
    return write_out(
        "mean", _divided(_sum(_chosen(x, where, 0), axes, True), _count(x, axes, where), axes, keepdims), out
    )


def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> Array:
    """Return the variance over axes (by default all): squared deviations from the mean, summed, divided by n - ddof.

    Of integers in the default float, of complex numbers real; NaN if n is not more than ddof. dtype: as for `mean`.

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
        Another word for ddof.

    Returns
    -------
    array
        The variance over axes (by default all).

    Raises
    ------
    ValueError
        If `ddof` and `correction` are both given.

    Examples
    --------
    >>> from forerun import np
    >>> np.var([1, 2, 3, 4]).item(), np.var([1, 3], ddof=1).item()
    (1.25, 2.0)
    """
    whole = _whole("var", dtype)
    x = asarray_like_device(a, where, mean)
    x = x if whole else _floating(x, dtype, "var")
    ddof = _less("var", ddof, correction)
    axes = axes_of("var", axis, x.ndim)
    x = x if where is True else _over(x, where)
    middle = _mean(x, axes, whole, keepdims=True, where=where) if mean is None else asarray_like_device(mean, x)
    deviation = subtract(x, middle)
    squares = real(deviation * deviation.conj()) if deviation.dtype.kind == "c" else square(deviation)
    if whole:
        return write_out("var", _cut_off("var", squares, axes, whole, keepdims, where, ddof), out)
    total = _sum(_chosen(squares, where, 0), axes, keepdims or where is not True)
    result = _divided(total, _count(x, axes, where) - ddof, axes, keepdims)
    return write_out("var", result if dtype is None else cast(result, x.dtype), out)


_mean = mean  # `mean` is a parameter of var()


def _less(op: str, ddof: float, correction: float | None) -> float:
    """Return the correction of the number of elements, a parameter with two names."""
    if correction is not None and ddof != 0:
        raise ValueError(f"{op}: ddof and correction must not both be given, got {ddof} and {correction}")
    return ddof if correction is None else correction


def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> Array:
    """Return the standard deviation over axes: the root of `var`, with its parameters.

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
        The standard deviation over axes.

    Raises
    ------
    TypeError
        For a dtype without fractions, but of all elements together, as in NumPy.

    Examples
    --------
    >>> from forerun import np
    >>> np.std([[1, 3], [2, 6]], axis=1).tolist()
    [1.0, 2.0]
    """
    known: dict[str, Any] = {"where": where, "mean": mean, "correction": correction}
    squares = var(a, axis, dtype, None, ddof, keepdims, **known)
    if whole := _whole("std", dtype):
        if squares.ndim:
            raise TypeError(f"std: dtype must have fractions for several results, got {whole}")
        return write_out("std", cast(sqrt(cast(squares, numpy.dtype("float64"))), whole), out)
    return write_out("std", sqrt(squares), out)


def _not_zero(sums: numpy.ndarray) -> None:
    if (sums == 0).any():
        raise ZeroDivisionError("average: weights must not sum to zero, got 0")


@overload
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: Literal[False] = False, *,
    keepdims: bool = False,
) -> Array: ...  # fmt: skip
@overload
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, *, returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Array, Array]: ...  # fmt: skip
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the weighted mean over axes: sum(`a` * weights) / sum(weights). Without weights: `mean`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    weights : array_like, optional
        Of `a`'s shape, or of the shape of those axes; ValueError if of another, TypeError if no axes are named then;
        ZeroDivisionError, where the result is read, if their sum is zero.
    returned : bool, optional
        Whether to return the sum of weights too.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array, or tuple of arrays
        The mean, with `returned` also the sum of weights.

    Raises
    ------
    ValueError
        If the weights have another shape than `a`, or than the named axes.
    TypeError
        If the weights have another shape than `a`, and no axes are named.
    ZeroDivisionError
        Where the result is read, if the sum of the weights is zero.

    Examples
    --------
    >>> from forerun import np
    >>> np.average([1, 2, 4], weights=[1, 1, 2]).item()
    2.75
    """
    if weights is None:
        x = asarray(a)
        result = mean(x, axis, keepdims=keepdims)
        n = math.prod(x.shape[i] for i in axes_of("average", axis, x.ndim))
        return (result, _core.as_scalar(_core.full(result.shape, n, result.dtype, x.device))) if returned else result
    x, w = asarrays(a, weights)
    if w.shape != x.shape:
        axes = axes_of("average", axis, x.ndim)
        if axis is None:
            raise TypeError(f"average: axis must be given for weights of another shape, got {w.shape} for {x.shape}")
        if w.shape != tuple(x.shape[i] for i in axes):
            raise ValueError(
                f"average: weights must have its shape or that of axes, got {w.shape} for {x.shape} along {axis}"
            )
        w = transpose(w, [int(i) for i in numpy.argsort(axes)])
        w = broadcast_to(reshape(w, tuple(n if i in axes else 1 for i, n in enumerate(x.shape))), x.shape)
    total = sum(x * w, axis, keepdims=keepdims)
    scale = checked(sum(w, axis, keepdims=keepdims), "average", _not_zero)
    result = total / scale
    return (result, cast(scale, result.dtype)) if returned else result
