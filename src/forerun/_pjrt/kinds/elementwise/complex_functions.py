"""Functions of complex numbers by those of their parts, with NumPy's results for infinite parts, NaN and zeros.

A plugin's own functions differ: some have no NaN where a part is one, or are on the wrong side of a branch cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from ...builder import Builder
from ...types import Type
from ...values import Value
from .bits import copysign
from .reals import INF, NAN, far, hypot, log1p
from .reals import cosh as real_cosh
from .reals import sinh as real_sinh

__all__ = [
    "Parts", "absolute", "cos", "cosh", "exp", "exp2", "expm1", "log", "log1p_of", "log10", "log2", "modulus_log",
    "of_parts", "power", "reciprocal", "scaled_parts", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip

Parts: TypeAlias = tuple[Value, Value]


def of_parts(function: Callable[[Builder, Value, Value], Parts]) -> Callable[[Builder, Value], Value]:
    """The function of a complex number that maps its parts to those of the result."""
    return lambda b, z: b.complex(*function(b, b.part("real", z), b.part("imag", z)))


def is_finite(b: Builder, x: Value) -> Value:
    """Whether a real number is neither infinite nor NaN."""
    return b.operation("is_finite", (x,), Type(x.shape, "bool"))


def is_infinite(b: Builder, x: Value) -> Value:
    """Whether a real number is infinite."""
    return b.unary("abs", x).equals(INF)


def absolute(b: Builder, z: Value) -> Value:
    """The distance from 0."""
    return hypot(b, b.part("real", z), b.part("imag", z))


@of_parts
def sign(b: Builder, x: Value, y: Value) -> Parts:
    """The number of the same direction at distance 1; 0 of 0."""
    size = hypot(b, x, y)
    zero, endless = size.equals(0.0), size.equals(INF)
    divisor = b.select(zero, 1.0, size)

    def towards(part: Value, other: Value) -> Value:
        far_away = b.select(is_infinite(b, part), b.unary("sign", part), b.select(is_infinite(b, other), 0.0, part))
        found = b.select(endless, far_away, part / divisor)
        unknown = ((x.differs(x) | y.differs(y)) & ~endless) | (is_infinite(b, x) & is_infinite(b, y))
        return b.select(unknown, NAN, found)

    return towards(x, y), towards(y, x)


@of_parts
def reciprocal(b: Builder, x: Value, y: Value) -> Parts:
    """1 / z, by the larger part first."""
    by_real = b.unary("abs", y) <= b.unary("abs", x)
    large, small = b.select(by_real, x, y), b.select(by_real, y, x)
    ratio = small / large
    size = large + small * ratio
    return b.select(by_real, 1.0 / size, ratio / size), b.select(by_real, -ratio / size, -1.0 / size)


# --- exponentials and logarithms


def scaled_parts(b: Builder, x: Value, real: Value, imag: Value) -> Parts:
    """exp(x) times two numbers, which may be finite where exp(x) is not."""
    root = b.unary("exponential", 0.5 * x)
    return (root * real) * root, (root * imag) * root


def _exp(b: Builder, x: Value, y: Value) -> Parts:
    real, imag = scaled_parts(b, x, b.unary("cosine", y), b.unary("sine", y))
    wild = ~is_finite(b, y)
    real = b.select(wild & x.equals(INF), INF, b.select(wild & x.equals(-INF), 0.0, real))
    imag = b.select(wild & x.equals(-INF), 0.0, imag)
    still = y.equals(0.0)
    return b.select(still, b.unary("exponential", x), real), b.select(still, y, imag)


exp = of_parts(_exp)


@of_parts
def exp2(b: Builder, x: Value, y: Value) -> Parts:
    """2 to the power of z."""
    return _exp(b, x * math.log(2), y * math.log(2))


@of_parts
def expm1(b: Builder, x: Value, y: Value) -> Parts:
    """exp(z) - 1, with its digits near 0."""
    half = b.unary("sine", 0.5 * y)
    real = b.unary("exponential_minus_one", x) * b.unary("cosine", y) - 2.0 * half * half
    return real, b.unary("exponential", x) * b.unary("sine", y)


def modulus_log(b: Builder, x: Value, y: Value) -> Value:
    """log of the distance from 0, without overflow, and with its digits near 1."""
    x, y = b.unary("abs", x), b.unary("abs", y)
    first = x >= y
    large, small = b.select(first, x, y), b.select(first, y, x)
    near = 0.5 * log1p(b, (large - 1.0) * (large + 1.0) + small * small)
    ratio = small / b.select(large.equals(0.0), 1.0, large)
    ratio = b.select(large.equals(INF), 0.0, ratio)
    away = b.unary("log", large) + 0.5 * log1p(b, ratio * ratio)
    found = b.select((large > 0.5) & (large < 3.0), near, away)
    found = b.select(x.differs(x) | y.differs(y), NAN, found)
    return b.select(x.equals(INF) | y.equals(INF), INF, found)


def _log(b: Builder, x: Value, y: Value) -> Parts:
    return modulus_log(b, x, y), b.binary("atan2", y, x)


def _scaled_log(factor: float) -> Callable[[Builder, Value], Value]:
    def function(b: Builder, x: Value, y: Value) -> Parts:
        real, imag = _log(b, x, y)
        return real * factor, imag * factor

    return of_parts(function)


log, log2, log10 = of_parts(_log), _scaled_log(1 / math.log(2)), _scaled_log(1 / math.log(10))


@of_parts
def log1p_of(b: Builder, x: Value, y: Value) -> Parts:
    """log(1 + z), with its digits near 0."""
    small = (b.unary("abs", x) < 0.5) & (b.unary("abs", y) < 0.5)
    near = 0.5 * log1p(b, b.select(small, x * (x + 2.0) + y * y, 0.0))
    return b.select(small, near, modulus_log(b, x + 1.0, y)), b.binary("atan2", y, x + 1.0)


# --- powers


@of_parts
def sqrt(b: Builder, x: Value, y: Value) -> Parts:
    """The root with a real part from 0 on; below the cut it is on the other side than above."""
    size = b.binary("maximum", b.unary("abs", x), b.unary("abs", y))
    limit = 2.0**1000 if x.dtype == "float64" else 2.0**120
    down, up = size > limit, size < 1.0 / limit
    factor = b.select(down, b.constant(2.0**-4, x.type), b.select(up, b.constant(2.0**60, x.type), 1.0))
    back = b.select(down, b.constant(2.0**2, x.type), b.select(up, b.constant(2.0**-30, x.type), 1.0))
    p, q = x * factor, b.unary("abs", y) * factor
    main = b.unary("sqrt", 0.5 * (b.unary("abs", p) + hypot(b, p, q)))
    other = 0.5 * q / b.select(main.equals(0.0), 1.0, main)
    right = ~(x < 0.0)
    real, imag = b.select(right, main, other) * back, b.select(right, other, main) * back
    real = b.select(x.equals(-INF) & y.equals(y), 0.0, b.select(x.equals(-INF), NAN, real))
    imag = b.select(x.equals(INF) & y.equals(y), 0.0, b.select(x.equals(-INF), INF, imag))
    real = b.select(is_infinite(b, y) | x.equals(INF), INF, real)
    imag = copysign(b, b.select(is_infinite(b, y), INF, imag), y)
    return real, imag


def power(b: Builder, z: Value, w: Value) -> Value:
    """z to the power of w; 1 to the power of 0, and of 0 else 0 where w's real part is above 0, and NaN elsewhere."""
    (x, y), (u, v) = ((b.part("real", n), b.part("imag", n)) for n in (z, w))
    log_real, log_imag = _log(b, x, y)
    found = b.complex(*_exp(b, u * log_real - v * log_imag, u * log_imag + v * log_real))
    real_power = v.equals(0.0)
    found = b.select(real_power & u.equals(2.0), z * z, b.select(real_power & u.equals(1.0), z, found))
    of_zero = b.select(u > 0.0, b.constant(0, z.type), complex(NAN, NAN))
    found = b.select(x.equals(0.0) & y.equals(0.0), of_zero, found)
    return b.select(real_power & u.equals(0.0), 1, found)


