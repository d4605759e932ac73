"""Samples of functions: between them, slopes and areas, convolution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy

from .._base import core as _core
from .._base.convert import (
    asarray,
    asarray_like_device,
    asarrays,
    axes_of,
    axis_of,
    cast,
    check_choice,
    default_float,
    is_inexact,
    promote,
    vector_of,
)
from .._base.host_task import host_op
from .._base.primitive import numpy_when_small, primitive
from ..create.fill import zeros
from ..elementwise.arithmetic import conj_if_complex, conjugate, equal
from ..elementwise.exponential import sin
from ..elementwise.select import clip, where
from ..linalg.product import matmul_pair
from ..reduce.reduction import sum
from ..reduce.scan import diff
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_to
from ..shape.flip_roll import flip
from ..shape.join import concatenate
from ..shape.reshape import atleast_1d, ravel, reshape
from ..sort.search_count import searchsorted
from ..sort.sort import argsort

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis

__all__ = [
    "convolve", "correlate", "ediff1d", "gradient", "interp", "sinc", "trapezoid",
]  # fmt: skip


def _inexact(x: ArrayLike) -> Array:
    x = asarray(x)
    return x if is_inexact(x.dtype) else cast(x, default_float())


# --- convolution ----------------------------------------------------------------------------------


def _convolve_grad(g: Array, other: Array, n: int) -> Array:
    """Return the gradient of the factor with n elements: the sum over the products of each."""
    k = other.size
    return _convolve(g, conj_if_complex(flip(other)))[k - 1 : k - 1 + n]


@primitive(
    lambda g, b, shape: _convolve_grad(g, b, shape[0]), lambda g, a, shape: _convolve_grad(g, a, shape[0]),
    op="convolve",
)  # fmt: skip
def _convolve(a: Array, b: Array) -> Array:
    n = a.size + b.size - 1
    for longer, other in ((a, b), (b, a)):
        if (found := _summed(longer, flip(other), 1 - other.size, n)) is not None:
            return found
    return host_op("convolve", numpy.convolve, [a, b], (n,), a.dtype)


_SMALL = 1 << 15  # bytes of a computed array up to which NumPy's functions run within the call


def _summed(a: Array, weights: Array, first: int, n: int) -> Array | None:
    """Return n sums of a[first + i + j] * weights[j], of a large array and few weights; otherwise None."""
    return _core.neighbours(a, weights, first, n) if a.nbytes > _SMALL and a.size >= weights.size else None


_FEW = 1 << 15  # elements that NumPy goes through in less time than it takes to make an operation of each step


def _recorded(*arrays: Array) -> bool:
    """Return whether gradients may flow through one of the arrays."""
    return _core.recording() and any(a.node is not None for a in arrays)


def _vectors(op: str, a: ArrayLike, b: ArrayLike, mode: str) -> tuple[Array, Array]:
    check_choice(op, "mode", mode, ("full", "same", "valid"))
    a, b = (vector_of(op, atleast_1d(x)) for x in matmul_pair(a, b, op))
    if not a.size or not b.size:
        raise ValueError(f"{op}: vectors must not be empty, got shapes {a.shape} and {b.shape}")
    return a, b


def _cut(full: Array, n: int, k: int, mode: str, first: int) -> Array:
    """Return the part of a full convolution of n and k elements that a mode asks for; `first`: where "same" starts."""
    longer, shorter = max(n, k), min(n, k)
    if mode == "full":
        return full
    start, length = (first, longer) if mode == "same" else (shorter - 1, longer - shorter + 1)
    return full[start : start + length]


@numpy_when_small(numpy.convolve, "a v mode", "aas")
def convolve(a: ArrayLike, v: ArrayLike, mode: Literal["full", "same", "valid"] = "full") -> Array:
    """Return the convolution of two vectors: sums of a[i] * v[k - i], in their common dtype.

    Parameters
    ----------
    a : array_like
        The first vector.
    v : array_like
        The second vector.
    mode : str, optional
        "full": every k with a term; "same": as many as the longer vector has elements; "valid": those where the vectors
        overlap completely.

    Returns
    -------
    array
        The convolution of two vectors.

    Raises
    ------
    ValueError
        For another mode, or an operand that is empty or not a vector.

    Examples
    --------
    >>> from forerun import np
    >>> np.convolve(np.array([1, 2, 3]), np.array([1, 1])).tolist()
    [1, 3, 5, 3]
    """
    a, v = _vectors("convolve", a, v, mode)
    return _cut(_convolve(a, v), a.size, v.size, mode, (min(a.size, v.size) - 1) // 2)


@numpy_when_small(numpy.correlate, "a v mode", "aas")
def correlate(a: ArrayLike, v: ArrayLike, mode: Literal["full", "same", "valid"] = "valid") -> Array:
    """Return the cross-correlation of two vectors: sums of a[i + k] * conj(v[i]). mode, errors: as for `convolve`.

    Parameters
    ----------
    a : array_like
        The first vector.
    v : array_like
        The second vector.
    mode : str, optional
        The extent of the result: "full", "same" or "valid".

    Returns
    -------
    array
        The cross-correlation of two vectors.

    Examples
    --------
    >>> from forerun import np
    >>> np.correlate([1, 2, 3], [1, 1]).tolist(), np.correlate([1, 2, 3], [0, 1], "full").tolist()
    ([3, 5], [1, 2, 3, 0])
    """
    a, v = _vectors("correlate", a, v, mode)
    if not _recorded(a, v) and v.dtype.kind != "c":
        longer, shorter = max(a.size, v.size), min(a.size, v.size)
        length = {"full": longer + shorter - 1, "same": longer, "valid": longer - shorter + 1}[mode]
        first = {"full": 1 - v.size, "same": -(v.size // 2), "valid": 0}[mode]
        if a.size >= v.size and (found := _summed(a, v, first, length)) is not None:
            return found
        return host_op("correlate", lambda a, v: numpy.correlate(a, v, mode), [a, v], (length,), a.dtype)
    first = (v.size - 1) // 2 if v.size <= a.size else a.size // 2
    return _cut(_convolve(a, conjugate(flip(v))), a.size, v.size, mode, first)


# --- between samples ------------------------------------------------------------------------------


@numpy_when_small(numpy.interp, "x xp fp", "naa", "f")
def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: complex | None = None, right: complex | None = None,
    period: float | None = None,
) -> Array:  # fmt: skip
    """Return values at x of the line through the points (xp, fp), where xp rises: of x's shape.

    Parameters
    ----------
    x : array_like
        The positions.
    xp : array_like
        The positions of the points.
    fp : array_like
        The values at the points.
    left, right : number, optional
        Values before the first point and after the last, by default those of the points.
    period : float, optional
        `xp` need not rise, and the points repeat.

    Returns
    -------
    array
        Values at x of the line through the points (xp, fp).

    Raises
    ------
    ValueError
        If xp and fp are not vectors of one length; if there are no points, but for no positions from NumPy 2.5 on.

    Examples
    --------
    >>> from forerun import np
    >>> np.interp(2.5, np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 0.0])).item()
    1.0
    """
    x, xp, fp = asarrays(x, xp, fp)
    if "c" in (x.dtype.kind, xp.dtype.kind):
        raise TypeError("interp: x and xp must be of real numbers, got complex ones")
    x, xp, fp = _inexact(x), vector_of("interp", _inexact(xp)), vector_of("interp", _inexact(fp))
    if xp.shape != fp.shape or not (xp.size or _needs_no_points(x)):
        raise ValueError(f"interp: xp and fp must be of one length, not 0, got {xp.size} and {fp.size}")
    if period == 0:
        raise ValueError("interp: period must not be zero, got 0")
    if not xp.size:
        return zeros(x.shape, promote(fp.dtype, x.dtype), device=x.device)
    if period is not None:
        period = abs(period)
        x, xp = x % period, xp % period
        order = argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
        left = right = None
    plain = period is None and left is None and right is None and not _recorded(x, xp, fp)
    in_double = {a.dtype.name for a in (x, xp, fp)} == {"float64"} or (_core.numpy_rules() and fp.dtype.kind != "c")
    if plain and x.size + 2 * xp.size <= _FEW and in_double:
        return host_op("interp", numpy.interp, [x, xp, fp], x.shape, "float64")

    def alone() -> Array:
        return broadcast_to(cast(fp[0], promote(fp.dtype, x.dtype)), x.shape)

    inside = alone() if xp.size == 1 else _between(x, xp, fp)
    before = where(x < xp[0], fp[0] if left is None else left, inside)
    result = where(x > xp[-1], fp[-1] if right is None else right, where(equal(x, xp[-1]), fp[-1], before))
    return _core.as_scalar(reshape(result, x.shape))


def _needs_no_points(x: Array) -> bool:
    """Return whether the NumPy that is installed finds values at x between no points: from 2.5 on, if x is empty."""
    try:
        numpy.interp(numpy.zeros(x.size and 1), (), ())
    except ValueError:
        return False
    return True


def _between(x: Array, xp: Any, fp: Array) -> Any:
    i = clip(searchsorted(_core.detach(xp), _core.detach(x), "right") - 1, 0, xp.size - 2)
    x0, f0 = xp[i], fp[i]
    step = xp[i + 1] - x0
    return f0 + (fp[i + 1] - f0) / where(equal(step, 0), 1, step) * (x - x0)


def sinc(x: ArrayLike) -> Array:
    """Return sin(pi x) / (pi x), and 1 at 0; of integers in the default float.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        Sin(pi x) / (pi x).

    Examples
    --------
    >>> from forerun import np
    >>> np.round(np.sinc([0, 0.5]), 3)
    array([1.   , 0.637])
    """
    x = _inexact(x)
    zero = equal(x, 0)
    y = math.pi * where(zero, 1, x)
    return _core.as_scalar(where(zero, 1, sin(y) / y))


# --- differences and areas ------------------------------------------------------------------------


def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Return differences of neighbours of the flat array, with numbers before and after them if given; in ary's dtype.

    Parameters
    ----------
    ary : array_like
        The values.
    to_end : array_like, optional
        Numbers behind the differences.
    to_begin : array_like, optional
        Numbers before the differences.

    Returns
    -------
    array
        Differences of neighbours of the flat array.

    Raises
    ------
    TypeError
        If the elements are bool.

    Examples
    --------
    >>> from forerun import np
    >>> np.ediff1d([1, 4, 9], to_end=[0], to_begin=-1).tolist()
    [-1, 3, 5, 0]
    """
    x = ravel(asarray_like_device(ary, to_begin, to_end))
    if x.dtype.kind == "b":
        raise TypeError("ediff1d: elements must be numbers, got bool")
    ends = [None if e is None else ravel(asarray(e, x.dtype, x.device)) for e in (to_begin, to_end)]
    parts = [part for part in (ends[0], diff(x), ends[1]) if part is not None]
    return parts[0] if len(parts) == 1 else concatenate(parts)


