"""Nodes of ONNX that change shapes, or take, join and make parts."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .registry import Attributes, Namespace, Values, node, number, numbers, refuse


@node("Shape")
def _shape(xp: Namespace, a: Attributes, x: Values) -> Values:
    return numpy.array(x.shape, dtype="int64")[a.get("start", 0) : a.get("end")]


@node("Size")
def _size(xp: Namespace, a: Attributes, x: Values) -> Values:
    return numpy.array(x.size, dtype="int64")


@node("Reshape")
def _reshape(xp: Namespace, a: Attributes, x: Values, shape: Values) -> Values:
    extents = numbers(shape)
    kept = () if a.get("allowzero") else x.shape
    return x.reshape(tuple(kept[i] if n == 0 and i < len(kept) else n for i, n in enumerate(extents)))


@node("Flatten")
def _flatten(xp: Namespace, a: Attributes, x: Values) -> Values:
    axis = a.get("axis", 1) % (x.ndim + 1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


@node("Transpose")
def _transpose(xp: Namespace, a: Attributes, x: Values) -> Values:
    return xp.transpose(x, a.get("perm"))


@node("Squeeze")
def _squeeze(xp: Namespace, a: Attributes, x: Values, axes: Values | None = None) -> Values:
    along = a.get("axes") if axes is None else numbers(axes)
    return xp.squeeze(x, None if along is None else tuple(along))


@node("Unsqueeze")
def _unsqueeze(xp: Namespace, a: Attributes, x: Values, axes: Values | None = None) -> Values:
    return xp.expand_dims(x, tuple(a["axes"]) if axes is None else numbers(axes))


@node("Expand")
def _expand(xp: Namespace, a: Attributes, x: Values, shape: Values) -> Values:
    return xp.broadcast_to(x, numpy.broadcast_shapes(x.shape, numbers(shape)))


@node("Tile")
def _tile(xp: Namespace, a: Attributes, x: Values, repeats: Values) -> Values:
    return xp.tile(x, numbers(repeats))


@node("Concat")
def _concat(xp: Namespace, a: Attributes, *inputs: Values) -> Values:
    return xp.concatenate(inputs, axis=a["axis"])


@node("Split")
def _split(xp: Namespace, a: Attributes, x: Values, sizes: Values | None = None) -> Values:
    axis = a.get("axis", 0)
    parts = a.get("split") if sizes is None else numbers(sizes)
    if parts is None:
        if "num_outputs" not in a:
            raise refuse("Split", "sizes", None)
        each = -(-x.shape[axis] // a["num_outputs"])
        return xp.split(x, list(range(each, x.shape[axis], each)), axis)
    return xp.split(x, numpy.cumsum(parts)[:-1].tolist(), axis)


@node("Slice")
def _slice(
    xp: Namespace,
    a: Attributes,
    x: Values,
    starts: Values,
    ends: Values,
    axes: Values | None = None,
    steps: Values | None = None,
) -> Values:
    first, last = numbers(starts), numbers(ends)
    along = range(len(first)) if axes is None else numbers(axes)
    by = (1,) * len(first) if steps is None else numbers(steps)
    index = [slice(None)] * x.ndim
    for b, e, axis, step in zip(first, last, along, by):
        n = x.shape[axis]
        stop = None if (step < 0 and e < -n) or (step > 0 and e > n) else e
        index[axis] = slice(None if b > n and step < 0 else b, stop, step)
    return x[tuple(index)]


@node("Gather")
def _gather(xp: Namespace, a: Attributes, x: Values, places: Values) -> Values:
    return xp.take(x, places, axis=a.get("axis", 0))


@node("GatherElements")
def _gather_elements(xp: Namespace, a: Attributes, x: Values, places: Values) -> Values:
    return xp.take_along_axis(x, places, axis=a.get("axis", 0))


@node("Pad")
def _pad(
    xp: Any, a: Attributes, x: Values, pads: Values, value: Values | None = None, axes: Values | None = None
) -> Any:
    widths = numbers(pads)
    along = range(x.ndim) if axes is None else [i % x.ndim for i in numbers(axes)]
    pairs = [(0, 0)] * x.ndim
    for i, axis in enumerate(along):
        pairs[axis] = widths[i], widths[len(widths) // 2 + i]
    mode = a.get("mode", "constant")
    if min(widths, default=0) < 0 or mode not in ("constant", "reflect", "edge", "wrap"):
        raise refuse("Pad", "pads", (mode, widths))
    if mode != "constant":
        return xp.pad(x, pairs, mode=mode)
    return xp.pad(x, pairs, constant_values=0 if value is None else number(value))


@node("ConstantOfShape")
def _constant_of_shape(xp: Namespace, a: Attributes, shape: Values) -> Values:
    value = a.get("value", numpy.zeros(1, "float32"))
    return numpy.full(numbers(shape), value.item(), value.dtype)


@node("Range")
def _range(xp: Namespace, a: Attributes, start: Values, limit: Values, step: Values) -> Values:
    return numpy.arange(number(start), number(limit), number(step), dtype=start.dtype)
