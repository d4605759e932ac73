"""Views of flat storages: an operand's elements as a tensor of its shape, and results written back into a storage.

The strides of a view made by basic indexing, sorted, say how the flat storage falls into rows, rows of rows and so on:
the view is a box in that tensor. Axes of stride 0 are broadcast, those of negative stride reversed. Other views, whose
elements overlap, are gathered by computed positions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .builder import Builder
from .spec import ITEM_SIZE, Operand, Output
from .types import Type, bits_of, is_complex, part_of
from .values import Value

__all__ = ["Unwritable", "flat_type", "read", "write"]


class Unwritable(Exception):
    """A layout whose elements overlap, or that does not cover the storage where it must."""


def flat_type(operand: Operand) -> Type:
    """The type of the argument for an operand: its storage, or a scalar."""
    return Type((), operand.dtype) if operand.scalar else Type((operand.storage_size,), operand.storage_dtype)


def read(b: Builder, flat: Value, operand: Operand, start: Value | None = None) -> Value:
    """The elements of an operand, given its argument, and that for its place where it has no offset."""
    if start is not None:
        return b.reshape(b.dynamic_slice(flat, [start], [math.prod(operand.shape)]), operand.shape)
    if operand.scalar:
        return b.broadcast(flat, operand.shape, [])
    if 0 in operand.shape:
        return b.constant(0, Type(operand.shape, operand.dtype))
    if _is_whole(operand):
        return b.reshape(flat, operand.shape)
    layout = _Layout.of(operand)
    elements = _seen_as(b, flat, layout.dtype)
    value = _read_box(b, elements, layout) if layout.nested() else _gathered(b, elements, layout)
    value = b.reverse(value, [i for i, axis in enumerate(layout.axes) if axis.turned])
    # From the order in memory to the operand's; axes of one element, and repeated ones, come back.
    order = sorted(range(len(layout.axes)), key=lambda i: layout.axes[i].place)
    value = b.transpose(value, order)
    places = [layout.axes[i].place for i in order]
    value = b.broadcast(value, layout.shape, places)
    return b.bitcast(value, operand.dtype, operand.shape) if layout.dtype != operand.dtype else value


def write(b: Builder, old: Value | None, output: Output, value: Value, start: Value | None = None) -> Value:
    """The new flat storage, in which a view has a value. old: the storage before, if it is a part that is written.

    start: as of `read`.
    """
    type = flat_type(output)
    if start is not None:
        old = b.constant(0, type) if old is None else old
        return b.dynamic_update(old, b.reshape(value, [value.type.size]), [start])
    if 0 in output.shape:
        return old if old is not None else b.constant(0, type)
    if _is_whole(output):
        return b.reshape(value, type.shape)
    layout = _Layout.of(output)
    if layout.dtype != output.dtype:
        value = b.bitcast(value, layout.dtype, layout.shape)
    if any(axis.step == 0 for axis in layout.repeated) or not layout.nested():
        raise Unwritable(f"{output}")
    value = b.transpose(value, [axis.place for axis in layout.axes] + layout.ones())
    value = b.reshape(value, [axis.count for axis in layout.axes])
    value = b.reverse(value, [i for i, axis in enumerate(layout.axes) if axis.turned])
    if old is None and value.type.size * ITEM_SIZE[layout.dtype] == type.size * ITEM_SIZE[type.dtype]:
        return _seen_as(b, b.reshape(value, [value.type.size]), type.dtype)
    old = b.constant(0, type) if old is None else old
    seen = layout.dtype
    if seen == "bool" and type.dtype != "bool":  # bytes beside those that are written stay as they are
        seen, value = "uint8", b.convert(value, "uint8")
    elements = _seen_as(b, old, seen)
    return _seen_as(b, _write_box(b, elements, layout, value), type.dtype, type.size, old)


def _is_whole(operand: Operand) -> bool:
    """Whether an operand is its storage, row after row."""
    size, item = 1, ITEM_SIZE[operand.dtype]
    for extent, stride in zip(reversed(operand.shape), reversed(operand.strides)):
        if extent != 1 and stride != size * item:
            return False
        size *= extent
    return size == operand.storage_size and operand.dtype == operand.storage_dtype and not operand.offset


@dataclass(frozen=True)
class _Axis:
    """An axis in memory: number of elements, step between them (above 0, in elements), its place in the array."""

    count: int
    step: int
    place: int
    turned: bool = False


@dataclass(frozen=True)
class _Layout:
    """How an operand lies, in elements of a dtype: axes with more than one element from the largest step to the least.

    The dtype is the operand's; or uint8, with an axis more for the bytes, where elements do not lie at multiples.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    axes: tuple[_Axis, ...]
    repeated: tuple[_Axis, ...]  # those of step 0

    @staticmethod
    def of(operand: Operand) -> _Layout:
        item, shape, strides, dtype = ITEM_SIZE[operand.dtype], operand.shape, operand.strides, operand.dtype
        moving = [s for s, n in zip(strides, shape) if n > 1]
        whole = operand.storage_size * ITEM_SIZE[operand.storage_dtype] % item == 0
        assert operand.offset is not None
        if operand.offset % item or any(s % item for s in moving) or not (whole or dtype == operand.storage_dtype):
            if is_complex(dtype):
                raise Unwritable(f"complex numbers at odd places: {operand}")
            shape, strides, dtype, item = (*shape, item), (*strides, 1), "uint8", 1
        start = operand.offset // item
        axes, repeated = [], []
        for place, (count, stride) in enumerate(zip(shape, strides)):
            step = stride // item
            if count == 1:
                continue
            if step == 0:
                repeated.append(_Axis(count, 0, place))
                continue
            if step < 0:
                start += step * (count - 1)
            axes.append(_Axis(count, abs(step), place, step < 0))
        axes.sort(key=lambda axis: (-axis.step, axis.place))
        return _Layout(dtype, shape, start, tuple(axes), tuple(repeated))

    def ones(self) -> list[int]:
        """The places of axes of one element, and of repeated ones."""
        places = {axis.place for axis in self.axes}
        return [i for i in range(len(self.shape)) if i not in places]

    def nested(self) -> bool:
        """Whether each axis lies within one step of the axis before it, all the way from `start` on."""
        reach = 1
        for axis in reversed(self.axes):
            if reach > axis.step:
                return False
            reach += (axis.count - 1) * axis.step
        return True

    def aligned(self) -> bool:
        """Whether no row of the view goes over the end of a row of the storage."""
        at = self.start
        reach = [1]
        for axis in reversed(self.axes):
            reach.append(reach[-1] + (axis.count - 1) * axis.step)
        for axis, inner in zip(self.axes, reversed(reach[:-1])):
            at %= axis.step
            if at + inner > axis.step:
                return False
        return True


