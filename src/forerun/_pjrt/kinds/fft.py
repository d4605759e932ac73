"""Discrete Fourier transforms of lines, by the names of NumPy's loops."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..types import Type, part_of
from ..values import Value
from .call import Call
from .elementwise.casts import cast

__all__ = ["fft"]

_TYPES = {"fft": "FFT", "ifft": "IFFT", "irfft": "IRFFT", "rfft_n_even": "RFFT", "rfft_n_odd": "RFFT", "rfft": "RFFT"}


def _length(name: str, count: int) -> int:
    """How many numbers of a line take part, for so many results."""
    return 2 * count - (1 if name == "rfft_n_odd" else 2) if name[:4] == "rfft" else count


def _fitted(b: Builder, x: Value, count: int) -> Value:
    """The last axis cut off, or continued with zeros."""
    last = len(x.shape) - 1
    x = b.along(x, last, 0, min(count, x.shape[last]))
    return b.pad(x, 0, [0] * (last + 1), [0] * last + [count - x.shape[last]])


def fft(call: Call) -> Sequence[Value] | None:
    """The transform times the factor. That of the other direction is not divided by anything."""
    b, (x, factor), (out,) = call.b, call.inputs, call.spec.outputs
    name, axis = call.spec.name, call.attribute("axis")
    if name not in _TYPES or part_of(out.dtype) not in ("float32", "float64"):
        return None
    if 0 in (*x.shape, *out.shape):
        return [b.constant(0, Type(out.shape, out.dtype))]
    last = len(out.shape) - 1
    order = [a for a in range(last + 1) if a != axis] + [axis]
    length = _length(name, out.shape[axis])
    real = part_of(out.dtype)
    wide = "complex64" if real == "float32" else "complex128"
    x = cast(b, b.transpose(x, order), real if name[:4] == "rfft" else wide)
    x = _fitted(b, x, length // 2 + 1 if name == "irfft" else length)
    shape = tuple(out.shape[a] for a in order)
    text = f"fft_type = #stablehlo<fft_type {_TYPES[name]}>, fft_length = array<i64: {length}>"
    value = b.operation("fft", (x,), Type(shape, out.dtype), text)
    scale = b.convert(factor, real) * float(length if name[0] == "i" else 1)
    scale = b.broadcast(cast(b, scale, out.dtype), shape, [])
    return [b.transpose(value * scale, [order.index(a) for a in range(last + 1)])]
