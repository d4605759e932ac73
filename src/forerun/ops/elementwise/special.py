"""Functions of statistics: gamma and related functions, and the inverse of the error function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import as_real_float, cast
from .._base.primitive import primitive
from .arithmetic import minimum, rint, sign
from .erf import FAR, _erf, polynomial
from .exponential import cos, exp, log, log1p, sin
from .select import where

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["gamma", "gammaln", "digamma", "erfinv"]

_STEPS = 8  # from there on Stirling's series has 14 digits
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # B(2k) / (2k (2k - 1))


def _in_double(op: str, function: Callable[[Any], Any], x: ArrayLike) -> Array:
    """Return the function, computed in float64, in x's dtype; of integers in the default float."""
    x = as_real_float(op, x)
    return cast(function(cast(x, numpy.dtype("float64"))), x.dtype)


def _above(x: Array) -> tuple[Array, Array]:
    """Below 8: x + 8, and the product x (x + 1) ... (x + 7); from there on x, and 1."""
    small = minimum(x, _STEPS)
    product = small
    for i in range(1, _STEPS):
        product = product * (small + i)
    return where(x < _STEPS, x + _STEPS, x), where(x < _STEPS, product, 1)


def _positive_gammaln(x: Array) -> Array:
    """Stirling's series, from 8 on; below by the recurrence."""
    y, product = _above(x)
    rest: Array | int = 0
    power = 1 / y
    for c in _SERIES:
        rest = rest + c * power
        power = power / (y * y)
    return (y - 0.5) * (log(y) - 1) - 0.5 + 0.5 * math.log(2 * math.pi) + rest - log(product)


def _digamma_above(x: Array) -> Array:
    """Its series from 8 on; below by the recurrence."""
    small = minimum(x, _STEPS)
    rest: Any = 0
    for i in range(_STEPS):
        rest = rest + 1 / (small + i)
    y = where(x < _STEPS, x + _STEPS, x)
    total, power = log(y) - 0.5 / y, 1 / (y * y)
    for k, c in enumerate(_SERIES, 1):
        total = total - (2 * k - 1) * c * power
        power = power / (y * y)
    return total - where(x < _STEPS, rest, 0)


def _nearest(x: Array) -> tuple[Array, Array]:
    """Return the integer nearest to x, and the remainder, between -0.5 and 0.5."""
    whole = rint(x)
    return whole, x - whole


def _sinpi(x: Array) -> Array:
    """Return sin(pi x), whose sign and zeros are exact."""
    whole, rest = _nearest(x)
    return sin(math.pi * rest) * (1 - 2 * (whole % 2))


def _digamma(x: Array) -> Array:
    _, rest = _nearest(x)
    above = _digamma_above(where(x < 0.5, 1 - x, x))
    return where(x < 0.5, above - math.pi * cos(math.pi * rest) / sin(math.pi * rest), above)


@primitive(lambda g, x: g * _digamma(x), op="gammaln")
def _gammaln(x: Array) -> Array:
    above = _positive_gammaln(where(x < 0.5, 1 - x, x))
    return where(x < 0.5, log(math.pi / abs(_sinpi(x))) - above, above)


def gammaln(x: ArrayLike) -> Array:
    """Return log(abs(gamma(x))), without overflow; inf at 0, -1, -2, ....

    It is computed in float64.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.gammaln([1.0, 3.0, 0.0]).round(3).tolist()
    [0.0, 0.69300001859664..., inf]
    """
    return _in_double("gammaln", _gammaln, x)


def gamma(x: ArrayLike) -> Array:
    """Return the gamma function: (n - 1)! of integers n, and between them. NaN of negative integers, inf from 172 on.

    It is computed in float64.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> [round(y, 4) for y in npx.gamma([1.0, 5.0, 0.5]).tolist()]
    [1.0, 24.0, 1.7725]
    """

    def of(x: Array) -> Array:
        sign_of = where(x < 0, sign(_sinpi(x)), 1)
        return exp(_gammaln(x)) * where(sign_of == 0, math.nan, sign_of)

    return _in_double("gamma", of, x)


def digamma(x: ArrayLike) -> Array:
    """Return the derivative of gammaln.

    It is computed in float64.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> round(npx.digamma(1.0).item(), 4)
    -0.5772
    """
    return _in_double("digamma", _digamma, x)


@primitive(lambda g, y: g * (math.sqrt(math.pi) / 2) * exp(y * y), op="erfinv")
def _erfinv(x: Array) -> Array:
    """Winitzki's formula (2008), then Halley's steps, which look at 1 - erf where that has more digits."""
    a = abs(x)
    l = log1p(-a * a)
    half = 2 / (math.pi * 0.147) + l / 2
    y = ((half * half - l / 0.147) ** 0.5 - half) ** 0.5
    for _ in range(3):
        rest = polynomial(FAR, (y - 3.75) / (y + 3.75)) * exp(-(y * y)) / (1 + 2 * y)
        error = where(a < 0.5, _erf(y) - a, (1 - a) - rest) * (math.sqrt(math.pi) / 2) * exp(y * y)
        y = where(a < 1, y - error / (1 + y * error), y)
    return sign(x) * y


def erfinv(x: ArrayLike) -> Array:
    """Return the inverse of erf; inf at 1, -inf at -1, NaN outside of [-1, 1].

    It is computed in float64.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.erfinv([0.0, 0.5, 1.0]).round(4).tolist()
    [0.0, 0.476900011301040..., inf]
    """
    return _in_double("erfinv", _erfinv, x)
