"""Elements chosen by conditions and bounds: where, clip; and nonzero, which `where` is with a condition alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarray_like_device, copy, write_out
from .._base.primitive import Elementwise, numpy_when_small
from .._base.registry import register
from .arithmetic import maximum, minimum, positive

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Out

__all__ = ["clip", "nonzero", "not_zero", "where"]


_select = Elementwise(
    "select",
    "where",
    ("condition", "a", "b"),
    (
        lambda g: None,
        lambda g, condition: where(condition, g, 0),
        lambda g, condition: where(condition, 0, g),
    ),
    "a where the condition holds, b elsewhere.",
)
register(__name__, _select)


@overload
def where(condition: ArrayLike) -> tuple[Array, ...]: ...
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Array: ...
@numpy_when_small(numpy.ndarray.nonzero, "condition", "r", "biufc", waits=True)
def where(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None) -> Any:
    """Return x where the condition holds (is not zero), y elsewhere.

    All three broadcast; the dtypes of x and y are promoted. A Python integer out of the range of an integer dtype is
    treated as in the installed NumPy: OverflowError from NumPy 2.5 on; before, it wraps around. With the condition
    alone: `nonzero`, which waits.

    Parameters
    ----------
    condition : array_like
        The condition, which holds where it is not zero.
    x : array_like, optional
        The values where the condition holds.
    y : array_like, optional
        The values elsewhere.

    Returns
    -------
    array, or tuple of arrays
        The chosen elements, or the positions where the condition holds.

    Raises
    ------
    ValueError
        If shapes do not fit or only one of x and y is given.
    OverflowError
        If a Python integer does not fit into the other operand's integers, and NumPy is 2.5 or newer.

    Examples
    --------
    >>> from forerun import np
    >>> np.where([True, False], [1, 2], 0).tolist()
    [1, 0]
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("where: both x and y must be given, or none")
    result = _select(asarray_like_device(condition, x, y), _fitted(x, y), _fitted(y, x))
    return result if result.ndim else _core.as_array(result)  # as NumPy's, which is not a scalar


def _fitted(n: ArrayLike, other: ArrayLike) -> Any:
    """Return n; a Python integer as NumPy takes it beside the other operand's dtype: it wraps around or overflows."""
    if type(n) is not int or -1 < n < 128:
        return n
    dtype = numpy.dtype("int64") if isinstance(other, (bool, int)) else asarray(other).dtype
    if dtype.kind not in "biu" or not -(2**63) <= n < 2**64:
        return n
    return int(numpy.where(True, n, numpy.zeros((), "int64" if dtype.kind == "b" else dtype)))


@numpy_when_small(numpy.ndarray.nonzero, "a", "r", "biufc", waits=True)
def nonzero(a: ArrayLike) -> tuple[Array, ...]:
    """Return positions of the elements that are not zero, one int64 vector per axis.

    Their number depends on the values: this waits.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    tuple of arrays
        Positions of the elements that are not zero.

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> [i.tolist() for i in np.nonzero([[0, 2], [3, 0]])]
    [[0, 1], [1, 0]]
    """
    x = asarray(a)
    if x.ndim == 0:
        raise ValueError("nonzero: array must have at least one axis, got shape ()")
    return tuple(_core.taken(i, x.device) for i in numpy.nonzero(not_zero(x)))


def not_zero(x: Array) -> numpy.ndarray:
    """Return an array in which NumPy finds the elements that are not zero: bools for numbers, six times as fast. Waits.

    >>> not_zero(asarray([0, 3])).tolist()
    [False, True]
    """
    values: numpy.ndarray = x.numpy()
    return values != 0 if values.dtype.kind in "iufc" else values


def clip(
    a: ArrayLike, min: ArrayLike | None = None, max: ArrayLike | None = None, out: Out = None, *,
    a_min: ArrayLike | None = None, a_max: ArrayLike | None = None, **kwargs: Any,
) -> Array:  # fmt: skip
    """Return a with values below min raised to it, and values above max lowered to it. NaN stays.

    Either may be None, a number or an array that broadcasts.

    Parameters
    ----------
    a : array_like
        The values.
    min : array_like, optional
        The smallest value that stays.
    max : array_like, optional
        The largest value that stays.
    out : array, optional
        An array of the result's shape, which is written and returned.
    a_min : array_like, optional
        Another name for `min`.
    a_max : array_like, optional
        Another name for `max`.
    **kwargs : any
        `dtype`, `where`, `casting` and the like, as of a ufunc.

    Returns
    -------
    array
        `a` with values below min raised to it, and values above max lowered to it.

    Raises
    ------
    ValueError
        If a limit is given by both of its names.
    TypeError
        For a keyword argument that ufuncs do not take.

    Examples
    --------
    >>> from forerun import np
    >>> np.clip([1, 5, 9], 2, 6).tolist()
    [2, 5, 6]
    """
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip: a_min and min, a_max and max must not both be given, got both")
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    x = asarray_like_device(a, low, high)
    if x.dtype.kind in "iu":  # a bound beyond all values bounds nothing
        info = numpy.iinfo(x.dtype)
        low = info.min if type(low) is int and low < info.min else low
        high = info.max if type(high) is int and high > info.max else high
    if kwargs:
        return _clip_with(x, low, high, out, kwargs)
    if low is None and high is None:
        x = _core.as_scalar(copy(x))
    if low is not None:
        x = maximum(x, low)
    if high is not None:
        x = minimum(x, high)
    return write_out("clip", x, out)


_OF_UFUNCS = {"casting", "dtype", "order", "sig", "signature", "subok", "where"}


def _clip_with(x: Array, low: Any, high: Any, out: Any, options: dict[str, Any]) -> Array:
    """Return `clip` with keywords of ufuncs: those of the mask and of the array for results count for the last step."""
    if unknown := sorted(set(options) - _OF_UFUNCS):
        raise TypeError(f"clip: keywords must be those of a ufunc, got {', '.join(unknown)}")
    steps: list[Any] = [(f, b) for f, b in ((maximum, low), (minimum, high)) if b is not None]
    steps = steps or [(positive, None)]
    for i, (op, bound) in enumerate(steps):
        last = i == len(steps) - 1
        given = options if last else {k: v for k, v in options.items() if k != "where"}
        inputs = [x] if bound is None else [x, bound]
        x = op.with_options(*inputs, out=out if last else None, **given)
    return x
