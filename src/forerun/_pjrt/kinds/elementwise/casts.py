"""Conversions of elements, by the rules of the CPU's casts (core/cpu/loops/cast.cpp)."""

from __future__ import annotations

from ...builder import Builder
from ...types import bits_of, is_complex, is_float, is_integer, is_unsigned, part_of
from ...values import Value

__all__ = ["cast", "unsigned_of"]


def cast(b: Builder, x: Value, dtype: str) -> Value:
    """Elements in another dtype."""
    if x.dtype == dtype:
        return x
    if is_complex(x.dtype):
        return _from_complex(b, x, dtype)
    if is_complex(dtype):
        real = cast(b, x, part_of(dtype))
        return b.complex(real, b.constant(0, real.type))
    if dtype == "bool":
        return _is_not_zero(b, x)
    if is_float(x.dtype) and is_integer(dtype):
        wide = b.convert(x, "float32") if bits_of(x.dtype) == 16 else x
        return _integers(b, wide, dtype)
    if dtype == "bfloat16" or x.dtype == "bfloat16" or (is_integer(x.dtype) and dtype == "float16"):
        return b.convert(b.convert(x, "float32"), dtype)
    return b.convert(x, dtype)


def _from_complex(b: Builder, x: Value, dtype: str) -> Value:
    real, imag = b.part("real", x), b.part("imag", x)
    if dtype == "bool":
        return _is_not_zero(b, real) | _is_not_zero(b, imag)
    if is_complex(dtype):
        return b.complex(cast(b, real, part_of(dtype)), cast(b, imag, part_of(dtype)))
    return cast(b, real, dtype)


def _is_not_zero(b: Builder, x: Value) -> Value:
    """By the bits: comparisons of floats may take the smallest numbers for 0."""
    if not is_float(x.dtype):
        return x.differs(0)
    return (b.bitcast(x, unsigned_of(x.dtype)) & ((1 << (bits_of(x.dtype) - 1)) - 1)).differs(0)


def _integers(b: Builder, x: Value, dtype: str) -> Value:
    """The integer part; values that the integer cannot hold are converted as by scalar code on x86."""
    if dtype == "uint64":
        upper = x >= 2.0**63
        low = b.convert(_whole(b, b.select(upper, x - 2.0**63, x), "int64"), "uint64")
        return low ^ (b.convert(upper, "uint64") << 63)
    small = bits_of(dtype) < 32 or dtype == "int32"
    return b.convert(_whole(b, x, "int32" if small else "int64"), dtype)


def _whole(b: Builder, x: Value, wide: str) -> Value:
    """The integer part, or the least integer for numbers beyond, and for NaN."""
    least = -(2.0 ** (bits_of(wide) - 1))
    inside = (x >= least) & (x < -least)
    return b.convert(b.select(inside, x, least), wide)


def unsigned_of(dtype: str) -> str:
    """The unsigned dtype of as many bits.

    >>> unsigned_of("int8"), unsigned_of("float32"), unsigned_of("bfloat16")
    ('uint8', 'uint32', 'uint16')
    """
    return dtype if is_unsigned(dtype) else f"uint{bits_of(dtype)}"
