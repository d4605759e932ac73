"""Reductions over axes."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    as_dtype,
    asarray,
    asarray_like_device,
    axes_to_reduce,
    cast,
    copy,
    default_float,
    is_array,
    is_inexact,
    write_out,
)
from .._base.host_task import host
from .._base.primitive import direct, primitive
from ..elementwise.arithmetic import (
    add,
    equal,
    logical_and,
    logical_or,
    maximum,
    minimum,
    signbit,
)
from ..elementwise.exponential import exp, log
from ..elementwise.select import where as select
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = [
    "sum", "max", "min", "amax", "amin", "all", "any", "ptp", "logsumexp", "count_nonzero",
]  # fmt: skip


def _spread(g: Array, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return the gradient of a reduction, given back to each element that went into it."""
    kept = g if keepdims else reshape(g, tuple(1 if i in axes else n for i, n in enumerate(shape)))
    return kept if kept.shape == shape else broadcast_to(kept, shape)


def _ties(g: Array, y: Array, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return the gradient of max and min: shared by the elements that are equal to the result."""
    hit = cast(equal(x, _spread(y, x.shape, axes, keepdims)), x.dtype)
    share = hit / _sum(hit, axes, True)
    return _spread(g, x.shape, axes, keepdims) * share


@primitive(lambda g, shape, axes, keepdims: _spread(g, shape, axes, keepdims), op="sum")
def _sum(x: Array, axes: tuple[int, ...], keepdims: bool = False, dtype: DTypeLike = None) -> Array:
    return _core.reduce(add, x, axes, dtype, keepdims, "sum")


@primitive(lambda g, y, x, axes, keepdims: _ties(g, y, x, axes, keepdims), op="max")
def _max(x: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
    return _core.reduce(maximum, x, axes, None, keepdims, "max")


@primitive(lambda g, y, x, axes, keepdims: _ties(g, y, x, axes, keepdims), op="min")
def _min(x: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
    return _core.reduce(minimum, x, axes, None, keepdims, "min")


def _accumulator(x: Array, dtype: DTypeLike, op: str) -> numpy.dtype:
    """Return NumPy's rule: small integers and bool are summed in 64 bits."""
    if dtype is not None:
        return as_dtype(op, dtype)
    if x.dtype.kind in "bi":
        return numpy.dtype("int64")
    return numpy.dtype("uint64") if x.dtype.kind == "u" else x.dtype


def _chosen(x: Array, where: ArrayLike, instead: Any) -> Array:
    """Return x with a value instead of the elements that a mask leaves out; both broadcast."""
    if where is True:
        return x
    mask = asarray(where, device=x.device)
    if mask.dtype.kind != "b":
        raise TypeError(f"where: mask must be of bools, got {mask.dtype}")
    return select(mask, x, instead if is_array(instead) else _core.full((), instead, x.dtype, x.device))


def _first(initial: ArrayLike, like: Array) -> Array:
    """Return the initial value of a reduction, in the dtype of its operand."""
    return cast(asarray(initial, device=like.device), like.dtype)


def _negative_zero(initial: Any, kind: str) -> bool:
    """Return whether a sum in floats ("f") or complex numbers ("c") starts from -0.0, in one of its parts."""
    known = isinstance(initial, (float, complex, numpy.inexact, numpy.ndarray)) and numpy.ndim(initial) == 0
    if not known or kind not in "fc" or numpy.iscomplexobj(initial) > (kind == "c"):
        return False
    parts = (numpy.real(initial), numpy.imag(initial))
    return builtins.any(part == 0 and numpy.signbit(part) for part in parts)


def _with_sign(result: Array, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return a sum that starts from -0.0: `result`, which starts from 0.0, but -0.0 of nothing but -0.0."""
    return select(all(signbit(x), axes, keepdims=keepdims), -_sum(-x, axes, keepdims), result)


@primitive(lambda g, shape, axes, keepdims: _spread(g, shape, axes, keepdims), op="sum.of_complex")
def _sum_of_complex(x: Array, axes: tuple[int, ...], keepdims: bool, initial: complex) -> Array:
    """Return a sum that starts from zeros with a sign: NumPy's, as each part has its own."""
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)
    task = lambda v: numpy.sum(v, axes, keepdims=keepdims, initial=initial)
    return host(task, [x], [(kept, x.dtype)], name="sum")[0]


def _check_filled(op: str, x: Array, axes: tuple[int, ...]) -> None:
    """Raise ValueError if there is no element along the axes."""
    if 0 in (x.shape[i] for i in axes):
        raise ValueError(f"{op}: reduced axes must not be empty, got shape {x.shape}")


def _extreme(
    op: str, x: Array, axes: tuple[int, ...], keepdims: bool, initial: ArrayLike | None, where: ArrayLike
) -> Array:
    """Return `max` or `min`, of the elements that a mask chooses and of one more value."""
    reduced, pair = (_max, maximum) if op == "max" else (_min, minimum)
    if initial is None:
        _check_filled(op, x, axes)
        if where is not True:
            raise ValueError(f"{op}: initial must be given with where, as there may be no element, got None")
        return reduced(x, axes, keepdims)
    first = _first(initial, x)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)
    if 0 in (x.shape[i] for i in axes):
        return copy(broadcast_to(first, kept))
    return pair(first, reduced(_chosen(x, where, first), axes, keepdims))  # of zeros that of the elements, as in NumPy


