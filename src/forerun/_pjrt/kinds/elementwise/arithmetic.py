"""Element-wise arithmetic, comparisons and logic, with NumPy's rules for signs, zeros, NaN and overflow."""

from __future__ import annotations

from ...builder import Builder
from ...types import Type, is_complex, is_float, is_integer, is_unsigned, part_of
from ...values import Value
from .bits import copysign
from .casts import cast, unsigned_of

__all__ = [
    "absolute", "clip", "compared", "conjugate", "divide", "divmod_", "floor_divide", "fmax", "fmin", "fmod", "gcd",
    "heaviside", "isfinite", "isinf", "isnan", "lcm", "logical", "maximum", "minimum", "modf", "negative", "power",
    "reciprocal", "remainder", "rint", "rounded", "sign", "square", "trunc",
]  # fmt: skip

INF, NAN = float("inf"), float("nan")


def negative(b: Builder, x: Value) -> Value:
    """-x."""
    return -x


def square(b: Builder, x: Value) -> Value:
    """x times x."""
    return x * x


def divide(b: Builder, x: Value, y: Value) -> Value:
    """x / y; of complex numbers as Smith's rule divides: by the larger part first."""
    if not is_complex(x.dtype):
        return x / y
    (xr, xi), (yr, yi) = ((b.part("real", v), b.part("imag", v)) for v in (x, y))
    by_real = b.unary("abs", yr) >= b.unary("abs", yi)
    large, small = b.select(by_real, yr, yi), b.select(by_real, yi, yr)
    ratio = b.select(large.equals(0.0), small, small / large)
    scale = 1.0 / (large + small * ratio)
    real = b.select(by_real, xr + xi * ratio, xr * ratio + xi) * scale
    imag = b.select(by_real, xi - xr * ratio, xi * ratio - xr) * scale
    both_zero = large.equals(0.0) & small.equals(0.0)
    zero = b.unary("abs", yr)
    return b.complex(b.select(both_zero, xr / zero, real), b.select(both_zero, xi / zero, imag))


def reciprocal(b: Builder, x: Value) -> Value:
    """1 / x; of integers the integer part."""
    return cast(b, 1.0 / b.convert(x, "float64"), x.dtype) if is_integer(x.dtype) else 1.0 / x


def conjugate(b: Builder, x: Value) -> Value:
    """The complex conjugate."""
    return b.complex(b.part("real", x), -b.part("imag", x)) if is_complex(x.dtype) else x


def absolute(b: Builder, x: Value) -> Value:
    """The absolute value."""
    return x if x.dtype == "bool" or is_unsigned(x.dtype) else b.unary("abs", x)


def sign(b: Builder, x: Value) -> Value:
    """-1, 0 or 1."""
    if is_unsigned(x.dtype):
        return cast(b, x.differs(0), x.dtype)
    return b.select(x.equals(0), 0, b.unary("sign", x))


# --- division with a remainder


def _divisor(b: Builder, y: Value) -> tuple[Value, Value]:
    """Whether y is 0, and y, or 1 where it is."""
    zero = y.equals(0)
    return zero, b.select(zero, 1, y)


