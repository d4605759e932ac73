"""Types of StableHLO as text, by NumPy's names of dtypes; and constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .spec import ITEM_SIZE

__all__ = ["Type", "bits_of", "is_complex", "is_float", "is_integer", "is_signed", "is_unsigned", "literal", "part_of"]

_NAMES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16",
    "uint32": "ui32", "uint64": "ui64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
}  # fmt: skip
# Infinity and NaN have no decimal digits: their bits.
_INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}
_NAN = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000, "float64": 0x7FF8000000000000}


@dataclass(frozen=True)
class Type:
    """Shape and dtype of a tensor.

    >>> str(Type((2, 3), "float32")), str(Type((), "bool"))
    ('tensor<2x3xf32>', 'tensor<i1>')
    """

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{_NAMES[self.dtype]}>"

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def bits_of(dtype: str) -> int:
    """Bits of an element.

    >>> bits_of("float16")
    16
    """
    return ITEM_SIZE[dtype] * 8


def is_float(dtype: str) -> bool:
    """Whether a dtype is one of real floating numbers."""
    return dtype in _INFINITY


def is_complex(dtype: str) -> bool:
    """Whether a dtype is one of complex numbers."""
    return dtype[:7] == "complex"


def is_unsigned(dtype: str) -> bool:
    """Whether a dtype is one of integers from 0 on."""
    return dtype[:4] == "uint"


def is_signed(dtype: str) -> bool:
    """Whether a dtype is one of integers of both signs."""
    return dtype[:3] == "int"


def is_integer(dtype: str) -> bool:
    """Whether a dtype is an integer dtype; bool is not."""
    return is_signed(dtype) or is_unsigned(dtype)


def part_of(dtype: str) -> str:
    """The dtype of the two parts of complex numbers; others have no parts.

    >>> part_of("complex64"), part_of("int8")
    ('float32', 'int8')
    """
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def literal(value: complex, dtype: str) -> str:
    """A number of a dtype, as constants have it.

    >>> literal(1, "bool"), literal(1, "float32"), literal(1e-5, "float64"), literal(float("inf"), "float16")
    ('true', '1.0', '1.00000000000000008e-05', '0x7C00')
    """
    if dtype == "bool":
        return "true" if value else "false"
    if is_complex(dtype):
        value = complex(value)
        return f"({literal(value.real, part_of(dtype))}, {literal(value.imag, part_of(dtype))})"
    assert not isinstance(value, complex)
    if not is_float(dtype):
        return str(int(value))
    if math.isnan(value):
        return hex_of(_NAN[dtype], dtype)
    if math.isinf(value):
        return hex_of(_INFINITY[dtype] | (value < 0) << (bits_of(dtype) - 1), dtype)
    text = repr(float(value))
    return text if "." in text and "e" not in text else f"{value:.17e}"


def hex_of(bits: int, dtype: str) -> str:
    """The bits of a floating number, as constants have them."""
    return f"0x{bits:0{bits_of(dtype) // 4}X}"
