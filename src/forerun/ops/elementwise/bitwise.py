"""Operations on the bits of integers. Each is NumPy's ufunc of the same name."""

from __future__ import annotations

import numpy

from .._base.primitive import elementwise
from .._base.registry import register

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "bitwise_count"]

bitwise_and = elementwise(
    numpy.bitwise_and,
    constant=True,
    operator="bitwise_and",
    formula="bitwise_and",
    reduction="bitwise_and.reduce",
    doc="Compute the bitwise AND, x1 & x2.",
    example=("np.bitwise_and([12, 10], 6)", "array([4, 2])"),
)
bitwise_or = elementwise(
    numpy.bitwise_or,
    constant=True,
    operator="bitwise_or",
    formula="bitwise_or",
    reduction="bitwise_or.reduce",
    neutral=0,
    doc="Compute the bitwise OR, x1 | x2.",
    example=("np.bitwise_or([12, 10], 6)", "array([14, 14])"),
)
bitwise_xor = elementwise(
    numpy.bitwise_xor,
    constant=True,
    operator="bitwise_xor",
    formula="bitwise_xor",
    reduction="bitwise_xor.reduce",
    neutral=0,
    doc="Compute the bitwise XOR, x1 ^ x2.",
    example=("np.bitwise_xor([12, 10], 6)", "array([10, 12])"),
)
invert = elementwise(
    numpy.invert,
    constant=True,
    operator="invert",
    formula="invert",
    doc="Compute the bitwise NOT, ~x; of bools the logical one: invert(5) is -6.",
    example=("np.invert([0, 5])", "array([-1, -6])"),
)
left_shift = elementwise(
    numpy.left_shift,
    constant=True,
    operator="left_shift",
    doc="Shift the bits of integers to the left, x1 << x2: left_shift(1, 3) is 8.",
    example=("np.left_shift([1, 2], 3)", "array([ 8, 16])"),
)
right_shift = elementwise(
    numpy.right_shift,
    constant=True,
    operator="right_shift",
    doc="Shift the bits of integers to the right, x1 >> x2.",
    example=("np.right_shift([8, 16], 2)", "array([2, 4])"),
)
bitwise_count = elementwise(
    numpy.bitwise_count,
    constant=True,
    doc="Count the bits of |x| that are set: bitwise_count(-7) is 3.",
    example=("np.bitwise_count([5, 255])", "array([2, 8], dtype=uint8)"),
)

register(__name__, *(globals()[name] for name in __all__))
