"""Modules of StableHLO as text: values that are assigned once (`values`), each by one operation.

All operations are written in MLIR's generic form, whose grammar is the same for all of them and in all versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .types import Type, is_complex, is_float, is_unsigned, literal, part_of
from .values import Number, Value

__all__ = ["Builder"]


def _array(numbers: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


class Builder:
    """Writes the one function of a module, operation after operation.

    >>> b = Builder()
    >>> x = b.argument(Type((2,), "float32"))
    >>> print(b.module([x + 1]))
    module @forerun {
      func.func public @main(%a0: tensor<2xf32>) -> (tensor<2xf32>) {
        %0 = "stablehlo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
        %1 = "stablehlo.add"(%a0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        "func.return"(%1) : (tensor<2xf32>) -> ()
      }
    }
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._arguments: list[str] = []
        self._lines: list[str] = []
        self._constants: dict[tuple[str, str], Value] = {}  # of the region that is written
        self._count = 0
        self._indent = "    "

    # --- the module and its parts

    def argument(self, type: Type, result: int | None = None) -> Value:
        """The next argument of the module. result: the number of the one that takes its memory, if it may be taken."""
        value = Value(self, f"%a{len(self._arguments)}", type)
        donated = "" if result is None else f" {{tf.aliasing_output = {result} : i32}}"
        self._arguments.append(f"{value.name}: {type}{donated}")
        return value

    def module(self, results: Sequence[Value]) -> str:
        """The text, when all is written."""
        self._return("func.return", results)
        types = ", ".join(str(r.type) for r in results)
        head = f"  func.func public @main({', '.join(self._arguments)}) -> ({types}) {{"
        return "\n".join(["module @forerun {", head, *self._lines, "  }", "}", ""])

    def _return(self, name: str, results: Sequence[Value]) -> None:
        names, types = ", ".join(r.name for r in results), ", ".join(str(r.type) for r in results)
        self._lines.append(f'{self._indent}"{name}"({names}) : ({types}) -> ()')

    def operations(
        self, name: str, inputs: Sequence[Value], types: Sequence[Type], attributes: str = "", region: str = ""
    ) -> tuple[Value, ...]:
        """Writes an operation of any number of results. attributes: as MLIR's text; region: as of region()."""
        first = self._count
        self._count += 1
        names = [f"%{first}"] if len(types) == 1 else [f"%{first}#{i}" for i in range(len(types))]
        head = f"%{first}" if len(types) == 1 else f"%{first}:{len(types)}"
        given = ", ".join(x.name for x in inputs)
        signature = f"({', '.join(str(x.type) for x in inputs)}) -> "
        signature += str(types[0]) if len(types) == 1 else f"({', '.join(map(str, types))})"
        body = f" ({region})" if region else ""
        extra = f" {{{attributes}}}" if attributes else ""
        self._lines.append(f'{self._indent}{head} = "stablehlo.{name}"({given}){body}{extra} : {signature}')
        return tuple(Value(self, n, t) for n, t in zip(names, types))

    def operation(
        self, name: str, inputs: Sequence[Value], type: Type, attributes: str = "", region: str = ""
    ) -> Value:
        """Writes an operation of one result."""
        return self.operations(name, inputs, [type], attributes, region)[0]

    def region(self, types: Sequence[Type], body: Callable[..., Sequence[Value]]) -> str:
        """The text of a region: a function of its own, of values of these types. It sees nothing from outside."""
        lines, constants, indent = self._lines, self._constants, self._indent
        self._lines, self._constants, self._indent = [], {}, indent + "  "
        names = [f"%r{self._count}_{i}" for i in range(len(types))]
        self._count += 1
        self._return("stablehlo.return", body(*(Value(self, n, t) for n, t in zip(names, types))))
        inside = "\n".join(self._lines)
        self._lines, self._constants, self._indent = lines, constants, indent
        head = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
        return f"{{\n{indent}^bb0({head}):\n{inside}\n{indent}}}"

    # --- values from nothing

    def constant(self, value: complex, type: Type) -> Value:
        """A tensor whose elements are all one number."""
        text = literal(value, type.dtype)
        key = text, str(type)
        if key not in self._constants:
            inner = text if type.size else ""
            (self._constants[key],) = self.operations("constant", (), [type], f"value = dense<{inner}> : {type}")
        return self._constants[key]

    def scalar(self, value: complex, dtype: str) -> Value:
        """A constant without axes."""
        return self.constant(value, Type((), dtype))

    def table(self, values: Sequence[complex], dtype: str) -> Value:
        """A constant vector."""
        type = Type((len(values),), dtype)
        inner = f"[{', '.join(literal(v, dtype) for v in values)}]" if values else ""
        return self.operation("constant", (), type, f"value = dense<{inner}> : {type}")

    def like(self, value: Number, other: Value) -> Value:
        """A number as a constant of another value's type; values as they are."""
        return value if isinstance(value, Value) else self.constant(value, other.type)

    def iota(self, shape: Sequence[int], axis: int, dtype: str = "int64") -> Value:
        """The position along an axis."""
        return self.operation("iota", (), Type(tuple(shape), dtype), f"iota_dimension = {axis} : i64")

    # --- element by element

    def unary(self, name: str, x: Value) -> Value:
        """An operation of one operand that keeps its type."""
        return self.operation(name, (x,), x.type)

    def binary(self, name: str, x: Number, y: Number) -> Value:
        """An operation of two operands of one type, of which one may be a number."""
        if not isinstance(x, Value):
            assert isinstance(y, Value)
            x = self.constant(x, y.type)
        y = self.like(y, x)
        assert x.type == y.type, f"{name}: {x.type} and {y.type}"
        return self.operation(name, (x, y), x.type)

    def compare(self, direction: str, x: Value, y: Number) -> Value:
        """EQ, NE, LT, LE, GT or GE of elements."""
        y = self.like(y, x)
        assert x.type == y.type, f"compare: {x.type} and {y.type}"
        kind = "FLOAT" if is_float(x.dtype) or is_complex(x.dtype) else "SIGNED"
        kind = "UNSIGNED" if is_unsigned(x.dtype) or x.dtype == "bool" else kind
        direction = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        text = f"{direction}, compare_type = #stablehlo<comparison_type {kind}>"
        return self.operation("compare", (x, y), Type(x.shape, "bool"), text)

    def select(self, condition: Value, x: Number, y: Number) -> Value:
        """x where the condition holds, else y; one of them may be a number."""
        model = x if isinstance(x, Value) else y
        assert isinstance(model, Value)
        x, y = self.like(x, model), self.like(y, model)
        return self.operation("select", (condition, x, y), x.type)

    def convert(self, x: Value, dtype: str) -> Value:
        """Elements in another dtype, as XLA converts; `casts` has NumPy's rules."""
        return x if x.dtype == dtype else self.operation("convert", (x,), Type(x.shape, dtype))

    def complex(self, real: Value, imag: Value) -> Value:
        """Complex numbers of their parts."""
        return self.operation("complex", (real, imag), Type(real.shape, _complex_of(real.dtype)))

    def part(self, name: str, x: Value) -> Value:
        """Of complex numbers "real", "imag", or "abs"; of real ones, themselves for "real"."""
        if name == "real" and not is_complex(x.dtype):
            return x
        return self.operation(name, (x,), Type(x.shape, part_of(x.dtype)))

    def bitcast(self, x: Value, dtype: str, shape: Sequence[int] | None = None) -> Value:
        """The same bits in another dtype; of another size, the last axis is gone or new, as `shape` says."""
        shape = x.shape if shape is None else tuple(shape)
        return x if x.type == Type(shape, dtype) else self.operation("bitcast_convert", (x,), Type(shape, dtype))

    # --- shapes

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """The same elements in the same order."""
        shape = tuple(shape)
        return x if x.shape == shape else self.operation("reshape", (x,), Type(shape, x.dtype))

    def slice(self, x: Value, starts: Sequence[int], ends: Sequence[int], steps: Sequence[int] | None = None) -> Value:
        """A part of each axis."""
        steps = [1] * len(starts) if steps is None else steps
        shape = tuple(max(0, -((start - end) // step)) for start, end, step in zip(starts, ends, steps))
        if shape == x.shape:
            return x
        text = f"start_indices = {_array(starts)}, limit_indices = {_array(ends)}, strides = {_array(steps)}"
        return self.operation("slice", (x,), Type(shape, x.dtype), text)

    def along(self, x: Value, axis: int, start: int, end: int, step: int = 1) -> Value:
        """A part of one axis."""
        starts, ends, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        starts[axis], ends[axis], steps[axis] = start, end, step
        return self.slice(x, starts, ends, steps)

    def reverse(self, x: Value, axes: Sequence[int]) -> Value:
        """The elements of some axes from the last to the first."""
        return self.operation("reverse", (x,), x.type, f"dimensions = {_array(axes)}") if axes else x

    def transpose(self, x: Value, axes: Sequence[int]) -> Value:
        """Axis i of the result is axis axes[i] of x."""
        if list(axes) == list(range(len(axes))):
            return x
        shape = tuple(x.shape[a] for a in axes)
        return self.operation("transpose", (x,), Type(shape, x.dtype), f"permutation = {_array(axes)}")

    def broadcast(self, x: Value, shape: Sequence[int], axes: Sequence[int] | None = None) -> Value:
        """x repeated. axes: which axis of the result each axis of x becomes; by default the last ones."""
        shape = tuple(shape)
        if axes is None:
            axes = range(len(shape) - len(x.shape), len(shape))
        if x.shape == shape:
            return x
        text = f"broadcast_dimensions = {_array(list(axes))}"
        return self.operation("broadcast_in_dim", (x,), Type(shape, x.dtype), text)

    def pad(
        self, x: Value, value: Number, low: Sequence[int], high: Sequence[int], inside: Sequence[int] | None = None
    ) -> Value:
        """x with elements around it, or if these are negative, without some; and between its elements."""
        inside = [0] * len(low) if inside is None else inside
        if not (any(low) or any(high) or any(inside)):
            return x
        value = value if isinstance(value, Value) else self.scalar(value, x.dtype)
        shape = tuple(a + n + b + max(0, n - 1) * i for n, a, b, i in zip(x.shape, low, high, inside))
        edges = f"edge_padding_low = {_array(low)}, edge_padding_high = {_array(high)}"
        text = f"{edges}, interior_padding = {_array(inside)}"
        return self.operation("pad", (x, value), Type(shape, x.dtype), text)

    def concatenate(self, values: Sequence[Value], axis: int) -> Value:
        """Tensors side by side."""
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        type = Type(tuple(shape), values[0].dtype)
        return (
            values[0] if len(values) == 1 else self.operation("concatenate", values, type, f"dimension = {axis} : i64")
        )

    def update(self, x: Value, part: Value, starts: Sequence[int]) -> Value:
        """x with a part from `starts` on replaced."""
        return (
            part if part.shape == x.shape else self.dynamic_update(x, part, [self.scalar(s, "int64") for s in starts])
        )

    def dynamic_update(self, x: Value, part: Value, starts: Sequence[Value]) -> Value:
        """The same for places that are computed."""
        return self.operation("dynamic_update_slice", (x, part, *starts), x.type)

    def dynamic_slice(self, x: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        """A part of x from places on that are computed."""
        return self.operation(
            "dynamic_slice", (x, *starts), Type(tuple(sizes), x.dtype), f"slice_sizes = {_array(sizes)}"
        )

    # --- regions

    def reduce(
        self,
        values: Sequence[Value],
        starts: Sequence[Value],
        axes: Sequence[int],
        body: Callable[..., Sequence[Value]],
    ) -> tuple[Value, ...]:
        """Combines the elements of axes: body(*sums, *elements) -> sums, of values without axes."""
        shape = tuple(n for a, n in enumerate(values[0].shape) if a not in axes)
        inner = [Type((), v.dtype) for v in values]
        region = self.region([*inner, *inner], body)
        types = [Type(shape, v.dtype) for v in values]
        return self.operations("reduce", [*values, *starts], types, f"dimensions = {_array(axes)}", region)

    def any(self, x: Value) -> Value:
        """Whether an element is true, without axes."""
        axes = range(len(x.shape))
        return self.reduce([x], [self.scalar(0, "bool")], list(axes), lambda a, c: [a | c])[0] if x.shape else x

    def reduce_window(
        self, x: Value, start: Value, body: Callable[[Value, Value], Value], *, size: Sequence[int],
        step: Sequence[int] | None = None, dilate: Sequence[int] | None = None,
        low: Sequence[int] | None = None, high: Sequence[int] | None = None,
    ) -> Value:  # fmt: skip
        """Combines the elements of windows. low, high: elements around x, which are `start`."""
        ones, zeros = [1] * len(size), [0] * len(size)
        step, dilate, low, high = step or ones, dilate or ones, low or zeros, high or zeros
        shape = tuple(
            max(0, (n + a + b - (k - 1) * d - 1) // s + 1)
            for n, k, s, d, a, b in zip(x.shape, size, step, dilate, low, high)
        )
        inner = Type((), x.dtype)
        region = self.region([inner, inner], lambda a, c: [body(a, c)])
        text = (
            f"window_dimensions = {_array(size)}, window_strides = {_array(step)}, window_dilations = {_array(dilate)}"
        )
        text += f", padding = {_pairs(low, high)}"
        return self.operation("reduce_window", (x, start), Type(shape, x.dtype), text, region)

    def loop(
        self, state: Sequence[Value], goes_on: Callable[..., Value], body: Callable[..., Sequence[Value]]
    ) -> tuple[Value, ...]:
        """state = body(*state) while goes_on(*state), which has no axes."""
        types = [v.type for v in state]
        regions = f"{self.region(types, lambda *s: [goes_on(*s)])}, {self.region(types, body)}"
        return self.operations("while", state, types, "", regions)

    def sort(self, values: Sequence[Value], axis: int, before: Callable[..., Value]) -> tuple[Value, ...]:
        """Sorts along an axis, in one order for all values; equal ones stay in their order.

        before(a, other_a, b, other_b, ...), of elements without axes: whether the first ones come before the others.
        """
        pair = [Type((), v.dtype) for v in values for _ in range(2)]
        region = self.region(pair, lambda *e: [before(*e)])
        text = f"dimension = {axis} : i64, is_stable = true"
        return self.operations("sort", values, [v.type for v in values], text, region)

    # --- indices

    def gather(self, x: Value, indices: Value, *, indexed: Sequence[int]) -> Value:
        """x at indices (..., k) of k axes, which come in the place of the first of these axes, as in NumPy.

        Indices are clamped to the extents.
        """
        first, batch = indexed[0], len(indices.shape) - 1
        sizes = [1 if a in indexed else n for a, n in enumerate(x.shape)]
        kept = [n for a, n in enumerate(x.shape) if a not in indexed]
        shape = (*kept[:first], *indices.shape[:-1], *kept[first:])
        offset = [*range(first), *range(first + batch, len(shape))]
        text = (
            f"dimension_numbers = #stablehlo.gather<offset_dims = {offset}, collapsed_slice_dims = {list(indexed)}, "
            f"start_index_map = {list(indexed)}, index_vector_dim = {batch}>, "
            f"slice_sizes = {_array(sizes)}, indices_are_sorted = false"
        )
        return self.operation("gather", (x, indices), Type(shape, x.dtype), text)

    def scatter(
        self, x: Value, indices: Value, values: Value, body: Callable[[Value, Value], Value], *,
        indexed: Sequence[int], unique: bool = False,
    ) -> Value:  # fmt: skip
        """x with body(element, value) at indices, laid out as of gather. Indices out of range are left out."""
        first, batch = indexed[0], len(indices.shape) - 1
        rank = len(values.shape)
        window = [*range(first), *range(first + batch, rank)]
        inner = Type((), x.dtype)
        region = self.region([inner, inner], lambda a, c: [body(a, c)])
        text = (
            f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {window}, "
            f"inserted_window_dims = {list(indexed)}, scatter_dims_to_operand_dims = {list(indexed)}, "
            f"index_vector_dim = {batch}>, indices_are_sorted = false, unique_indices = {str(unique).lower()}"
        )
        return self.operation("scatter", (x, indices, values), x.type, text, region)

    # --- products

    def dot(
        self, x: Value, y: Value, dtype: str, *, contract: tuple[Sequence[int], Sequence[int]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
    ) -> Value:  # fmt: skip
        """Sums of products over axes; the result has the batch axes, x's others, y's others."""

        def others(v: Value, side: int) -> list[int]:
            return [n for a, n in enumerate(v.shape) if a not in contract[side] and a not in batch[side]]

        shape = (*(x.shape[a] for a in batch[0]), *others(x, 0), *others(y, 1))
        text = (
            f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {list(batch[0])}, "
            f"rhs_batching_dimensions = {list(batch[1])}, lhs_contracting_dimensions = {list(contract[0])}, "
            f"rhs_contracting_dimensions = {list(contract[1])}>, "
            "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"
        )
        return self.operation("dot_general", (x, y), Type(shape, dtype), text)

    def convolution(
        self, x: Value, w: Value, shape: Sequence[int], axes: str, *, stride: Sequence[int], dilate: Sequence[int],
        low: Sequence[int], high: Sequence[int], spread: Sequence[int] | None = None, groups: int = 1,
        batch_groups: int = 1,
    ) -> Value:  # fmt: skip
        """Sums of products over windows, to a result of this shape.

        axes: of operands and result, as StableHLO names them, with `*` for the axes of extents. spread: the distance
        of x's elements, by zeros in between. groups: of features; batch_groups: of x's batch.
        """
        n = len(stride)
        axes = axes.replace("*", ", ".join(map(str, range(n))))
        text = (
            f"window_strides = {_array(stride)}, padding = {_pairs(low, high)}, "
            f"lhs_dilation = {_array(spread or [1] * n)}, rhs_dilation = {_array(dilate)}, "
            f"window_reversal = array<i1: {', '.join(['false'] * n)}>, dimension_numbers = #stablehlo.conv<{axes}>, "
            f"feature_group_count = {groups} : i64, batch_group_count = {batch_groups} : i64, "
            "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"
        )
        return self.operation("convolution", (x, w), Type(tuple(shape), x.dtype), text)

    def select_and_scatter(
        self, x: Value, values: Value, *, size: Sequence[int], step: Sequence[int], kept: Sequence[int]
    ) -> Value:
        """Each value at the first of the largest elements of its window of x; sums where windows meet."""
        high = [(c - 1) * s + k - n for c, s, k, n in zip(kept, step, size, x.shape)]
        part = self.slice(x, [0] * len(high), [n + h for n, h in zip(x.shape, high)])
        inner = Type((), x.dtype)
        select = self.region([inner, inner], lambda a, c: [a >= c])
        scatter = self.region([inner, inner], lambda a, c: [a + c])
        text = f"window_dimensions = {_array(size)}, window_strides = {_array(step)}"
        zero = self.scalar(0, x.dtype)
        found = self.operation("select_and_scatter", (part, values, zero), part.type, text, f"{select}, {scatter}")
        return self.pad(found, 0, [0] * len(high), [-h for h in high])


def _pairs(low: Sequence[int], high: Sequence[int]) -> str:
    pairs = ", ".join(f"[{a}, {c}]" for a, c in zip(low, high))
    return f"dense<[{pairs}]> : tensor<{len(low)}x2xi64>"


def _complex_of(part: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}[part]
