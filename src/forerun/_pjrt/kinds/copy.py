"""Operations that move elements: copy, fill, zeros, concatenate."""

from __future__ import annotations

from collections.abc import Sequence

from ..types import Type
from ..values import Value
from .call import Call
from .elementwise.casts import cast

__all__ = ["concatenate", "copy", "fill", "zeros"]


def copy(call: Call) -> Sequence[Value]:
    """The input's elements in the output's dtype."""
    (x,), (out,) = call.inputs, call.spec.outputs
    return [call.b.broadcast(cast(call.b, x, out.dtype), out.shape)]


def fill(call: Call) -> Sequence[Value]:
    """A number everywhere."""
    (x,), (out,) = call.inputs, call.spec.outputs
    return [call.b.broadcast(cast(call.b, x, out.dtype), out.shape, [])]


def zeros(call: Call) -> Sequence[Value]:
    """Zero everywhere."""
    (out,) = call.spec.outputs
    return [call.b.constant(0, Type(out.shape, out.dtype))]


def concatenate(call: Call) -> Sequence[Value]:
    """Arrays side by side."""
    dtype = call.spec.outputs[0].dtype
    return [call.b.concatenate([cast(call.b, x, dtype) for x in call.inputs], call.attribute("axis"))]