# --- trigonometric and hyperbolic functions


def _with_exp(b: Builder, x: Value, y: Value, real: Value, imag: Value) -> Parts:
    """real * cos(y), imag * sin(y), where real and imag are sinh or cosh of x; these overflow first."""
    cos, sin = b.unary("cosine", y), b.unary("sine", y)
    size = b.unary("abs", x)
    large_real, large_imag = scaled_parts(b, size, 0.5 * cos, 0.5 * sin)
    is_far = size >= far(x)
    signs = copysign(b, b.constant(1, x.type), real), copysign(b, b.constant(1, x.type), imag)
    return b.select(is_far, large_real * signs[0], real * cos), b.select(is_far, large_imag * signs[1], imag * sin)


def _sinh(b: Builder, x: Value, y: Value) -> Parts:
    real, imag = _with_exp(b, x, y, real_sinh(b, x), real_cosh(b, x))
    wild = ~is_finite(b, y)
    real = b.select(wild & (x.equals(0.0) | is_infinite(b, x)), x, real)
    still = y.equals(0.0)
    return b.select(still, real_sinh(b, x), real), b.select(still, y, imag)


def _cosh(b: Builder, x: Value, y: Value) -> Parts:
    real, imag = _with_exp(b, x, y, real_cosh(b, x), real_sinh(b, x))
    real = b.select(~is_finite(b, y) & is_infinite(b, x), INF, real)
    zero = b.constant(0, x.type)
    flat = copysign(b, copysign(b, zero, x) * copysign(b, b.constant(1, x.type), y), imag)
    imag = b.select(x.equals(0.0) & ~is_finite(b, y), 0.0, imag)
    still = y.equals(0.0)
    product = copysign(b, zero, x) * copysign(b, b.constant(1, x.type), y)
    return b.select(still, real_cosh(b, x), real), b.select(still, product, b.select(imag.equals(0.0), flat, imag))


