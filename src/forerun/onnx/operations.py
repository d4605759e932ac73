"""The nodes of ONNX for each operation of forerun: a table from its name to a function that adds them.

A function gets a `Translator`, the operation's inputs (operands, or numbers), and its other arguments, and returns the
name of its result, or several names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from .drawing import Batch, Drawing, Operand

if TYPE_CHECKING:
    from ..typing import DTypeLike, Shape


__all__ = ["OPERATIONS", "Translator"]

Names = str | list[str]
OPERATIONS: dict[str, Callable[..., Names]] = {}
_LAST, _FIRST = 2**63 - 1, -(2**63)


class Translator:
    """The graph, and the results of an operation by their shapes and dtypes: for functions of the table."""

    def __init__(
        self, drawing: Drawing, name: str, results: Sequence[Any], saved: Sequence[Any], operand: Callable[[Any], Any]
    ) -> None:
        self.drawing, self.name = drawing, name
        self.add, self.several, self.constant = drawing.add, drawing.several, drawing.constant
        self.results, later = results
        self.result, self.later = self.results[0], later[0]  # the second: with one example more
        self.saved, self.operand = saved, operand

    def use(self, x: object, dtype: DTypeLike = None) -> str:
        """Return the name by which a node reads an operand or a number, in this dtype; by default its own."""
        if not isinstance(x, Operand):
            return self.constant(numpy.array(x, dtype or self.result.dtype))
        dtype = numpy.dtype(dtype or x.dtype)
        if x.value is not None:
            return self.constant(x.value.astype(dtype), x.name if x.dtype == dtype else "")
        return x.name if x.dtype == dtype else self.cast(x.name, dtype)

    def cast(self, name: str, dtype: DTypeLike) -> str:
        """Return the name of an array in another dtype."""
        from onnx import helper

        return self.add("Cast", name, to=int(helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))))

    def refuse(self, what: str) -> ValueError:
        """Return the error for an operation without a counterpart in ONNX."""
        return ValueError(f"export: {self.name} must have a counterpart in ONNX, got {what}")

    def maker(self, x: object) -> tuple[str, list[Any]]:
        """Return the name and inputs of the operation that made an operand; "" if no operation did."""
        if not isinstance(x, Operand) or x.made_by < 0:
            return "", []
        name, inputs, _ = self.saved[x.made_by]
        return name, [self.operand(word) for word in inputs]

    def made_of(self, x: Operand | complex, *names: str) -> Any:
        """Follow an operand through operations of one input to the first operand; None if they are others."""
        for wanted in names:
            name, inputs = self.maker(x)
            if name != wanted or len(inputs) != 1:
                return None
            x = inputs[0]
        return x


def _operation(*names: str) -> Callable[[Callable[..., Names]], Callable[..., Names]]:
    def enter(function: Callable[..., Names]) -> Callable[..., Names]:
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return enter


# --- element by element ----------------------------------------------------------------------------------------------

_SAME = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow", "maximum": "Max",
    "minimum": "Min", "negative": "Neg", "absolute": "Abs", "sign": "Sign", "sqrt": "Sqrt", "reciprocal": "Reciprocal",
    "exp": "Exp", "log": "Log", "floor": "Floor", "ceil": "Ceil", "rint": "Round", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
    "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh", "erf": "Erf", "relu": "Relu", "sigmoid": "Sigmoid",
}  # fmt: skip
_COMPARED = {
    "equal": "Equal", "greater": "Greater", "less": "Less", "greater_equal": "GreaterOrEqual",
    "less_equal": "LessOrEqual", "not_equal": "Equal",
}  # fmt: skip
_LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not"}


@_operation(*_SAME)
def _same(t: Translator, *inputs: Operand, **_: Any) -> str:
    """Nodes whose inputs have the dtype of the result."""
    return t.add(_SAME[t.name], *(t.use(x, t.result.dtype) for x in inputs[:2]))


@_operation("positive", "copy", "to_device")
def _as_it_is(t: Translator, x: Operand, *_: object) -> str:
    return t.use(x, t.result.dtype)


@_operation("add")
def _add(t: Translator, x: Operand, y: Operand) -> str:
    if (bias := _bias(t, x, y)) is not None:
        return t.drawing.again(x.name, t.use(bias, t.result.dtype))
    parts = _batch_norm(t, x, y)
    if parts is None:
        return str(_same(t, x, y))
    data, *parameters, eps = parts
    return t.add("BatchNormalization", *(t.use(v, t.result.dtype) for v in (data, *parameters)), epsilon=eps)


def _bias(t: Translator, x: Operand, y: Operand) -> Any:
    """Return the bias that a layer adds to a product or a convolution, a vector along the units; None for other
    sums."""
    name, inputs = t.maker(x)
    if not isinstance(y, Operand) or y.value is None:
        return None
    if name in ("convolution", "deconvolution"):
        bias = t.made_of(y, "reshape")
        channels = t.result.shape[1]
        wide = (channels, *(1,) * (len(x.shape) - 2))
        return bias if bias is not None and bias.shape == (channels,) and y.shape == wide else None
    if name == "matmul" and t.drawing.kind_of(x.name) == "Gemm" and y.shape == x.shape[1:] and len(inputs) == 2:
        return y
    return None


def _batch_norm(t: Translator, x: Operand | complex, shift: Any) -> tuple[Any, ...] | None:
    """Return data, gamma, beta, mean, variance and epsilon of a batch norm, which is written in operations.

    It is (data - mean) * (gamma / sqrt(variance + epsilon)) + beta. None if this is another
    sum, or the vectors are not along axis 1.
    """
    scaled = t.maker(x)
    if scaled[0] != "multiply":
        return None
    centred, ratio = t.maker(scaled[1][0]), t.maker(t.made_of(scaled[1][1], "reshape"))
    if centred[0] != "subtract" or ratio[0] != "divide":
        return None
    data, mean = centred[1]
    gamma, root = ratio[1]
    spread = t.maker(t.made_of(root, "sqrt"))
    if spread[0] != "add" or mean.shape != (1, mean.value.size, *(1,) * (len(data.shape) - 2)):
        return None
    var, eps = spread[1]
    mean, beta = t.made_of(mean, "reshape"), t.made_of(shift, "reshape")
    if any(v is None or v.value is None or v.shape != var.shape for v in (mean, beta, var)) or eps is None:
        return None
    if not isinstance(gamma, Operand):
        gamma = Operand("", var.dtype, var.shape, numpy.full(var.shape, gamma, var.dtype))
    return data, gamma, beta, mean, var, float(eps)


@_operation(*_COMPARED)
def _compared(t: Translator, a: Operand, b: Operand) -> str:
    kinds = (np.zeros((), x.dtype) if isinstance(x, Operand) else x for x in (a, b))
    dtype = np.result_type(*kinds)
    found = t.add(_COMPARED[t.name], t.use(a, dtype), t.use(b, dtype))
    return t.add("Not", found) if t.name == "not_equal" else found


@_operation(*_LOGICAL)
def _logical(t: Translator, *inputs: Operand) -> str:
    return t.add(_LOGICAL[t.name], *(t.use(x, bool) for x in inputs))


@_operation("where")
def _where(t: Translator, condition: Operand, a: Operand, b: Operand) -> str:
    return t.add("Where", t.use(condition, bool), t.use(a, t.result.dtype), t.use(b, t.result.dtype))


@_operation("square")
def _square(t: Translator, x: Operand) -> str:
    name = t.use(x, t.result.dtype)
    return t.add("Mul", name, name)


@_operation("log1p", "expm1", "log2", "log10", "exp2")
def _with_constant(t: Translator, x: Operand | complex) -> str:
    name, one = t.use(x, t.result.dtype), t.use(1)
    if t.name == "log1p":
        return t.add("Log", t.add("Add", name, one))
    if t.name == "expm1":
        return t.add("Sub", t.add("Exp", name), one)
    if t.name == "exp2":
        return t.add("Exp", t.add("Mul", name, t.use(math.log(2))))
    return t.add("Div", t.add("Log", name), t.use(math.log(2 if t.name == "log2" else 10)))


@_operation("logaddexp")
def _logaddexp(t: Translator, a: Operand | complex, b: Operand | complex) -> str:
    """The larger one plus the contribution of the smaller one."""
    if not isinstance(b, Operand) and b == 0:
        return t.add("Softplus", t.use(a, t.result.dtype))
    x, y = t.use(a, t.result.dtype), t.use(b, t.result.dtype)
    apart = t.add("Neg", t.add("Abs", t.add("Sub", x, y)))
    return t.add("Add", t.add("Max", x, y), t.add("Log", t.add("Add", t.add("Exp", apart), t.use(1))))


@_operation("floor_divide", "remainder")
def _floored(t: Translator, a: Operand, b: Operand) -> str:
    if t.result.dtype.kind != "f":
        raise t.refuse("integers")
    x, y = t.use(a, t.result.dtype), t.use(b, t.result.dtype)
    floor = t.add("Floor", t.add("Div", x, y))
    return floor if t.name == "floor_divide" else t.add("Sub", x, t.add("Mul", floor, y))


@_operation("cast")
def _cast(t: Translator, x: Operand, dtype: DTypeLike) -> str:
    return t.use(x, dtype)


@_operation("softmax", "log_softmax")
def _softmax(t: Translator, x: Operand, axis: int) -> str:
    return t.add("Softmax" if t.name == "softmax" else "LogSoftmax", t.use(x, t.result.dtype), axis=axis)


# --- shapes and places -----------------------------------------------------------------------------------------------


@_operation("reshape")
def _reshape(t: Translator, x: Operand, shape: Shape) -> str:
    extents = shape if isinstance(shape, tuple) else (shape,)
    if any(isinstance(n, Batch) for n in extents):  # the open extent is known, if it does not depend on the examples
        extents = tuple(m if n == -1 and m == k else n for n, m, k in zip(extents, t.result.shape, t.later.shape))
    return t.add("Reshape", t.use(x), t.drawing.shape(extents))


@_operation("transpose")
def _transpose(t: Translator, x: Operand, axes: Sequence[int] | None = None) -> str:
    return t.add("Transpose", t.use(x), perm=list(axes if axes is not None else range(len(x.shape))[::-1]))


@_operation("broadcast_to")
def _broadcast_to(t: Translator, x: Operand | complex, shape: Sequence[int], *_: object) -> str:
    return t.add("Expand", t.use(x), t.drawing.integers(shape))


@_operation("concatenate")
def _concatenate(t: Translator, *inputs: Operand) -> str:
    *parts, axis = inputs
    return t.add("Concat", *(t.use(x, t.result.dtype) for x in parts), axis=axis)


@_operation("split")
def _split(t: Translator, x: Operand, bounds: list[Any], axis: int) -> Names:
    if any(isinstance(b, Batch) for b in bounds):
        raise t.refuse("parts whose extents depend on the number of examples")
    sizes = [int(x.shape[axis]) for x in t.results]
    return t.several(len(sizes), "Split", t.use(x), t.constant(numpy.array(sizes)), axis=axis)


@_operation("pad", "pad.last_axes")
def _pad(t: Translator, x: Any, widths: Any, value: float) -> str:
    widths = [(0, 0)] * (len(x.shape) - len(widths)) + list(widths)
    pads = numpy.array([b for b, _ in widths] + [a for _, a in widths])
    return t.add("Pad", t.use(x), t.constant(pads), t.use(value, x.dtype))


@_operation("getitem")
def _getitem(t: Translator, x: Operand, *index: Operand) -> str:
    """Slices first, then the axes of integers go, and new ones come."""
    key = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    taken: list[tuple[int, int, int, int]] = []  # start, stop, axis, step
    gone, new, axis, axis_out = [], [], 0, 0
    for k in key:
        if k is None:
            new.append(axis_out)
            axis_out += 1
            continue
        if isinstance(k, slice):
            step = k.step or 1
            start = k.start if k.start is not None else 0 if step > 0 else _LAST
            stop = k.stop if k.stop is not None else _LAST if step > 0 else _FIRST
            if k != slice(None):
                taken.append((start, stop, axis, step))
            axis_out += 1
        elif isinstance(k, int):
            taken.append((k, k + 1 if k != -1 else _LAST, axis, 1))
            gone.append(axis)
        else:
            raise t.refuse(f"an index of {type(k).__name__}")
        axis += 1
    name = t.use(x)
    if taken:
        if any(isinstance(v, Batch) for part in taken for v in part):
            raise t.refuse("a slice that depends on the number of examples")
        starts, stops, axes, steps = (t.constant(numpy.array(v)) for v in zip(*taken))
        name = t.add("Slice", name, starts, stops, axes, steps)
    if gone:
        name = t.add("Squeeze", name, t.constant(numpy.array(gone)))
    return t.add("Unsqueeze", name, t.constant(numpy.array(new))) if new else name


@_operation("take")
def _take(t: Translator, x: Operand, places: list[Any], axis: int, *_: object) -> str:
    if len(places) != 1:
        raise t.refuse("positions along several axes")
    (places_,) = places
    integers = places_.dtype if places_.dtype in ("int32", "int64") else "int64"
    return t.add("Gather", t.use(x), t.use(places_, integers), axis=axis)


# --- sums and products -----------------------------------------------------------------------------------------------


@_operation("sum")
def _sum(t: Translator, x: Operand, axes: tuple[int, ...], keepdims: bool, *_: object) -> str:
    name = t.use(x, t.result.dtype)
    if not axes:
        return name
    return t.add("ReduceSum", name, t.constant(numpy.array(axes)), keepdims=int(keepdims))


@_operation("max", "min", "prod")
def _reduced(t: Translator, x: Operand, axes: tuple[int, ...], keepdims: bool, *_: object) -> str:
    name = t.use(x, t.result.dtype)
    if not axes:
        return name
    return t.add(f"Reduce{t.name.capitalize()}", name, axes=list(axes), keepdims=int(keepdims))


@_operation("cumsum")
def _cumsum(t: Translator, x: Operand, axis: int, *_: object) -> str:
    return t.add("CumSum", t.use(x, t.result.dtype), t.constant(numpy.array(axis)))


@_operation("matmul")
def _matmul(t: Translator, a: Operand, b: Operand, transpose_a: bool = False, transpose_b: bool = False) -> str:
    names = [t.use(x, t.result.dtype) for x in (a, b)]
    if len(a.shape) == len(b.shape) == 2 and (transpose_a or transpose_b) and t.result.dtype.kind == "f":
        return t.add("Gemm", *names, transA=int(transpose_a), transB=int(transpose_b))
    for i, (x, transpose) in enumerate(((a, transpose_a), (b, transpose_b))):
        if transpose and len(x.shape) > 1:
            n = len(x.shape)
            names[i] = t.add("Transpose", names[i], perm=[*range(n - 2), n - 1, n - 2])
    return t.add("MatMul", *names)


# --- layers ----------------------------------------------------------------------------------------------------------


@_operation("convolution")
def _convolution(t: Translator, x: Operand | complex, w: Operand | complex, plan: Any) -> str:
    kernel, stride, dilate = map(list, plan.windows)
    pads = [*plan.pad, *plan.pad]
    shape = {"kernel_shape": kernel, "strides": stride, "dilations": dilate, "pads": pads}
    return t.add("Conv", t.use(x), t.use(w), group=plan.groups, **shape)


@_operation("deconvolution")
def _deconvolution(t: Translator, x: Any, w: Any, plan: Any) -> str:
    kernel, stride, dilate = map(list, plan.windows)
    reach = plan.windows.reach(x.shape[2:])
    more = [n + 2 * p - r for n, p, r in zip(plan.extents, plan.pad, reach)]
    shape = {"kernel_shape": kernel, "strides": stride, "dilations": dilate, "pads": [*plan.pad, *plan.pad]}
    return t.add("ConvTranspose", t.use(x), t.use(w), group=plan.groups, output_padding=more, **shape)


@_operation("pooling.max")
def _largest(t: Translator, x: Operand, windows: Sequence[Sequence[int]]) -> str:
    kernel, stride, dilate = map(list, windows)
    return t.add("MaxPool", t.use(x), kernel_shape=kernel, strides=stride, dilations=dilate)


@_operation("pooling.sum")
def _total(t: Translator, x: Operand, windows: Sequence[Sequence[int]]) -> str:
    kernel, stride, dilate = map(list, windows)
    if any(d != 1 for d in dilate):
        raise t.refuse("windows with dilation")
    mean = t.add("AveragePool", t.use(x), kernel_shape=kernel, strides=stride)
    return t.add("Mul", mean, t.use(math.prod(kernel)))


@_operation("layer_norm", "group_norm", "instance_norm")
def _norm(t: Translator, x: Any, *rest: Any) -> str:
    """Mean 0 and variance 1 along axes, times gamma, plus beta."""
    *parameters, axes, eps = rest
    name, n = t.use(x, t.result.dtype), len(x.shape)
    if tuple(axes) == tuple(range(n - len(axes), n)):
        ones = t.constant(numpy.ones([x.shape[i] for i in axes], t.result.dtype))
        name = t.add("LayerNormalization", name, ones, axis=n - len(axes), epsilon=eps)
    else:
        centred = t.add("Sub", name, t.add("ReduceMean", name, axes=list(axes), keepdims=1))
        variance = t.add("ReduceMean", t.add("Mul", centred, centred), axes=list(axes), keepdims=1)
        name = t.add("Div", centred, t.add("Sqrt", t.add("Add", variance, t.use(eps))))
    beta, gamma = (*parameters, None, None)[:2]
    name = name if gamma is None else t.add("Mul", name, t.use(gamma))
    return name if beta is None else t.add("Add", name, t.use(beta))


_GATES = {
    "lstm": (0, 3, 1, 2),
    "gru": (1, 0, 2),
    "tanh": (0,),
    "relu": (0,),
}  # ONNX's order of them, in places of forerun's


@_operation("rnn")
def _rnn(t: Translator, x: Any, w: Any, b: Any, *rest: Any) -> Names:
    """A recurrent layer; x has the inputs' terms of the gates, which ONNX computes itself from the inputs."""
    *states, rule, reverse = rest
    inputs, weight, bias = _inputs_of_gates(t, x)
    units, order = w.shape[1], _GATES[rule]
    if any(v.value is None for v in (w, b, weight, bias)):
        raise t.refuse("weights that are computed from inputs")

    def gates(value: numpy.ndarray) -> Any:
        parts = numpy.split(value, len(order))
        return numpy.concatenate([parts[i] for i in order]).astype(t.result.dtype)

    both = numpy.concatenate([gates(bias.value), gates(b.value)])[None]
    arrays = [t.constant(gates(v.value)[None], v.name) for v in (weight, w)]
    before = [t.add("Unsqueeze", t.use(s), t.constant(numpy.array([0]))) for s in states]
    more = ["", *before] if before else []
    kind = {"lstm": "LSTM", "gru": "GRU"}.get(rule, "RNN")
    settings: dict[str, Any] = {"hidden_size": units, "direction": "reverse" if reverse else "forward"}
    if kind == "GRU":
        settings["linear_before_reset"] = 1
    if kind == "RNN":
        settings["activations"] = [rule.capitalize()]
    outputs = t.several(3 if kind == "LSTM" else 1, kind, inputs, *arrays, t.constant(both), *more, **settings)
    y = t.add("Squeeze", outputs[0], t.constant(numpy.array([1])))
    return [y, t.add("Squeeze", outputs[2], t.constant(numpy.array([0])))] if kind == "LSTM" else [y]


def _inputs_of_gates(t: Translator, x: Operand) -> tuple[str, Operand, Operand]:
    """Return the sequence, its weight and its bias, of which x was made; or x and the identity."""
    dtype, n = t.result.dtype, x.shape[2]
    bias = Operand("", dtype, (n,), numpy.zeros(n, dtype))
    made, inputs = t.maker(x)
    if made == "reshape":  # of a product of all steps together, and perhaps a bias
        made, inputs = t.maker(inputs[0])
        if made == "add" and isinstance(inputs[1], Operand) and inputs[1].shape == (n,):
            bias = inputs[1]
            made, inputs = t.maker(inputs[0])
        if made == "matmul" and inputs[1].value is not None and inputs[1].shape[0] == n:
            flat, weight = inputs
            made, sequence = t.maker(flat)
            if made == "reshape" and len(sequence[0].shape) == 3 and sequence[0].shape[:2] == x.shape[:2]:
                return t.use(sequence[0]), weight, bias
        bias = Operand("", dtype, (n,), numpy.zeros(n, dtype))
    return t.use(x), Operand("", dtype, (n, n), numpy.eye(n, dtype=dtype)), bias
