"""Element-wise functions of real numbers: exponential, logarithmic, trigonometric, hyperbolic, erf.

Those that StableHLO has are its own; others are formulas that are right to some units in the last place everywhere.
"""

from __future__ import annotations

import math

from ....ops.elementwise.erf import FAR, NEAR, polynomial
from ...builder import Builder
from ...values import Value
from .arithmetic import maximum, minimum
from .bits import copysign, frexp, scaled, upper_half

__all__ = [
    "INF", "NAN", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cosh", "degrees", "erf",
    "erfc", "exp2", "far", "half_exp", "hypot", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "radians", "sinh",
]  # fmt: skip

INF, NAN = math.inf, math.nan
_LN2, _LOG2E = math.log(2), 1 / math.log(2)


def log1p(b: Builder, x: Value) -> Value:
    """log(1 + x). Plugins take their series for numbers near 0 down to -0.41, where it has lost many bits."""
    return b.select(x < -0.25, b.unary("log", x + 1.0), b.unary("log_plus_one", x))


def _exp(b: Builder, x: Value) -> Value:
    return b.unary("exponential", x)


def exp2(b: Builder, x: Value) -> Value:
    """2 to the power of x: the integer part goes to the exponent."""
    limit = 2100.0
    whole = b.unary("round_nearest_even", x)
    whole = b.operation("clamp", (b.constant(-limit, x.type), whole, b.constant(limit, x.type)), x.type)
    part = _exp(b, (x - whole) * _LN2)
    inside = b.unary("abs", x) <= limit
    part = b.select(inside, part, 1.0)
    number = b.convert(b.select(x.equals(x), whole, 0.0), "int32")
    return b.select(x.equals(x), scaled(b, part, number), x)


def log2(b: Builder, x: Value) -> Value:
    """The exponent, and the logarithm of a number between sqrt(1/2) and sqrt(2)."""
    half, exponent = frexp(b, x)
    low = half < math.sqrt(0.5)
    half = b.select(low, half * 2.0, half)
    exponent = exponent - b.convert(low, "int32")
    found = b.convert(exponent, x.dtype) + b.unary("log", half) * _LOG2E
    ordinary = (x > 0.0) & (x < INF)
    return b.select(ordinary, found, b.unary("log", x))


def log10(b: Builder, x: Value) -> Value:
    """The logarithm to base 10."""
    return b.unary("log", x) * (1 / math.log(10))


def logaddexp(b: Builder, x: Value, y: Value) -> Value:
    """log(exp(x) + exp(y))."""
    return _logaddexp(b, x, y, lambda d: log1p(b, _exp(b, d)), _LN2)


def logaddexp2(b: Builder, x: Value, y: Value) -> Value:
    """log2(2**x + 2**y)."""
    return _logaddexp(b, x, y, lambda d: log1p(b, exp2(b, d)) * _LOG2E, 1.0)


def _logaddexp(b: Builder, x: Value, y: Value, more, of_equal: float) -> Value:  # type: ignore[no-untyped-def]
    large = maximum(b, x, y)
    found: Value = large + more(-b.unary("abs", x - y))
    return b.select(x.equals(y), x + of_equal, b.select((x - y).differs(x - y), x - y, found))


def hypot(b: Builder, x: Value, y: Value) -> Value:
    """sqrt(x * x + y * y), without overflow in between."""
    x, y = b.unary("abs", x), b.unary("abs", y)
    large, small = maximum(b, x, y), minimum(b, x, y)
    ratio = small / b.select(large.equals(0.0), 1.0, large)
    found = large * b.unary("sqrt", ratio * ratio + 1.0)
    return b.select(x.equals(INF) | y.equals(INF), INF, found)


def degrees(b: Builder, x: Value) -> Value:
    """Of radians."""
    return x * (180 / math.pi)


def radians(b: Builder, x: Value) -> Value:
    """Of degrees."""
    return x * (math.pi / 180)


# --- inverse trigonometric functions


