"""Sorting along an axis; NaN comes last."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..types import is_complex, is_float
from ..values import Value
from .call import Call
from .elementwise.arithmetic import isnan
from .elementwise.casts import cast

__all__ = ["argsort", "sort"]


def _before(b: Builder, x: Value, y: Value) -> Value:
    """Whether x comes before y in NumPy's order."""
    if x.dtype == "bool":
        return ~x & y
    if is_complex(x.dtype):
        return _complex_before(b, x, y)
    less = x < y
    return less | (~isnan(b, x) & isnan(b, y)) if is_float(x.dtype) else less


def _complex_before(b: Builder, x: Value, y: Value) -> Value:
    """By the parts that are NaN: none, the imaginary, the real one, both; then by the real, and the imaginary part."""
    (xr, xi), (yr, yi) = ((b.part("real", v), b.part("imag", v)) for v in (x, y))
    rank, other = (b.convert(isnan(b, r), "int8") * 2 + b.convert(isnan(b, i), "int8") for r, i in ((xr, xi), (yr, yi)))
    return (rank < other) | (rank.equals(other) & ((xr < yr) | (~(yr < xr) & (xi < yi))))


def sort(call: Call) -> Sequence[Value]:
    """The elements in order."""
    b, (x,), (out,) = call.b, call.inputs, call.spec.outputs
    if x.type.size < 2:
        return [cast(b, x, out.dtype)]
    (value,) = b.sort([x], call.attribute("axis"), lambda e, other: _before(b, e, other))
    return [cast(b, value, out.dtype)]


def argsort(call: Call) -> Sequence[Value]:
    """The positions of the elements in order; equal ones stay in theirs."""
    b, (x,), (out,) = call.b, call.inputs, call.spec.outputs
    axis = call.attribute("axis")
    place = b.iota(x.shape, axis)
    if x.type.size >= 2:
        place = b.sort([x, place], axis, lambda e, other, i, j: _before(b, e, other))[1]
    return [cast(b, place, out.dtype)]
