"""An operation on a device, without its values: the reference for the makers and readers of a `Spec`.

A storage on a device is a flat tensor: `storage_size` elements of `storage_dtype`, one axis, row after row. Operands
are views of storages. dtypes have NumPy's names, "bool" to "complex128", and "bfloat16".

The module of a spec takes an argument for each input in order, a flat storage, or a tensor without axes for a scalar;
then one for each output of mode "update", the old flat storage, which may be donated. Its results are a flat storage
for each output in order, and for a spec with the attribute `check` a last one without axes, of dtype bool: `bad`.

Kinds and their attributes
--------------------------
elementwise
    name: a ufunc's name in NumPy, or "where" (also "select"; condition, x, y) or "clip" (x, least, greatest).
    types: the dtypes of the loop, inputs then outputs. Inputs are converted to them, outputs from them.
    check: for "power" of signed integers; `bad` is true if an exponent is negative.
    name "within": the input itself; `bad` is true if an element is not from low to high. open_low, open_high: that end
    is not allowed; takes_nan: NaN is.
masked
    As elementwise, with one more input behind the others, the mask, of dtype bool: elements are written where it is
    true. Outputs are of mode "update". name "copy": the value of the one input.
copy
    One input, one output, which may differ in dtype and layout; the input has the output's shape (strides may be 0).
fill
    One scalar input, of the output's dtype or one that is converted to it. zeros: no input.
reduce
    name: "add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "logaddexp", "logaddexp2", "hypot"; others have no lowering.
    axes: those reduced, from 0 on. accumulate: the dtype of the loop, that of the input by default. The output has the
    kept axes, and may have axes of extent 1 for the others.
scan
    name: as of reduce. axis. accumulate. `out[i] = name.reduce(in[:i + 1])`. "cumulative" is the same kind.
count_nonzero
    axes: those over which elements are counted; None: all. The output is int64.
argreduce
    name: "argmax" or "argmin". axis, or None for the flat position. The first of several, and the first NaN before all.
sort, argsort
    axis. argsort is stable. NaNs come last. Output of argsort: int64.
matmul
    Inputs (..., m, k) and (..., k, n), output (..., m, n), with the same axes in front (strides may be 0). The dtype of
    the loop is the output's.
concatenate
    axis. Inputs are converted to the output's dtype.
gather
    inputs: from, then n_indices arrays of indices of one shape. axis: the first of the axes that are indexed; the
    result is from.shape[:axis] + index shape + from.shape[axis + n_indices:].
    Negative indices count from the end. check: `bad` is true if one is out of range; the result is not to be used then.
scatter
    inputs: n_indices arrays of indices, then the values (of the shape that gather would give); output: mode "update".
    axis, check: as of gather. combine: None, or the name of a ufunc, which combines an element with its values, one
    after the other. With None, the last value of an element stays, as on the CPU. computed: the dtype in which they are
    combined, the element's by default.
gather_along
    inputs: from, index of as many axes. axis. from_end: whether negative indices count from the end, True by default.
    check.
scatter_along
    inputs: index, values; output: mode "update". axis, combine, check.
put
    inputs: index (a vector), values (a vector, repeated); output of mode "update": the elements at flat positions.
    check.
place
    inputs: the mask, the values; output: mode "update". The mask covers the axes from `axis` on, in C order; along
    these, values have one axis. name: "each" (as many values as elements under the mask), "in_turn" (again from the
    first), "in_place" (element i gets value i, again from the first). combine, computed: as of scatter, with "each".
    check: `bad` is true if, with "each", there are not as many; or, with "in_turn", none where one is needed.
compress
    inputs: a vector and a mask of it; output: a vector of the elements under the mask, of which there are as many.
conv, conv_back, conv_weight
    groups, and for each axis of extents, one to three: kernel, stride, dilate, pad (tuples).
    conv: x (examples, groups * in, *extents), w (groups * out, in, *kernel) -> y (examples, groups * out, *counts).
    conv_back: y, w -> x, the gradient of the data. conv_weight: y, x -> w, the gradient of the weight; an output with
    an axis more in front has parts whose sum is the gradient: the first of them is all of it, the others are zeros.
pool
    largest: the largest element of each window, else the sum. kernel, stride (tuples). x (planes, *extents) ->
    y (planes, *counts).
pool_back
    largest. True: inputs g, x, y -> to: each g at the first element of its window that is not below y. False: input g:
    each g at all elements of its window. kernel, stride.
rnn, rnn_back
    rule ("tanh", "relu", "lstm", "gru"), reversed. has: the names of the inputs that there are, in their order, of
    "x h c u b"; gives: those of the outputs, of "y cells kept". u is not packed: (gates * units, units).
    rnn_back: has of "gy gc h c u y cells kept", gives of "gx gh gc0 gu".
random
    name: "uniform", "normal", "exponential", "integers". Inputs, scalars: seed, number (uint64), then lo, hi (float64),
    or low (int64) and range (uint64). wide: for integers, whether the range is 2^20 or more.
fft
    name: of a loop of NumPy's, "fft", "ifft", "irfft", "rfft_n_even", "rfft_n_odd". axis. Inputs: the array, and a
    scalar, the factor. Lines are cut off, or continued with zeros, to the length that the output's says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Operand", "Output", "Spec"]


@dataclass(frozen=True)
class Operand:
    """A view of a flat storage; or a scalar, which is a tensor without axes of its own dtype.

    strides and offset are in bytes; strides may be 0 or negative. offset: None for elements that follow one another
    from a place that an argument says: a scalar of int64, in elements, behind the other inputs of the operation. These
    scalars are in the order of the inputs, and then the outputs.

    >>> Operand.dense("float32", (2, 3)).strides
    (12, 4)
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int | None
    storage_dtype: str
    storage_size: int
    scalar: bool = False

    @classmethod
    def dense(cls, dtype: str, shape: tuple[int, ...], **more: Any) -> Any:
        """A whole storage, row after row."""
        strides, size = [], 1
        for extent in reversed(shape):
            strides.append(size * ITEM_SIZE[dtype])
            size *= extent
        return cls(dtype, shape, tuple(reversed(strides)), 0, dtype, size, **more)

    @classmethod
    def number(cls, dtype: str) -> Any:
        """A scalar."""
        return cls(dtype, (), (), 0, dtype, 1, scalar=True)


@dataclass(frozen=True)
class Output(Operand):
    """An array that is written. mode "write": all of its storage, "update": a part of it.

    >>> Output.dense("int8", (4,)).mode
    'write'
    """

    mode: str = "write"


@dataclass(frozen=True)
class Spec:
    """One operation. Kinds and their attributes are in this module's docstring.

    >>> x = Operand.dense("float32", (3,))
    >>> Spec("elementwise", "exp", (x,), (Output.dense("float32", (3,)),), {"types": ("float32", "float32")}).name
    'exp'
    """

    kind: str
    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Output, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


# Bytes of an element of each dtype.
ITEM_SIZE = {
    "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