@direct("total", add, 0)
def sum(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the sum of elements over axes (by default all), which are dropped unless `keepdims`.

    The same bits for any number of workers. Integers and bools are summed as int64, unsigned ones as uint64; floats in
    their dtype unless one is given. Of no elements: 0.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array for the result, of its shape.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    initial : array_like, optional
        A number to start from.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The sum of elements over axes (by default all).

    Raises
    ------
    IndexError
        For an axis that the array has not.
    ValueError
        For an axis that is named twice.

    Examples
    --------
    >>> from forerun import np
    >>> np.sum([[1, 2], [3, 4]]).item(), np.sum([[1, 2], [3, 4]], axis=0).tolist()
    (10, [4, 6])
    """
    x = asarray_like_device(a, initial, where)
    want = _accumulator(x, dtype, "sum")
    if want != x.dtype and is_inexact(want):
        x = cast(x, want)
    axes, signed = axes_to_reduce("sum", axis, x.ndim), _negative_zero(initial, want.kind)
    x = _chosen(x, where, (complex(-0.0, -0.0) if want.kind == "c" else -0.0) if signed else 0)
    if signed and want.kind == "c":
        return write_out("sum", _sum_of_complex(x, axes, keepdims, complex(initial)), out)  # type: ignore[arg-type]
    result = _sum(x, axes, keepdims, want if want != x.dtype else None)
    if signed:
        result = _with_sign(result, x, axes, keepdims)
    return write_out("sum", result if initial is None else result + _first(initial, result), out)


@direct("extreme", maximum, 2)
def max(
    a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False, initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the largest element over axes (by default all), in the dtype of `a`; NaN if any element is NaN.

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
        A further value.
    where : array_like, optional
        A mask of the elements that count (initial must be given then).

    Returns
    -------
    array
        The largest element over axes (by default all).

    Raises
    ------
    ValueError
        If there is no element.

    Examples
    --------
    >>> from forerun import np
    >>> np.max([[1, 5], [3, 4]], axis=0).tolist(), np.max([[1, 5], [3, 4]], keepdims=True).tolist()
    ([3, 5], [[5]])
    """
    x = asarray_like_device(a, initial, where)
    return write_out("max", _extreme("max", x, axes_to_reduce("max", axis, x.ndim), keepdims, initial, where), out)


@direct("extreme", minimum, 3)
def min(
    a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False, initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the smallest element over axes (by default all), in the dtype of `a`; NaN if any element is NaN.

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
        A further value.
    where : array_like, optional
        A mask of the elements that count (initial must be given then).

    Returns
    -------
    array
        The smallest element over axes (by default all).

    Raises
    ------
    ValueError
        If there is no element.

    Examples
    --------
    >>> from forerun import np
    >>> np.min([[1, 5], [3, 4]], axis=1).tolist()
    [1, 3]
    """
    x = asarray_like_device(a, initial, where)
    return write_out("min", _extreme("min", x, axes_to_reduce("min", axis, x.ndim), keepdims, initial, where), out)


amax, amin = max, min


@direct("truth", logical_and, 4)
def all(a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False, *, where: ArrayLike = True) -> Array:
    """Test whether all elements over axes are true (not zero). The result is bool; without elements it is True.

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
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        Whether all elements are true, of dtype bool.

    Examples
    --------
    >>> from forerun import np
    >>> np.all([[1, 0], [1, 1]], axis=0).tolist()
    [True, False]
    """
    x = _chosen(asarray_like_device(a, where), where, True)
    return write_out(
        "all",
        _core.reduce(logical_and, x, axes_to_reduce("all", axis, x.ndim), numpy.dtype(bool), keepdims, "all"),
        out,
    )


@direct("truth", logical_or, 5)
def any(a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False, *, where: ArrayLike = True) -> Array:
    """Test whether any element over axes is true (not zero). The result is bool; without elements it is False.

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
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        Whether any element is true, of dtype bool.

    Examples
    --------
    >>> from forerun import np
    >>> np.any([[0, 0], [0, 1]], axis=0).tolist()
    [False, True]
    """
    x = _chosen(asarray_like_device(a, where), where, False)
    return write_out(
        "any", _core.reduce(logical_or, x, axes_to_reduce("any", axis, x.ndim), numpy.dtype(bool), keepdims, "any"), out
    )


@direct("count")
def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Count the elements over axes (by default all) that are not zero. The result is int64.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The counts.

    Examples
    --------
    >>> from forerun import np
    >>> np.count_nonzero([[1, 0], [2, 3]], axis=0).tolist()
    [2, 1]
    """
    x = asarray(a)
    x = x if x.dtype.kind == "b" else cast(x, numpy.dtype(bool))
    return sum(x) if axis is None and not keepdims else sum(x, axis, keepdims=keepdims)


def _floating(x: ArrayLike, dtype: DTypeLike, op: str) -> Array:
    x = asarray(x)
    want = as_dtype(op, dtype) if dtype is not None else (x.dtype if is_inexact(x.dtype) else default_float())
    return x if want == x.dtype else cast(x, want)


def ptp(a: ArrayLike, axis: Axis = None, out: Out = None, keepdims: bool = False) -> Array:
    """Return the largest minus the smallest element over axes, in the dtype of `a`. ValueError without elements.

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

    Returns
    -------
    array
        The largest minus the smallest element over axes.

    Raises
    ------
    ValueError
        If there are no elements.

    Examples
    --------
    >>> from forerun import np
    >>> np.ptp([[1, 5], [3, 4]], axis=1).tolist()
    [4, 1]
    """
    return write_out("ptp", max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims), out)


def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return log(sum(exp(x))) over axes without overflow: the largest element is taken out first.

    Of integers in the default float.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        Log(sum(exp(x))) over axes without overflow.

    Raises
    ------
    ValueError
        If there is no element.

    Examples
    --------
    >>> from forerun import np
    >>> np.logsumexp([1000.0, 1000.0])
    array(1000.6932)
    """
    x = _floating(x, None, "logsumexp")
    top = _core.detach(max(x, axis, keepdims=True))
    result = log(sum(exp(x - top), axis, keepdims=True)) + top
    if keepdims:
        return result
    reduced = axes_to_reduce("logsumexp", axis, x.ndim)
    return _core.as_scalar(reshape(result, tuple(n for i, n in enumerate(x.shape) if i not in reduced)))
