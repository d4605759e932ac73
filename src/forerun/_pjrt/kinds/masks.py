"""Elements under a mask: one after the other written, or picked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..builder import Builder
from ..types import Type
from ..values import Value
from .call import Call
from .elementwise.casts import cast
from .elementwise.loops import combined
from .reduce import scanned

__all__ = ["compress", "place"]


def _before(b: Builder, mask: Value) -> Value:
    """How many elements before each one of a vector are under the mask."""
    ones = b.convert(mask, "int64")
    return scanned(b, "add", ones, 0, 0) - ones


def _total(b: Builder, mask: Value) -> Value:
    return b.reduce([b.convert(mask, "int64")], [b.scalar(0, "int64")], [0], lambda s, e: [s + e])[0]


def place(call: Call) -> Sequence[Value] | None:
    """Values one after the other under a mask of some axes."""
    b, (mask, values), old, how = call.b, call.inputs, call.old(0), call.spec.name
    axis, name = call.attribute("axis"), call.attribute("combine")
    count, covered = values.shape[axis], math.prod(mask.shape)
    mask = b.reshape(mask, (covered,))
    if how == "each":
        call.bad = _total(b, mask).differs(count)
    elif how == "in_turn" and not count:
        call.bad = b.any(mask)
    if 0 in old.shape or not count:
        return [old]
    rows = (math.prod(old.shape[:axis]), covered, old.type.size // covered // math.prod(old.shape[:axis]))
    elements = b.reshape(old, rows)
    values = b.reshape(values, (rows[0], count, rows[2]))
    number = b.iota((covered,), 0) if how == "in_place" else _before(b, mask)
    if how != "each":
        number = b.binary("remainder", number, b.constant(count, number.type))
    picked = b.gather(values, b.reshape(number, (covered, 1)), indexed=[1])
    picked = cast(b, picked, call.attribute("computed", old.dtype))
    if name is not None:
        wide = call.attribute("computed", old.dtype)
        both = combined(b, name, [cast(b, elements, wide), picked])
        if both is None:
            return None
        picked = cast(b, both[0], old.dtype)
    return [b.reshape(b.select(b.broadcast(mask, rows, [1]), picked, elements), old.shape)]


def compress(call: Call) -> Sequence[Value]:
    """The elements of a vector that are under a mask; it is known how many they are."""
    b, (x, mask), (out,) = call.b, call.inputs, call.spec.outputs
    (count,), type = out.shape, Type(out.shape, out.dtype)
    if not count:
        return [b.constant(0, type)]
    nowhere = b.constant(count, Type(mask.shape, "int64"))
    places = b.reshape(b.select(mask, _before(b, mask), nowhere), (*mask.shape, 1))
    values = cast(b, x, out.dtype)
    return [b.scatter(b.constant(0, type), places, values, lambda _, v: v, indexed=[0], unique=True)]
