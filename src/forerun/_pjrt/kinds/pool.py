"""Pooling: the largest element of each window, or the sum; and their gradients."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..builder import Builder
from ..types import Type
from ..values import Value
from .call import Call
from .elementwise.arithmetic import maximum, wide_part
from .elementwise.casts import cast
from .reduce import lowest

__all__ = ["pool", "pool_back"]

_MOST_ELEMENTS = 64  # of a window whose elements are compared one by one for the gradient


def _inputs(call: Call) -> list[Value]:
    return [cast(call.b, x, wide_part(x.dtype)) for x in call.inputs]


def _steps(call: Call, counts: Sequence[int]) -> tuple[int, ...]:
    """The steps between windows; 1 where there is one window, whose step may be any number."""
    return (1, *(1 if n == 1 else step for n, step in zip(counts[1:], call.attribute("stride"))))


def pool(call: Call) -> Sequence[Value]:
    """A number for each window. NaN is larger than numbers."""
    b, (x,), (out,) = call.b, _inputs(call), call.spec.outputs
    size, step = (1, *call.attribute("kernel")), _steps(call, out.shape)
    if 0 in out.shape:
        return [b.constant(0, Type(out.shape, out.dtype))]
    x = b.slice(x, [0] * len(size), [(c - 1) * s + k for c, s, k in zip(out.shape, step, size)])
    if call.attribute("largest"):
        start, body = b.scalar(lowest(x.dtype), x.dtype), lambda s, e: maximum(b, s, e)
    else:
        start, body = b.scalar(0, x.dtype), lambda s, e: s + e
    return [cast(b, b.reduce_window(x, start, body, size=size, step=step), out.dtype)]


def pool_back(call: Call) -> Sequence[Value]:
    """Numbers of windows at their elements."""
    b, inputs, (out,) = call.b, _inputs(call), call.spec.outputs
    if 0 in out.shape or 0 in inputs[0].shape:
        return [b.constant(0, Type(out.shape, out.dtype))]
    size, step = (1, *call.attribute("kernel")), _steps(call, inputs[0].shape)
    back = _to_first if call.attribute("largest") else _to_all
    return [cast(b, back(b, inputs, out.shape, size, step), out.dtype)]


def _to_all(
    b: Builder, inputs: Sequence[Value], shape: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> Value:
    (g,) = inputs
    none = [0] * len(size)
    spread = b.pad(g, 0, none, none, [s - 1 for s in step])
    low = [k - 1 for k in size]
    high = [n - e for n, e in zip(shape, spread.shape)]
    return b.reduce_window(spread, b.scalar(0, g.dtype), lambda s, e: s + e, size=size, low=low, high=high)


def _to_first(
    b: Builder, inputs: Sequence[Value], shape: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> Value:
    g, x, y = inputs
    count = 1
    for k in size:
        count *= k
    if count > _MOST_ELEMENTS:
        return b.select_and_scatter(x, g, size=size, step=step, kept=y.shape)
    left, total = b.constant(1, Type(g.shape, "bool")), b.constant(0, Type(tuple(shape), g.dtype))
    for offset in itertools.product(*map(range, size)):
        ends = [o + (c - 1) * s + 1 for o, c, s in zip(offset, g.shape, step)]
        here = b.slice(x, offset, ends, step)
        hit = left & ~(here < y)
        left = left & ~hit
        high = [n - e for n, e in zip(shape, ends)]
        total = total + b.pad(b.select(hit, g, 0.0), 0, offset, high, [s - 1 for s in step])
        if not any(offset):
            high_of_first = high
    # Where all elements are below, it is the first one.
    return total + b.pad(b.select(left, g, 0.0), 0, [0] * len(size), high_of_first, [s - 1 for s in step])