def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Return the area under samples along `axis`, by the trapezoidal rule. Of integers in the default float.

    Parameters
    ----------
    y : array_like
        The samples.
    x : array_like, optional
        Where the samples were taken (of y's shape, or along the axis; ValueError if of another); otherwise they are dx
        apart.
    dx : array_like, optional
        The distance of two samples.
    axis : int, optional
        The axis to work along; counted from the last if negative.

    Returns
    -------
    array
        The area under samples along `axis`.

    Raises
    ------
    ValueError
        If `x` has neither y's shape nor the extent of the axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.trapezoid(np.array([1.0, 2.0, 3.0])).item(), np.trapezoid([1.0, 3.0], [0.0, 0.5]).item()
    (4.0, 1.0)
    """
    y = _inexact(asarray_like_device(y, x, dx))
    a = axis_of("trapezoid", axis, y.ndim)
    if x is not None:
        x = asarray_like_device(x, y)
        if x.shape not in (y.shape, (y.shape[a],)):
            raise ValueError(f"trapezoid: x must have shape {y.shape} or {(y.shape[a],)}, got {x.shape}")
        if x.ndim == 1:
            dx = reshape(diff(x), tuple(-1 if i == a else 1 for i in range(y.ndim)))
        else:
            dx = diff(x, axis=a)
    head = (slice(None),) * a
    return sum(dx * (y[(*head, slice(1, None))] + y[(*head, slice(None, -1))]) / 2, a)


@overload
def gradient(f: ArrayLike, *spacing: ArrayLike, axis: SupportsIndex, edge_order: int = 1) -> Array: ...
@overload
def gradient(
    f: ArrayLike, *spacing: ArrayLike, axis: Sequence[SupportsIndex], edge_order: int = 1
) -> tuple[Array, ...]: ...
@overload
def gradient(f: ArrayLike, *spacing: ArrayLike, axis: None = None, edge_order: int = 1) -> Any: ...
@numpy_when_small(numpy.gradient, "f", "d", "f")
def gradient(f: ArrayLike, *spacing: ArrayLike, axis: Axis = None, edge_order: int = 1) -> Any:
    """Return the slopes of samples along axes: by central differences inside, one-sided ones at the ends.

    An array of f's shape for one axis, a tuple for several (by default all).

    Parameters
    ----------
    f : array_like
        The samples.
    *spacing : array_like
        One number for all axes, or for each axis a number or the vector of positions; 1 by default.
    axis : int or tuple of ints, optional
        The axis or axes; by default all.
    edge_order : int, optional
        1 or 2, of the differences at the ends.

    Returns
    -------
    array, or tuple of arrays
        The slopes along the axis, or along each of several.

    Raises
    ------
    ValueError
        If an axis has too few samples or the positions are not one for each of them.
    TypeError
        If there is another number of spacings.

    Examples
    --------
    >>> from forerun import np
    >>> np.gradient(np.array([1.0, 2.0, 4.0, 7.0])).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    f = asarray_like_device(f, *spacing)
    if f.dtype.kind == "b":
        raise TypeError("gradient: samples must be numbers, got bool")
    f = _inexact(f)
    axes = axes_of("gradient", axis, f.ndim)
    steps: tuple[Any, ...] = spacing or (1,) * len(axes)
    steps = steps * len(axes) if len(steps) == 1 and numpy.ndim(steps[0]) == 0 else steps
    if len(steps) != len(axes):
        raise TypeError(f"gradient: spacing must be given once or for each of {len(axes)} axes, got {len(steps)}")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order must be 1 or 2, got {edge_order}")
    if any(f.shape[a] <= edge_order for a in axes):
        raise ValueError(f"gradient: axes must have more than {edge_order} samples, got shape {f.shape}")
    found = tuple(moveaxis(_slopes(moveaxis(f, a, -1), h, edge_order), -1, a) for a, h in zip(axes, steps))
    return found if len(found) != 1 else found[0]


def _slopes(f: Array, spacing: Array | float, order: int) -> Array:
    """Slopes along the last axis."""
    n = f.shape[-1]
    if numpy.ndim(spacing) == 0:
        h = [spacing] * 4
        inside = (f[..., 2:] - f[..., :-2]) / (2.0 * spacing)
    else:
        x = vector_of("gradient", asarray_like_device(spacing, f))
        if x.size != n:
            raise ValueError(f"gradient: positions must be one for each of {n} samples, got {x.size}")
        d = diff(x if is_inexact(x.dtype) else cast(x, f.dtype))
        left, right = d[:-1], d[1:]
        h = [d[0], d[1], d[-1], d[-2]] if n > 2 else [d[0], d[0], d[0], d[0]]
        inside = (
            -right / (left * (left + right)) * f[..., :-2]
            + (right - left) / (left * right) * f[..., 1:-1]
            + left / (right * (left + right)) * f[..., 2:]
        )
    if order == 1:
        first, last = (f[..., 1] - f[..., 0]) / h[0], (f[..., -1] - f[..., -2]) / h[2]
    else:
        first = _edge(f[..., 0], f[..., 1], f[..., 2], h[0], h[1])
        last = -_edge(f[..., -1], f[..., -2], f[..., -3], h[2], h[3])
    return concatenate([first[..., None], inside, last[..., None]], -1)


def _edge(f0: Array, f1: Array, f2: Array, h: Array | float, k: Array | float) -> Array:
    """Return the slope at the first of three samples, h and k apart, of the parabola through them."""
    return -(2 * h + k) / (h * (h + k)) * f0 + (h + k) / (h * k) * f1 - h / (k * (h + k)) * f2
