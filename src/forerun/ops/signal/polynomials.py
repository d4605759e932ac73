"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .._base import core as _core
from .._base.convert import (
    asarray,
    asarrays,
    cast,
    count_of,
    default_float,
    is_inexact,
    promote,
    vector_of,
)
from .._base.host_task import host, host_op
from .._base.primitive import numpy_when_small
from .._base.promotion import real_of
from ..create.like import zeros_like
from ..shape.join import concatenate
from ..shape.reshape import atleast_1d
from .convolve import convolve

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots",
]  # fmt: skip


def _coefficients(op: str, p: ArrayLike) -> Array:
    return vector_of(op, atleast_1d(p))


def _inexact(x: Array) -> Array:
    return x if is_inexact(x.dtype) else cast(x, default_float())


@numpy_when_small(numpy.polyval, "p x", "aa", "f")
def polyval(p: ArrayLike, x: ArrayLike) -> Array:
    """Return the polynomial p at x: an array of x's shape. By Horner's rule; differentiable in both.

    Parameters
    ----------
    p : array_like
        The coefficients, from the highest power down.
    x : array_like
        The positions.

    Returns
    -------
    array
        The polynomial p at x.

    Examples
    --------
    >>> from forerun import np
    >>> np.polyval([1, 0, 2], [0, 1, 3]).tolist()
    [2, 3, 11]
    """
    p, x = asarrays(p, x)
    p = _coefficients("polyval", p)
    dtype = promote(p.dtype, x.dtype)
    if dtype.kind == "f" and not p.dtype == x.dtype == dtype:
        return polyval(cast(p, dtype), cast(x, dtype))  # which NumPy's function may compute, if they are small
    y = cast(zeros_like(x), dtype)
    for i in range(p.size):
        y = y * x + p[i]
    return y


def _aligned(op: str, a1: ArrayLike, a2: ArrayLike) -> tuple[Array, Array]:
    """Coefficients of one length: zeros in front of the shorter."""
    a, b = (_coefficients(op, x) for x in asarrays(a1, a2))
    n = max(a.size, b.size)

    def wide(v: Array) -> Array:
        return concatenate([_core.full((n - v.size,), 0, v.dtype, v.device), v]) if v.size < n else v

    return wide(a), wide(b)


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the sum of two polynomials.

    Parameters
    ----------
    a1 : array_like
        The coefficients of the first polynomial, from the highest power down.
    a2 : array_like
        The coefficients of the second polynomial.

    Returns
    -------
    array
        The sum of two polynomials.

    Examples
    --------
    >>> from forerun import np
    >>> np.polyadd([1, 2], [9, 5, 4]).tolist()
    [9, 6, 6]
    """
    a, b = _aligned("polyadd", a1, a2)
    return a + b


def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the difference of two polynomials.

    Parameters
    ----------
    a1 : array_like
        The coefficients of the first polynomial, from the highest power down.
    a2 : array_like
        The coefficients of the second polynomial.

    Returns
    -------
    array
        The difference of two polynomials.

    Examples
    --------
    >>> from forerun import np
    >>> np.polysub([2, 10, -2], [3, 10, -4]).tolist()
    [-1, 0, 2]
    """
    a, b = _aligned("polysub", a1, a2)
    return a - b


