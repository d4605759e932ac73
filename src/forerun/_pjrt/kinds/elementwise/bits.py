"""Element-wise functions that look at the bits of numbers: signs, exponents, neighbours; and shifts of integers."""

from __future__ import annotations

from ...builder import Builder
from ...types import Type, bits_of, is_unsigned
from ...values import Value
from .casts import cast, unsigned_of

__all__ = [
    "bitwise_count", "copysign", "frexp", "invert", "ldexp", "left_shift", "nextafter", "right_shift", "scaled",
    "signbit", "spacing", "upper_half",
]  # fmt: skip

_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}  # bits stored


def bits(b: Builder, x: Value) -> Value:
    """The bits as an unsigned integer."""
    return b.bitcast(x, unsigned_of(x.dtype))


def _sign_mask(dtype: str) -> int:
    return 1 << (bits_of(dtype) - 1)


def signbit(b: Builder, x: Value) -> Value:
    """Whether the sign bit is set."""
    return (bits(b, x) & _sign_mask(x.dtype)).differs(0)


def copysign(b: Builder, x: Value, y: Value) -> Value:
    """x with the sign of y."""
    mask = _sign_mask(x.dtype)
    return b.bitcast((bits(b, x) & (mask - 1)) | (bits(b, y) & mask), x.dtype)


def upper_half(b: Builder, x: Value) -> Value:
    """x without the lower half of its digits, so that its square is exact."""
    lower = (1 << (_MANTISSA[x.dtype] + 2) // 2) - 1
    return b.bitcast(bits(b, x) & ((1 << bits_of(x.dtype)) - 1 ^ lower), x.dtype)


def nextafter(b: Builder, x: Value, y: Value) -> Value:
    """The number next to x in the direction of y."""
    mask = _sign_mask(x.dtype)
    own = bits(b, x)
    rises = (x < y) ^ (own & mask).differs(0)  # farther from 0
    zero = (bits(b, y) & mask) | 1  # the least number of y's sign
    moved = b.select(x.equals(0.0), zero, b.select(rises, own + 1, own - 1))
    moved = b.select(x.equals(y), bits(b, y), moved)
    nan = x.differs(x) | y.differs(y)
    return b.select(nan, x + y, b.bitcast(moved, x.dtype))


def spacing(b: Builder, x: Value) -> Value:
    """The distance to the next number away from 0, with x's sign; of float16 upwards, as NumPy's."""
    infinity = b.constant(float("inf"), x.type)
    away = infinity if x.dtype == "float16" else copysign(b, infinity, x)
    there = nextafter(b, x, away)
    return b.select(b.unary("abs", x).equals(infinity), float("nan"), there - x)


def scaled(b: Builder, x: Value, exponent: Value) -> Value:
    """x times 2 to the power of an int32, rounded once: in three steps that leave room for all bits."""
    mantissa = _MANTISSA[x.dtype]
    bias = (1 << (bits_of(x.dtype) - 2 - mantissa)) - 1
    lowest, highest = -(bias - 1) + mantissa + 1, bias
    left = exponent
    for _ in range(3):
        step = b.operation("clamp", (b.constant(lowest, left.type), left, b.constant(highest, left.type)), left.type)
        left = left - step
        power = b.convert(step + bias, unsigned_of(x.dtype)) << mantissa
        x = x * b.bitcast(power, x.dtype)
    return x


def ldexp(b: Builder, x: Value, exponent: Value) -> Value:
    """x times 2 to the power of an integer."""
    limit = 1 << 14
    bound = Type(x.shape, exponent.dtype)
    exponent = b.operation("clamp", (b.constant(-limit, bound), exponent, b.constant(limit, bound)), bound)
    return scaled(b, x, b.convert(exponent, "int32"))


def frexp(b: Builder, x: Value) -> tuple[Value, Value]:
    """The number between 1/2 and 1, and the power of two, whose product x is."""
    if x.dtype == "float16":
        mantissa, exponent = frexp(b, b.convert(x, "float32"))
        return b.convert(mantissa, "float16"), exponent
    stored = _MANTISSA[x.dtype]
    bias = (1 << (bits_of(x.dtype) - 2 - stored)) - 1
    # Subnormal numbers are made larger first.
    tiny = b.unary("abs", x) < 2.0 ** (1 - bias)
    own = bits(b, b.select(tiny, x * 2.0 ** (stored + 1), x))
    exponent = b.convert((own >> stored) & (2 * bias + 1), "int32") - (bias - 1)
    exponent = exponent - b.select(tiny, b.constant(stored + 1, exponent.type), 0)
    keep = _sign_mask(x.dtype) | (1 << stored) - 1
    half = b.bitcast((own & keep) | (bias - 1) << stored, x.dtype)
    same = x.equals(0.0) | ~b.operation("is_finite", (x,), Type(x.shape, "bool"))
    return b.select(same, x, half), b.select(same, 0, exponent)


def _shift(b: Builder, x: Value, n: Value) -> tuple[Value, Value]:
    """Whether the shift is by fewer bits than there are, else it is by 0; a negative one is by many."""
    unsigned = b.bitcast(n, unsigned_of(n.dtype))
    inside = unsigned < bits_of(x.dtype)
    return inside, b.select(inside, n, 0)


def left_shift(b: Builder, x: Value, n: Value) -> Value:
    """x times 2 to the power of n; 0 from its number of bits on."""
    inside, n = _shift(b, x, n)
    return b.select(inside, x << n, 0)


def right_shift(b: Builder, x: Value, n: Value) -> Value:
    """x divided by 2 to the power of n, rounded down."""
    inside, n = _shift(b, x, n)
    beyond = b.constant(0, x.type) if is_unsigned(x.dtype) else b.select(x < 0, b.constant(-1, x.type), 0)
    return b.select(inside, x >> n, beyond)


def bitwise_count(b: Builder, x: Value) -> Value:
    """How many bits of the absolute value are 1."""
    x = x if is_unsigned(x.dtype) else b.unary("abs", x)
    return cast(b, b.unary("popcnt", x), "uint8")


def invert(b: Builder, x: Value) -> Value:
    """The other bits."""
    return ~x
