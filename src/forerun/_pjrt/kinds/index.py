"""Elements at indices: read, written, and combined with values.

Indices are checked only if the spec asks for it: the module has then a result more, which is true if one of them is out
of range. An element to which several values are written gets the last of them, in any order in which a device writes.
Sums of floating numbers at one place are made in the device's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..builder import Builder
from ..types import Type, is_unsigned
from ..values import Value
from .call import Call
from .elementwise.casts import cast
from .elementwise.loops import combined

__all__ = ["gather", "gather_along", "put", "scatter", "scatter_along"]

# Names of functions of an element and a value; the result is of their dtype, and does not depend on the order of the
# values, in which a device may combine them, but for rounding.
_COMBINES = {
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or",
    "bitwise_xor", "power", "hypot", "logaddexp", "logaddexp2", "left_shift", "right_shift",
}  # fmt: skip


def _checked(call: Call, index: Value, extent: int, from_end: bool = True) -> Value:
    """An index from 0 on, as int64; `bad` learns of those out of range. uint64 is taken for int64, as on the CPU."""
    b = call.b
    index = b.convert(index, "int64") if index.dtype == "uint64" else index
    outside = index >= extent if extent <= _most(index.dtype) else b.constant(0, Type(index.shape, "bool"))
    if not is_unsigned(index.dtype):
        least = -extent if from_end else 0
        outside = outside | (index < least) if -least <= _most(index.dtype) else outside
    bad = b.any(outside)
    call.bad = bad if call.bad is None else call.bad | bad
    index = b.convert(index, "int64")
    return b.select(index < 0, index + extent, index) if from_end else index


def _most(dtype: str) -> int:
    unsigned = is_unsigned(dtype)
    return int((1 << (int(dtype.removeprefix("uint").removeprefix("int")) - (not unsigned))) - 1)


def _stacked(b: Builder, indices: Sequence[Value], shape: Sequence[int]) -> Value:
    """Indices of some axes as one tensor, whose last axis is for the axes."""
    parts = [b.reshape(b.broadcast(i, shape), (*shape, 1)) for i in indices]
    return b.concatenate(parts, len(shape))


def gather(call: Call) -> Sequence[Value]:
    """Elements at indices of some axes that follow one another."""
    b, (x, *indices), (out,) = call.b, call.inputs, call.spec.outputs
    axis, count = call.attribute("axis"), call.attribute("n_indices", len(indices))
    indices = [_checked(call, i, x.shape[axis + k]) for k, i in enumerate(indices)]
    shape = out.shape[axis : len(out.shape) - (len(x.shape) - axis - count)]
    if 0 in (*x.shape, *out.shape):
        return [b.constant(0, Type(out.shape, out.dtype))]
    value = b.gather(x, _stacked(b, indices, shape), indexed=list(range(axis, axis + count)))
    return [cast(b, value, out.dtype)]


def _places(call: Call, index: Value, shape: Sequence[int], axis: int) -> Value:
    """Indices of all axes of an array of this shape: the given ones along one, their own positions along others."""
    b = call.b
    own = _checked(call, index, shape[axis], call.attribute("from_end", True))
    zero = b.constant(0, Type(index.shape, "int64"))
    indices = [
        own if a == axis else zero if n == 1 else b.iota(index.shape, a) for a, n in enumerate(shape)
    ]  # fmt: skip
    return _stacked(b, indices, index.shape)


def gather_along(call: Call) -> Sequence[Value]:
    """Elements at indices along one axis, for each position of the others."""
    b, (x, index), (out,) = call.b, call.inputs, call.spec.outputs
    places = _places(call, index, x.shape, call.attribute("axis"))
    if 0 in (*x.shape, *out.shape):
        return [b.constant(0, Type(out.shape, out.dtype))]
    return [cast(b, b.gather(x, places, indexed=list(range(len(x.shape)))), out.dtype)]


def scatter(call: Call) -> Sequence[Value] | None:
    """Values at indices of some axes."""
    b, (*indices, values), old = call.b, call.inputs, call.old(0)
    axis = call.attribute("axis")
    indices = [_checked(call, i, old.shape[axis + k]) for k, i in enumerate(indices)]
    shape = values.shape[axis : len(values.shape) - (len(old.shape) - axis - len(indices))]
    indexed = list(range(axis, axis + len(indices)))
    if 0 in (*old.shape, *values.shape):
        return [old]
    return _written(call, old, _stacked(b, indices, shape), values, indexed)


def scatter_along(call: Call) -> Sequence[Value] | None:
    """Values at indices along one axis, for each position of the others."""
    (index, values), old, axis = call.inputs, call.old(0), call.attribute("axis")
    if 0 not in old.shape and index.shape == tuple(1 if a == axis else n for a, n in enumerate(old.shape)):
        return _written_once(call, old, index, values, axis)
    places = _places(call, index, old.shape, axis)
    if 0 in (*old.shape, *values.shape):
        return [old]
    return _written(call, old, places, values, list(range(len(old.shape))))


def put(call: Call) -> Sequence[Value] | None:
    """Values, again and again, at flat positions."""
    b, (index, values), old = call.b, call.inputs, call.old(0)
    flat = b.reshape(old, (old.type.size,))
    places = _checked(call, index, old.type.size)
    if 0 in (*flat.shape, *index.shape):
        return [old]
    times = -(-index.shape[0] // values.shape[0])
    many = b.reshape(b.broadcast(values, (times, values.shape[0])), (times * values.shape[0],))
    many = b.slice(many, [0], [index.shape[0]])
    written = _written(call, flat, _stacked(b, [places], index.shape), many, [0])
    return written and [b.reshape(written[0], old.shape)]


def _written(
    call: Call, old: Value, places: Value, values: Value, indexed: Sequence[int]
) -> Sequence[Value] | None:  # fmt: skip
    b, name = call.b, call.attribute("combine")
    if name is not None:
        wide = call.attribute("computed", old.dtype)
        body = _combining(b, name, old.dtype, wide)
        if body is None:
            return None
        found = b.scatter(cast(b, old, wide), places, cast(b, values, wide), body, indexed=indexed)
        return [cast(b, found, old.dtype)]
    values = cast(b, values, old.dtype)
    places = _last_ones(b, places, [old.shape[a] for a in indexed])
    return [b.scatter(old, places, values, lambda _, value: value, indexed=indexed, unique=True)]


def _written_once(call: Call, old: Value, index: Value, values: Value, axis: int) -> Sequence[Value] | None:
    """Values at one index of each slice along an axis.

    All elements compare their positions with that index: compilers join this with the loops around it, and no order of
    writes matters.
    """
    b, name = call.b, call.attribute("combine")
    own = _checked(call, index, old.shape[axis], call.attribute("from_end", True))
    here = b.broadcast(own, old.shape).equals(b.iota(old.shape, axis))
    if name is None:
        return [b.select(here, b.broadcast(cast(b, values, old.dtype), old.shape), old)]
    wide = call.attribute("computed", old.dtype)
    body = _combining(b, name, old.dtype, wide)
    if body is None:
        return None
    found = body(cast(b, old, wide), b.broadcast(cast(b, values, wide), old.shape))
    return [b.select(here, cast(b, found, old.dtype), old)]


def _combining(b: Builder, name: str, dtype: str, wide: str) -> Callable[[Value, Value], Value] | None:
    """Return the function of an element of that dtype and a value, which are combined in the wider dtype, if any."""
    if name not in _COMBINES or (name == "divide" and wide[:3] in ("int", "uin")):
        return None

    def combine(element: Value, value: Value) -> Value:
        results = combined(b, name, [element, value])
        assert results is not None
        return cast(b, cast(b, results[0], dtype), element.dtype)

    return combine


def _last_ones(b: Builder, places: Value, extents: Sequence[int]) -> Value:
    """The places, of which all but the last of equal ones are out of range, where nothing is written."""
    *shape, axes = places.shape
    number = b.iota((places.type.size // axes,), 0)
    rows = b.reshape(places, (number.shape[0], axes))
    all_axes = list(range(len(extents)))
    none = b.constant(-1, Type(tuple(extents), "int64"))
    winners = b.scatter(none, rows, number, lambda x, y: b.binary("maximum", x, y), indexed=all_axes)
    wins = b.gather(winners, rows, indexed=all_axes).equals(number)
    nowhere = b.broadcast(b.table(list(extents), "int64"), rows.shape, [1])
    return b.reshape(b.select(b.broadcast(wins, rows.shape, [0]), rows, nowhere), (*shape, axes))