def _floats_divmod(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """Quotient rounded down, and the remainder, which has y's sign."""
    rest = b.binary("remainder", x, y)
    other = (rest < 0.0) ^ (y < 0.0)
    exact = rest.equals(0.0)
    fixes = other & ~exact
    quotient = (x - rest) / y
    quotient = b.select(fixes, quotient - 1.0, quotient)
    modulus = b.select(exact, copysign(b, b.constant(0, x.type), y), b.select(fixes, rest + y, rest))
    down = b.unary("floor", quotient)
    down = b.select(quotient - down > 0.5, down + 1.0, down)
    down = b.select(quotient.equals(0.0), copysign(b, b.constant(0, x.type), x / y), down)
    zero = y.equals(0.0)
    return b.select(zero, x / y, down), b.select(zero, rest, modulus)


def divmod_(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """Quotient rounded down and remainder, as Python's; 0 and 0 of integers divided by 0."""
    if is_float(x.dtype):
        return _floats_divmod(b, x, y)
    zero, safe = _divisor(b, y)
    quotient, rest = b.binary("divide", x, safe), b.binary("remainder", x, safe)
    if not is_unsigned(x.dtype):
        fixes = rest.differs(0) & ((rest < 0) ^ (safe < 0))
        quotient, rest = b.select(fixes, quotient - 1, quotient), b.select(fixes, rest + safe, rest)
    return b.select(zero, 0, quotient), b.select(zero, 0, rest)


def floor_divide(b: Builder, x: Value, y: Value) -> Value:
    """The quotient rounded down."""
    return divmod_(b, x, y)[0]


def remainder(b: Builder, x: Value, y: Value) -> Value:
    """The remainder, with y's sign."""
    return divmod_(b, x, y)[1]


def fmod(b: Builder, x: Value, y: Value) -> Value:
    """The remainder, with x's sign, as C's."""
    if is_float(x.dtype):
        return b.binary("remainder", x, y)
    zero, safe = _divisor(b, y)
    return b.select(zero, 0, b.binary("remainder", x, safe))


def power(b: Builder, x: Value, y: Value) -> Value:
    """x to the power of y. Of integers by squaring: plugins look at six bits of the exponent."""
    if not is_integer(x.dtype):
        return b.binary("power", x, y)
    y = y if is_unsigned(y.dtype) else b.select(y < 0, 0, y)

    def step(result: Value, square: Value, left: Value) -> list[Value]:
        odd = (left & 1).differs(0)
        return [b.select(odd, result * square, result), square * square, left >> 1]

    return b.loop([b.constant(1, x.type), x, y], lambda _, square, left: b.any(left.differs(0)), step)[0]


def gcd(b: Builder, x: Value, y: Value) -> Value:
    """The greatest common divisor, by Euclid's rule on unsigned numbers: the least integer's absolute value is
    unsigned."""

    def without(v: Value) -> Value:
        return b.convert(absolute(b, v), unsigned_of(v.dtype))

    def step(x: Value, y: Value) -> list[Value]:
        rest = fmod(b, x, y)
        return [b.select(y.equals(0), x, y), b.select(y.equals(0), 0, rest)]

    common = b.loop([without(x), without(y)], lambda x, y: b.any(y.differs(0)), step)[0]
    return b.convert(common, x.dtype)


def lcm(b: Builder, x: Value, y: Value) -> Value:
    """The least common multiple."""
    common = gcd(b, x, y)
    x, y = (x, y) if is_unsigned(x.dtype) else (b.unary("abs", x), b.unary("abs", y))
    return b.select(common.equals(0), 0, b.binary("divide", x, _divisor(b, common)[1]) * y)


# --- rounding


def rounded(b: Builder, name: str, x: Value) -> Value:
    """floor, ceil or rint; of integers themselves."""
    if is_complex(x.dtype):
        return b.complex(b.unary(name, b.part("real", x)), b.unary(name, b.part("imag", x)))
    return b.unary(name, x) if is_float(x.dtype) else x


def rint(b: Builder, x: Value) -> Value:
    """The nearest integer, the even one of two."""
    return rounded(b, "round_nearest_even", x)


def trunc(b: Builder, x: Value) -> Value:
    """The integer part."""
    return b.select(x < 0.0, rounded(b, "ceil", x), rounded(b, "floor", x)) if is_float(x.dtype) else x


def modf(b: Builder, x: Value) -> tuple[Value, Value]:
    """The rest and the integer part, both with x's sign."""
    whole = trunc(b, x)
    endless = b.unary("abs", x).equals(INF)
    return copysign(b, b.select(endless, 0.0, x - whole), x), whole


# --- the larger and the smaller of two


def _first(b: Builder, direction: str, x: Value, y: Value) -> Value:
    """Whether x is not behind y. Complex numbers are compared by their real parts, then by the imaginary ones."""
    if not is_complex(x.dtype):
        return b.compare(direction, x, y)
    (xr, xi), (yr, yi) = ((b.part("real", v), b.part("imag", v)) for v in (x, y))
    same = b.compare(direction, xi, yi)
    strict = b.compare(direction[0] + "T", xr, yr) & ~isnan(b, xi) & ~isnan(b, yi)
    return strict | (xr.equals(yr) & same)


def maximum(b: Builder, x: Value, y: Value, direction: str = "GE") -> Value:
    """The larger one; NaN if one is. StableHLO's own is not the same everywhere for NaN."""
    if is_complex(x.dtype) or is_float(x.dtype):
        return b.select(_first(b, direction, x, y) | isnan(b, x), x, y)
    return b.binary("maximum" if direction == "GE" else "minimum", x, y)


def minimum(b: Builder, x: Value, y: Value) -> Value:
    """The smaller one; NaN if one is."""
    return maximum(b, x, y, "LE")


def fmax(b: Builder, x: Value, y: Value, direction: str = "GE") -> Value:
    """The larger one; the other if one is NaN."""
    if not (is_float(x.dtype) or is_complex(x.dtype)):
        return maximum(b, x, y, direction)
    return b.select(_first(b, direction, x, y) | isnan(b, y), x, y)


def fmin(b: Builder, x: Value, y: Value) -> Value:
    """The smaller one; the other if one is NaN."""
    return fmax(b, x, y, "LE")


def clip(b: Builder, x: Value, least: Value, greatest: Value) -> Value:
    """x between two ends."""
    return minimum(b, maximum(b, x, least), greatest)


# --- predicates


def compared(b: Builder, direction: str, x: Value, y: Value) -> Value:
    """A comparison; integers of 64 bits may have and not have a sign."""
    if x.dtype != y.dtype:
        return _mixed(b, direction, x, y)
    if is_complex(x.dtype) and direction not in ("EQ", "NE"):
        return _first(b, direction, x, y)
    return b.compare(direction, x, y)


_SWAPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def _mixed(b: Builder, direction: str, x: Value, y: Value) -> Value:
    """int64 with uint64."""
    if is_unsigned(x.dtype):
        return _mixed(b, _SWAPPED[direction], y, x)
    known = b.constant(direction in ("LT", "LE", "NE"), Type(x.shape, "bool"))
    return b.select(x < 0, known, b.compare(direction, b.convert(x, "uint64"), y))


def isnan(b: Builder, x: Value) -> Value:
    """Whether it is NaN."""
    return _of_parts(b, x, lambda p: p.differs(p), either=True)


def isinf(b: Builder, x: Value) -> Value:
    """Whether it is infinite."""
    return _of_parts(b, x, lambda p: b.unary("abs", p).equals(INF), either=True)


def isfinite(b: Builder, x: Value) -> Value:
    """Whether it is a finite number."""
    finite = lambda p: b.operation("is_finite", (p,), Type(p.shape, "bool"))
    return _of_parts(b, x, finite, either=False)


def _of_parts(b: Builder, x: Value, holds, either: bool) -> Value:  # type: ignore[no-untyped-def]
    """A condition of the real and imaginary part; for integers, which have no imaginary part, the opposite of
    `either`."""
    if is_complex(x.dtype):
        real, imag = holds(b.part("real", x)), holds(b.part("imag", x))
        found: Value = real | imag if either else real & imag
        return found
    if not is_float(x.dtype):
        return b.constant(not either, Type(x.shape, "bool"))
    of_real: Value = holds(x)
    return of_real


def logical(b: Builder, name: str, x: Value, y: Value | None = None) -> Value:
    """and, or, xor or not of the truth of numbers."""
    x = cast(b, x, "bool")
    return ~x if y is None else b.binary(name, x, cast(b, y, "bool"))


def heaviside(b: Builder, x: Value, at_zero: Value) -> Value:
    """0 below 0, 1 above."""
    step = b.select(x < 0.0, b.constant(0, x.type), 1.0)
    return b.select(x.differs(x), x, b.select(x.equals(0.0), at_zero, step))


def wide_part(dtype: str) -> str:
    """The dtype in which functions of small floats are computed.

    >>> wide_part("float16"), wide_part("complex64")
    ('float32', 'float32')
    """
    return "float32" if dtype in ("float16", "bfloat16") else part_of(dtype)