def _tanh(b: Builder, x: Value, y: Value) -> Parts:
    size = b.unary("abs", x)
    near = size < far(x)
    tan, sinh = b.unary("tan", y), real_sinh(b, b.select(near, x, 0.0))
    beta = tan * tan + 1.0
    below = beta * sinh * sinh + 1.0
    real = beta * b.unary("sqrt", sinh * sinh + 1.0) * sinh / below
    imag = tan / below
    less = b.unary("exponential", -size)
    slope = 4.0 * b.unary("sine", y) * b.unary("cosine", y) * less * less
    slope = b.select(size.equals(INF), copysign(b, b.constant(0, x.type), b.select(is_finite(b, y), tan, y)), slope)
    real = b.select(near, real, copysign(b, b.constant(1, x.type), x))
    imag = b.select(near, imag, slope)
    real = b.select(is_finite(b, y) | size.equals(INF), real, b.select(x.equals(0.0), x, NAN))
    real = b.select(x.differs(x), NAN, real)
    return real, b.select(y.equals(0.0), y, b.select(x.differs(x), NAN, imag))


def _of_imaginary(function: Callable[[Builder, Value, Value], Parts], by: str) -> Callable[[Builder, Value], Value]:
    """-i f(iz) ("back"), or f(iz) ("only")."""

    def on_imaginary(b: Builder, x: Value, y: Value) -> Parts:
        real, imag = function(b, -y, x)
        return (imag, -real) if by == "back" else (real, imag)

    return of_parts(on_imaginary)


sinh, cosh, tanh = of_parts(_sinh), of_parts(_cosh), of_parts(_tanh)
sin, cos, tan = _of_imaginary(_sinh, "back"), _of_imaginary(_cosh, "only"), _of_imaginary(_tanh, "back")