def arctan2(b: Builder, y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    return b.binary("atan2", y, x)


def arctan(b: Builder, x: Value) -> Value:
    """The angle of slope x. 1 is not a constant here: some XLA has a wrong rule for points (1, x)."""
    return b.binary("atan2", x, b.select(x.equals(x), 1.0, x))


def arcsin(b: Builder, x: Value) -> Value:
    """The angle whose sine is x."""
    return 2.0 * b.binary("atan2", x, b.unary("sqrt", (1.0 - x) * (1.0 + x)) + 1.0)


def arccos(b: Builder, x: Value) -> Value:
    """The angle whose cosine is x."""
    return 2.0 * b.binary("atan2", b.unary("sqrt", 1.0 - x), b.unary("sqrt", 1.0 + x))


# --- hyperbolic functions and their inverses


def sinh(b: Builder, x: Value) -> Value:
    """(exp(x) - exp(-x)) / 2."""
    size = b.unary("abs", x)
    less = b.unary("exponential_minus_one", size)
    near = 0.5 * (less + less / (less + 1.0))
    return copysign(b, b.select(size < far(x), near, half_exp(b, size)), x)


def cosh(b: Builder, x: Value) -> Value:
    """(exp(x) + exp(-x)) / 2."""
    size = b.unary("abs", x)
    e = _exp(b, size)
    return b.select(size < far(x), 0.5 * e + 0.5 / e, half_exp(b, size))


def far(x: Value) -> float:
    """From here on exp(-x) is less than the last bit of exp(x)."""
    return 20.0 if x.dtype == "float64" else 10.0


def half_exp(b: Builder, x: Value) -> Value:
    """exp(x) / 2, which may be finite where exp(x) overflows."""
    root = _exp(b, 0.5 * x)
    return (0.5 * root) * root


def arcsinh(b: Builder, x: Value) -> Value:
    """The inverse of sinh."""
    size = b.unary("abs", x)
    large = size > (1e9 if x.dtype == "float64" else 1e4)
    safe = b.select(large, 1.0, size)
    root = b.unary("sqrt", safe * safe + 1.0)
    near = log1p(b, safe + safe * safe / (1.0 + root))
    return copysign(b, b.select(large, b.unary("log", size) + _LN2, near), x)


def arccosh(b: Builder, x: Value) -> Value:
    """The inverse of cosh, from 1 on."""
    large = x > (1e9 if x.dtype == "float64" else 1e4)
    less = b.select(large, 1.0, x - 1.0)
    near = log1p(b, less + b.unary("sqrt", less * (less + 2.0)))
    return b.select(x < 1.0, NAN, b.select(large, b.unary("log", x) + _LN2, near))


def arctanh(b: Builder, x: Value) -> Value:
    """The inverse of tanh, between -1 and 1."""
    size = b.unary("abs", x)
    return copysign(b, 0.5 * log1p(b, 2.0 * size / (1.0 - size)), x)


# --- the error function


def _beyond(b: Builder, size: Value) -> Value:
    """erfc from 0 on. The rounding of size * size would cost as many digits as that has before the point.

    The two powers of e are not multiplied with each other: XLA would add their exponents.
    """
    short = upper_half(b, size)
    curve = polynomial(FAR, (size - 3.75) / (size + 3.75)) / (1.0 + 2.0 * size)
    return _exp(b, -(short * short)) * curve * _exp(b, (short - size) * (short + size))


def erf(b: Builder, x: Value) -> Value:
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    size = b.unary("abs", x)
    far = 1.0 - _beyond(b, b.binary("minimum", size, 6.0))
    return b.select(size < 0.5, x * polynomial(NEAR, x * x), b.unary("sign", x) * far)


def erfc(b: Builder, x: Value) -> Value:
    """1 - erf(x), with its digits also where it is small."""
    size = b.unary("abs", x)
    far = _beyond(b, b.binary("minimum", size, 28.0))
    far = b.select(x < 0.0, 2.0 - far, far)
    return b.select(size < 0.5, 1.0 - erf(b, x), far)
