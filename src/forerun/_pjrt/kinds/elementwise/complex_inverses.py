"""Inverse trigonometric and hyperbolic functions of complex numbers.

The arc sine and the arc cosine are computed from a, half of the sum of the distances from 1 and -1, and from the real
part divided by it; near the lines where these lose digits, from the differences (Hull, Fairgrieve and Tang, 1997).
"""

from __future__ import annotations

import math

from ...builder import Builder
from ...values import Value
from .bits import copysign
from .complex_functions import Parts, modulus_log, of_parts
from .reals import INF, hypot, log1p
from .reals import arccos as real_arccos
from .reals import arcsin as real_arcsin

__all__ = ["arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh"]

_NARROW, _NEAR = 0.6417, 1.5  # up to which x / a, and a, have all their digits


def _huge(b: Builder, x: Value, y: Value) -> Value:
    """Whether 1 is less than the last digit."""
    limit = 2.0**52 if x.dtype == "float64" else 2.0**24
    return (b.unary("abs", x) > limit) | (b.unary("abs", y) > limit)


def _arcs(b: Builder, x: Value, y: Value) -> tuple[Value, Value, Value]:
    """Of a number in the first quadrant: the real parts of arc sine and arc cosine, and their imaginary part's size."""
    huge = _huge(b, x, y)
    p, q = b.select(huge, 0.5, x), b.select(huge, 0.5, y)
    right, left = hypot(b, p + 1.0, q), hypot(b, p - 1.0, q)
    a = 0.5 * (right + left)
    ratio = p / a
    square = q * q
    inside = p <= 1.0
    sum_right = right + (p + 1.0)
    sum_left = left + b.unary("abs", p - 1.0)
    safe_left = b.select(sum_left.equals(0.0), 1.0, sum_left)
    # The part that a - |x| loses: of points between the branch cuts, and beyond one.
    between = 0.5 * (a + p) * (square / sum_right + sum_left)
    beyond = 0.5 * ((a + p) / sum_right + (a + p) / safe_left)
    root = b.select(inside, b.unary("sqrt", between), q * b.unary("sqrt", beyond))
    narrow = ratio <= _NARROW
    safe = b.select(narrow, ratio, 0.0)
    sine = b.select(narrow, real_arcsin(b, safe), b.binary("atan2", p, root))
    cosine = b.select(narrow, real_arccos(b, safe), b.binary("atan2", root, p))
    more = 0.5 * (square / sum_right + b.select(p < 1.0, square / safe_left, sum_left))
    less = log1p(b, more + b.unary("sqrt", more * (a + 1.0)))
    size = b.select(a <= _NEAR, less, b.unary("log", a + b.unary("sqrt", (a - 1.0) * (a + 1.0))))
    sine, cosine = b.select(huge, b.binary("atan2", x, y), sine), b.select(huge, b.binary("atan2", y, x), cosine)
    return sine, cosine, b.select(huge, modulus_log(b, x, y) + math.log(2), size)


def _quadrant(b: Builder, x: Value, y: Value) -> tuple[Value, Value, Value]:
    return _arcs(b, b.unary("abs", x), b.unary("abs", y))


def _arcsin(b: Builder, x: Value, y: Value) -> Parts:
    sine, _, size = _quadrant(b, x, y)
    return copysign(b, sine, x), copysign(b, size, y)


def _arccos(b: Builder, x: Value, y: Value) -> Parts:
    _, cosine, size = _quadrant(b, x, y)
    return b.select(x < 0.0, math.pi - cosine, cosine), copysign(b, size, -y)


@of_parts
def arccosh(b: Builder, x: Value, y: Value) -> Parts:
    """The inverse of cosh, with a real part from 0 on."""
    real, imag = _arccos(b, x, y)
    return b.unary("abs", imag), copysign(b, real, y)


@of_parts
def arcsinh(b: Builder, x: Value, y: Value) -> Parts:
    """The inverse of sinh."""
    real, imag = _arcsin(b, y, x)
    return imag, real


def _arctanh(b: Builder, x: Value, y: Value) -> Parts:
    huge = _huge(b, x, y)
    size = b.unary("abs", x)
    p, q = b.select(huge, 0.5, size), b.select(huge, 0.5, y)
    left = b.binary("maximum", b.unary("abs", 1.0 - p), b.unary("abs", q))  # to the point where it is infinite
    at_point = 0.5 * (modulus_log(b, 1.0 + p, q) - modulus_log(b, 1.0 - p, q))
    real = b.select(left < 1e-4, at_point, 0.25 * log1p(b, 4.0 * p / ((1.0 - p) * (1.0 - p) + q * q)))
    imag = 0.5 * b.binary("atan2", 2.0 * q, (1.0 - p) * (1.0 + p) - q * q)
    far = b.unary("abs", x) >= b.unary("abs", y)
    large, small = b.select(far, size, b.unary("abs", y)), b.select(far, b.unary("abs", y), size)
    ratio = b.select(large.equals(INF), 0.0, small / large)
    inverse = 1.0 / large / (ratio * ratio + 1.0)
    away = b.select(far, inverse, inverse * ratio)
    real = b.select(huge, away, real)
    return copysign(b, real, x), b.select(huge, copysign(b, b.constant(math.pi / 2, y.type), y), imag)


@of_parts
def arctan(b: Builder, x: Value, y: Value) -> Parts:
    """The inverse of tan."""
    real, imag = _arctanh(b, y, x)
    return imag, real


arcsin, arccos, arctanh = of_parts(_arcsin), of_parts(_arccos), of_parts(_arctanh)
