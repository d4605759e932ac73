"""Reductions and scans by a ufunc's name, counts, and positions of the largest and smallest elements."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..types import bits_of, is_complex, is_float, is_signed
from ..values import Value
from .call import Call
from .elementwise.arithmetic import isnan, wide_part
from .elementwise.casts import cast
from .elementwise.loops import combined

__all__ = ["argreduce", "count_nonzero", "neutral", "reduce", "scan", "scanned"]

_INF = float("inf")


def lowest(dtype: str) -> complex:
    """The least value of a dtype; of complex numbers the one that comes first.

    >>> lowest("int8"), lowest("uint8"), lowest("float32"), lowest("bool")
    (-128, 0, -inf, 0)
    """
    if is_complex(dtype):
        return complex(-_INF, -_INF)
    if is_float(dtype):
        return -_INF
    return -(1 << (bits_of(dtype) - 1)) if is_signed(dtype) else 0


def highest(dtype: str) -> complex:
    """The greatest value of a dtype.

    >>> highest("int8"), highest("uint8"), highest("float32"), highest("bool")
    (127, 255, inf, 1)
    """
    if is_complex(dtype) or is_float(dtype):
        return -lowest(dtype)
    if dtype == "bool":
        return 1
    return (1 << (bits_of(dtype) - is_signed(dtype))) - 1


def neutral(name: str, dtype: str) -> complex | None:
    """The element that changes no other; None if a ufunc has no such element, or does not reduce.

    >>> neutral("add", "int8"), neutral("minimum", "int8"), neutral("arctan2", "float32")
    (0, 127, None)
    """
    if name in ("maximum", "minimum"):
        return lowest(dtype) if name == "maximum" else highest(dtype)
    if name in ("fmax", "fmin"):
        return float("nan") if is_float(dtype) else neutral({"fmax": "maximum", "fmin": "minimum"}[name], dtype)
    if name == "bitwise_and":
        return -1 if is_signed(dtype) else highest(dtype)
    known = {
        "add": 0, "multiply": 1, "logical_and": 1, "logical_or": 0, "logical_xor": 0, "bitwise_or": 0, "bitwise_xor": 0,
        "logaddexp": -_INF, "logaddexp2": -_INF, "hypot": 0,
    }  # fmt: skip
    return known.get(name)


def _elements(call: Call) -> tuple[Value, complex] | None:
    """The input in the dtype in which it is reduced, and the neutral element."""
    (x,), name = call.inputs, call.spec.name
    dtype = "bool" if name[:7] == "logical" else call.attribute("accumulate", x.dtype)
    if is_complex(dtype) and name in ("fmax", "fmin"):
        return None
    x = cast(call.b, x, dtype)
    x = cast(call.b, x, wide_part(dtype)) if is_float(dtype) else x
    start = neutral(name, x.dtype)
    return None if start is None else (x, start)


def _both(b: Builder, name: str, x: Value, y: Value) -> Value:
    values = combined(b, name, [x, y])
    assert values is not None
    return values[0]


def reduce(call: Call) -> Sequence[Value] | None:
    """All elements of some axes in one."""
    found = _elements(call)
    if found is None:
        return None
    b, name, (out,) = call.b, call.spec.name, call.spec.outputs
    x, start = found
    axes = sorted(call.attribute("axes"))
    if not axes:
        return [cast(b, x, out.dtype)]
    (value,) = b.reduce([x], [b.scalar(start, x.dtype)], axes, lambda s, e: [_both(b, name, s, e)])
    return [cast(b, cast(b, value, call.attribute("accumulate", x.dtype)), out.dtype)]


def scan(call: Call) -> Sequence[Value] | None:
    """Each element with all before it: those at a distance of 1, 2, 4, ... are combined."""
    found = _elements(call)
    if found is None:
        return None
    b, (out,) = call.b, call.spec.outputs
    x = scanned(b, call.spec.name, found[0], call.attribute("axis"), found[1])
    return [cast(b, cast(b, x, call.attribute("accumulate", x.dtype)), out.dtype)]


def scanned(b: Builder, name: str, x: Value, axis: int, start: complex) -> Value:
    """Each element combined with all before it along an axis. start: the neutral element."""
    step = 1
    while step < x.shape[axis]:
        low = [step if a == axis else 0 for a in range(len(x.shape))]
        before = b.pad(x, start, low, [-n for n in low])
        x, step = _both(b, name, before, x), 2 * step
    return x


def count_nonzero(call: Call) -> Sequence[Value]:
    """How many elements are not 0."""
    b, (x,), (out,) = call.b, call.inputs, call.spec.outputs
    axes = call.attribute("axes")
    axes = range(len(x.shape)) if axes is None else axes
    ones = b.convert(cast(b, x, "bool"), "int64")
    if not axes:
        return [cast(b, ones, out.dtype)]
    (count,) = b.reduce([ones], [b.scalar(0, "int64")], sorted(axes), lambda s, e: [s + e])
    return [cast(b, count, out.dtype)]


def argreduce(call: Call) -> Sequence[Value]:
    """Where the largest or smallest element is: the first of them, or the first NaN."""
    b, (x,), (out,) = call.b, call.inputs, call.spec.outputs
    largest, axis = call.spec.name == "argmax", call.attribute("axis")
    if axis is None:
        x, axis = b.reshape(x, (x.type.size,)), 0
    x = cast(b, x, wide_part(x.dtype)) if is_float(x.dtype) else x
    place = b.iota(x.shape, axis)

    def better(value: Value, at: Value, other: Value, other_at: Value) -> list[Value]:
        ahead = _before(b, other, value) if largest else _before(b, value, other)
        nan, other_nan = isnan(b, value), isnan(b, other)
        same = value.equals(other) | (nan & other_nan)
        keeps = (nan & ~other_nan) | (ahead & ~other_nan) | (same & (at < other_at))
        return [b.select(keeps, value, other), b.select(keeps, at, other_at)]

    start = lowest(x.dtype) if largest else highest(x.dtype)
    starts = [b.scalar(start, x.dtype), b.scalar(highest("int64"), "int64")]
    _, found = b.reduce([x, place], starts, [axis], better)
    return [cast(b, found, out.dtype)]


def _before(b: Builder, x: Value, y: Value) -> Value:
    """x < y; of complex numbers by the real part first."""
    if not is_complex(x.dtype):
        return x < y
    (xr, xi), (yr, yi) = ((b.part("real", v), b.part("imag", v)) for v in (x, y))
    return (xr < yr) | (xr.equals(yr) & (xi < yi))