def _read_box(b: Builder, flat: Value, layout: _Layout) -> Value:
    """The box in rows of rows, as a tensor of the layout's axes."""
    value, at = flat, layout.start
    if not layout.aligned():
        value, at = b.slice(value, [at], [value.shape[0]]), 0
    for depth, axis in enumerate(layout.axes):
        value = _in_rows(b, value, axis.step)
        first, at = divmod(at, axis.step)
        value = b.along(value, depth, first, first + axis.count)
    value = b.along(value, len(layout.axes), at, at + 1)
    return b.reshape(value, [axis.count for axis in layout.axes])


def _in_rows(b: Builder, value: Value, step: int) -> Value:
    """The last axis cut into rows of `step` elements; the last row is filled up."""
    *outer, length = value.shape
    rows = -(-length // step)
    value = b.pad(value, 0, [0] * len(value.shape), [0] * len(outer) + [rows * step - length])
    return b.reshape(value, (*outer, rows, step))


def _write_box(b: Builder, flat: Value, layout: _Layout, value: Value) -> Value:
    """flat with the box replaced."""
    if not layout.aligned():
        head, tail = b.slice(flat, [0], [layout.start]), b.slice(flat, [layout.start], [flat.shape[0]])
        moved = _Layout(layout.dtype, layout.shape, 0, layout.axes, layout.repeated)
        return b.concatenate([head, _write_box(b, tail, moved, value)], 0) if layout.start else flat
    return _write_rows(b, flat, list(layout.axes), layout.start, value)


def _write_rows(b: Builder, cur: Value, axes: list[_Axis], at: int, value: Value) -> Value:
    """cur, of which the last axis is not yet cut into rows, with the box of the axes that are left replaced."""
    *outer, length = cur.shape
    depth = len(outer)
    if _divide(length, axes):  # one box of one tensor
        extents, starts, left = [], [], length
        for axis in axes:
            extents.append(left // axis.step)
            starts.append(at // axis.step)
            at, left = at % axis.step, axis.step
        box = b.reshape(cur, (*outer, *extents, left))
        part = b.reshape(value, (*value.shape, 1))
        return b.reshape(b.update(box, part, [*[0] * depth, *starts, at]), cur.shape)
    axis = axes[0]
    rows = _in_rows(b, cur, axis.step)
    first, inner = divmod(at, axis.step)
    some = b.along(rows, depth, first, first + axis.count)
    some = _write_rows(b, some, axes[1:], inner, value)
    rows = b.update(rows, some, [0] * depth + [first, 0])
    flat = b.reshape(rows, (*outer, rows.shape[-2] * rows.shape[-1]))
    return b.along(flat, depth, 0, length)


def _divide(length: int, axes: list[_Axis]) -> bool:
    for axis in axes:
        if length % axis.step:
            return False
        length = axis.step
    return True


def _gathered(b: Builder, flat: Value, layout: _Layout) -> Value:
    """Elements by their positions."""
    shape = [axis.count for axis in layout.axes]
    place = b.constant(layout.start, Type(tuple(shape), "int64"))
    for i, axis in enumerate(layout.axes):
        place = place + b.iota(shape, i) * axis.step
    return b.gather(flat, b.reshape(place, (*shape, 1)), indexed=[0])


# --- dtypes of one storage


def _seen_as(b: Builder, flat: Value, dtype: str, size: int | None = None, old: Value | None = None) -> Value:
    """The bytes of a vector as elements of another dtype; those at the end that make no element are left out.

    size, old: the shape that it must have at the end, of a vector that has all bytes.
    """
    if flat.dtype != dtype:
        flat = _parts(b, flat)
        flat = b.convert(flat, "uint8") if flat.dtype == "bool" else flat
        plain = "uint8" if dtype == "bool" else part_of(dtype)
        flat = _other_size(b, flat, plain)
        if dtype == "bool":
            flat = flat.differs(0)
        elif plain != dtype:
            flat = _joined(b, flat)
    if size is not None and old is not None and flat.shape[0] < size:
        flat = b.concatenate([flat, b.slice(old, [flat.shape[0]], [size])], 0)
    return flat


def _other_size(b: Builder, flat: Value, dtype: str) -> Value:
    """A vector of plain numbers in another dtype of them."""
    have, want = bits_of(flat.dtype), bits_of(dtype)
    count = flat.shape[0] * have // want
    if have < want:
        some = b.slice(flat, [0], [count * (want // have)])
        return b.bitcast(b.reshape(some, (count, want // have)), dtype, (count,))
    if have > want:
        return b.reshape(b.bitcast(flat, dtype, (flat.shape[0], have // want)), (count,))
    return b.bitcast(flat, dtype)


def _parts(b: Builder, flat: Value) -> Value:
    """Complex numbers as their parts, in turn."""
    if not is_complex(flat.dtype):
        return flat
    n = flat.shape[0]
    parts = [b.reshape(b.part(name, flat), (n, 1)) for name in ("real", "imag")]
    return b.reshape(b.concatenate(parts, 1), (2 * n,))


def _joined(b: Builder, flat: Value) -> Value:
    """The other way round."""
    n = flat.shape[0] // 2
    pairs = b.reshape(b.slice(flat, [0], [2 * n]), (n, 2))
    real, imag = (b.reshape(b.along(pairs, 1, i, i + 1), (n,)) for i in range(2))
    return b.complex(real, imag)