def polymul(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the product of two polynomials. Zeros at their beginning stay: the length must not depend on values.

    Parameters
    ----------
    a1 : array_like
        The coefficients of the first polynomial, from the highest power down.
    a2 : array_like
        The coefficients of the second polynomial.

    Returns
    -------
    array
        The product of two polynomials.

    Examples
    --------
    >>> from forerun import np
    >>> np.polymul([1, 2], [1, 3]).tolist()
    [1, 5, 6]
    """
    p, q = (_coefficients("polymul", x) for x in asarrays(a1, a2))
    return convolve(p, q)


def polyder(p: ArrayLike, m: int = 1) -> Array:
    """Return the m-th derivative of a polynomial.

    Parameters
    ----------
    p : array_like
        The coefficients, from the highest power down.
    m : int, optional
        The number of times.

    Returns
    -------
    array
        The m-th derivative of a polynomial.

    Raises
    ------
    ValueError
        If m is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.polyder([1, 1, 1, 1]).tolist()
    [3, 2, 1]
    """
    p = _coefficients("polyder", p)
    for _ in range(count_of("polyder", "m", m)):
        n = p.size - 1
        p = p[:-1] * _core.from_numpy(numpy.arange(n, 0, -1), p.device) if n >= 0 else p
    return p


def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """Return the m-th antiderivative of a polynomial, with constants k (by default 0): one, or one for each time.

    Of integers in the default float.

    Parameters
    ----------
    p : array_like
        The coefficients, from the highest power down.
    m : int, optional
        The number of times.
    k : array_like, optional
        The constants of integration.

    Returns
    -------
    array
        The m-th antiderivative of a polynomial.

    Raises
    ------
    ValueError
        If m is negative or there are not as many constants.

    Examples
    --------
    >>> from forerun import np
    >>> np.polyint([3, 2, 1]).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    m = count_of("polyint", "m", m)
    p = _inexact(_coefficients("polyint", p))
    constants = atleast_1d(asarray(0 if k is None else k, device=p.device))
    if constants.size == 1:
        constants = constants.broadcast_to((m,))
    if constants.size < m:
        raise ValueError(f"polyint: there must be {m} constants, got {constants.size}")
    for i in range(m):
        by = cast(_core.from_numpy(numpy.arange(p.size, 0, -1), p.device), real_of(p.dtype))
        p = concatenate([p / by, constants[i : i + 1]])
    return p


def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Return quotient and remainder of two polynomials. The remainder's length depends on values: this waits.

    Of integers in the default float.

    Parameters
    ----------
    u : array_like
        The coefficients of the dividend, from the highest power down.
    v : array_like
        The coefficients of the divisor.

    Returns
    -------
    tuple of arrays
        Quotient and remainder of two polynomials.

    Examples
    --------
    >>> from forerun import np
    >>> q, r = np.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    >>> q.tolist(), r.tolist()
    ([1.5, 1.75], [0.25])
    """
    a, b = (_inexact(_coefficients("polydiv", x)) for x in asarrays(u, v))
    dtype = promote(a.dtype, b.dtype)
    q, r = (asarray(x.astype(dtype), device=a.device) for x in numpy.polydiv(a.numpy(), b.numpy()))
    return q, r


def roots(p: ArrayLike) -> Array:
    """Return the roots of a polynomial. Their number depends on how many coefficients are zero: this waits.

    Real if all are, else complex.

    Parameters
    ----------
    p : array_like
        The coefficients, from the highest power down.

    Returns
    -------
    array
        The roots of a polynomial.

    Raises
    ------
    ValueError
        If p has more than one axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.sort(np.roots([1.0, -3.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    p = _inexact(_coefficients("roots", p))
    return asarray(numpy.roots(p.numpy()), device=p.device)


def poly(seq_of_zeros: ArrayLike) -> Array:
    """Return the polynomial with these roots, or the characteristic polynomial of a square matrix.

    Real of real numbers, else complex.

    Parameters
    ----------
    seq_of_zeros : array_like
        The roots, or a square matrix.

    Returns
    -------
    array
        The polynomial with these roots.

    Raises
    ------
    ValueError
        If it is neither a vector nor a square matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.poly([1.0, 2.0]).tolist(), np.poly([[0, 1], [2, 0]]).round(4).tolist()
    ([1.0, -3.0, 2.0], [1.0, 0.0, -2.0])
    """
    x = _inexact(atleast_1d(seq_of_zeros))
    if x.ndim > 2 or (x.ndim == 2 and (x.shape[0] != x.shape[1] or not x.size)):
        raise ValueError(f"poly: roots must be a vector or a square matrix, got shape {x.shape}")
    keep = (lambda c: c) if x.dtype.kind == "c" else numpy.real
    shape = (x.shape[0] + 1,) if x.size else ()
    return host_op("poly", lambda v: numpy.asarray(keep(numpy.poly(v))).astype(x.dtype), [x], shape, x.dtype)


@overload
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int | Sequence[int], rcond: float | None = None, full: Literal[False] = False,
    w: ArrayLike | None = None, cov: Literal[False] = False,
) -> Array: ...  # fmt: skip
@overload
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int | Sequence[int], rcond: float | None = None, full: bool = False,
    w: ArrayLike | None = None, cov: bool | str = False,
) -> tuple[Any, ...]: ...  # fmt: skip
@numpy_when_small(numpy.polyfit, "x y deg", "ddc", "D")
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int | Sequence[int], rcond: float | None = None, full: bool = False,
    w: ArrayLike | None = None, cov: bool | str = False,
) -> Any:  # fmt: skip
    """Return the polynomial of a degree that is nearest to points (x, y) by least squares.

    Of integers in the default float.

    Parameters
    ----------
    x : array_like
        The positions of the points.
    y : array_like
        A vector, or a matrix with a column for each polynomial.
    deg : array_like
        The degree of the polynomial.
    rcond : float or array, optional
        The share of the largest singular value up to which others count as zero.
    full : bool, optional
        Also residuals, rank, singular values and rcond; their shape depends on values: this waits.
    w : array_like, optional
        Weights of the points.
    cov : bool or str, optional
        Also the covariance matrix of the coefficients ("unscaled": of weights that are standard deviations).

    Returns
    -------
    array, or tuple of arrays
        The coefficients, and the other requested results.

    Raises
    ------
    TypeError
        If shapes do not fit.
    ValueError
        If the degree is negative or there are too few points for `cov`.

    Examples
    --------
    >>> from forerun import np
    >>> np.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round(3).tolist()
    [2.0, 1.0]
    """
    deg = count_of("polyfit", "deg", deg)
    given = asarrays(x, y, w)
    x, y, w = (v if v is None else _inexact(v) for v in given)
    if w is None and rcond is None and not (full or cov) and not (given[0] is x and given[1] is y):
        return polyfit(x, y, deg)  # which NumPy's function may compute, if they are small
    if x.ndim != 1 or not x.size:
        raise TypeError(f"polyfit: x must be a vector with elements, got shape {x.shape}")
    if y.ndim not in (1, 2) or y.shape[0] != x.size:
        raise TypeError(f"polyfit: y must have {x.size} rows and at most two axes, got shape {y.shape}")
    inputs = [x, y]
    if w is not None:
        inputs.append(w)
        if inputs[-1].shape != x.shape:
            raise TypeError(f"polyfit: w must have shape {x.shape}, got {inputs[-1].shape}")
    dtype = promote(*(v.dtype for v in inputs))

    def fit(a: numpy.ndarray, b: numpy.ndarray, c: numpy.ndarray | None = None) -> Any:
        options: dict[str, Any] = {"full": full, "w": c, "cov": cov}
        return numpy.polyfit(a, b, deg, rcond, **options)

    if full:
        c, *more = fit(*(v.numpy() for v in inputs))
        return asarray(c.astype(dtype), device=x.device), *(asarray(v, device=x.device) for v in more)
    n = deg + 1
    shape = (n, *y.shape[1:])
    if not cov:
        return host_op("polyfit", lambda *v: fit(*v).astype(dtype), inputs, shape, dtype)
    if cov != "unscaled" and x.size <= n:
        raise ValueError(f"polyfit: there must be more than {n} points for the covariance, got {x.size}")
    last = 1 if cov == "unscaled" else y.shape[-1]
    spread = (n, n) if y.ndim == 1 else (n, n, last)

    def both(*v: numpy.ndarray) -> tuple[numpy.ndarray, ...]:
        return tuple(numpy.asarray(r).astype(dtype) for r in fit(*v))

    return tuple(host(both, inputs, [(shape, dtype), (spread, dtype)], name="polyfit"))
