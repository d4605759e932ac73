"""The computation of each kind of node of ONNX: functions of a namespace, the node's attributes, and its inputs.

The namespace is forerun's, or NumPy's where all inputs are known before a run: shapes are computed so, and nothing
waits. Inputs that are left out are None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy

from .. import np, npx
from ..gluon.rnn.sequence import run

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["FOLLOWED", "NODES"]

Values = np.ndarray | numpy.ndarray[Any, Any]
Attributes = Mapping[str, Any]


class Namespace(Protocol):
    """Functions of arrays: forerun's, or NumPy's."""

    def __getattr__(self, name: str) -> Callable[..., Values]: ...


NODES: dict[str, Callable[..., Any]] = {}
FOLLOWED = {"BatchNormalization": (3, 4)}
"""Inputs that follow the data in training, rather than gradients."""


def _node(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        NODES.update(dict.fromkeys(kinds, function))
        return function

    return enter


def _named(kind: str, name: str) -> None:
    """Enter a node that is a function of NumPy's, and has no attributes that matter."""
    NODES[kind] = lambda xp, a, *inputs: getattr(xp, name)(*inputs)


for _kinds, _names in (
    ("Add Sub Mul Neg Abs Sign Sqrt Reciprocal", "add subtract multiply negative abs sign sqrt reciprocal"),
    ("Exp Log Floor Ceil Round", "exp log floor ceil rint"),
    ("Sin Cos Tan Asin Acos Atan", "sin cos tan arcsin arccos arctan"),
    ("Sinh Cosh Tanh Asinh Acosh Atanh", "sinh cosh tanh arcsinh arccosh arctanh"),
    ("Equal Greater Less GreaterOrEqual LessOrEqual", "equal greater less greater_equal less_equal"),
    ("And Or Xor Not IsNaN MatMul", "logical_and logical_or logical_xor logical_not isnan matmul"),
):
    for _kind, _name in zip(_kinds.split(), _names.split()):
        _named(_kind, _name)


def _numbers(x: Values) -> tuple[int, ...]:
    """Return integers that are settings; NotImplementedError if they depend on values."""
    if not isinstance(x, numpy.ndarray):
        raise NotImplementedError("OnnxBlock: shapes and axes must not depend on values of arrays, got ones that do")
    return tuple(int(v) for v in x.reshape(-1))


def _refuse(kind: str, setting: str, value: object) -> NotImplementedError:
    return NotImplementedError(f"OnnxBlock: {setting} of {kind} must be one that forerun has, got {value!r}")


# --- element by element ----------------------------------------------------------------------------------------------


@_node("Div")
def _div(xp: Namespace, a: Attributes, x: Values, y: Values) -> Values:
    return x // y if x.dtype.kind in "iu" and y.dtype.kind in "iu" else xp.divide(x, y)


@_node("Pow")
def _pow(xp: Namespace, a: Attributes, x: Values, y: Values) -> Values:
    return xp.power(x, y).astype(x.dtype)


@_node("Mod")
def _mod(xp: Namespace, a: Attributes, x: Values, y: Values) -> Values:
    return xp.fmod(x, y) if a.get("fmod") else xp.remainder(x, y)


def _folded(name: str, mean: bool = False) -> Callable[..., Any]:
    def fold(xp: Namespace, a: Attributes, *inputs: Values) -> Values:
        found = inputs[0]
        for x in inputs[1:]:
            found = getattr(xp, name)(found, x)
        return found / len(inputs) if mean else found

    return fold


NODES.update(Max=_folded("maximum"), Min=_folded("minimum"), Sum=_folded("add"), Mean=_folded("add", mean=True))


@_node("Identity")
def _identity(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x


@_node("Dropout")
def _dropout(xp: Namespace, a: Attributes, x: Values, ratio: Values | None = None, *_: object) -> Values:
    p = a.get("ratio", 0.5) if ratio is None else float(_number(ratio))
    return npx.dropout(np.asarray(x), p)


def _number(x: Values) -> Any:
    return x.item() if isinstance(x, numpy.ndarray) else x


@_node("Clip")
def _clip(xp: Namespace, a: Attributes, x: Values, low: Values | None = None, high: Values | None = None) -> Values:
    low, high = (a.get(k) if v is None else _number(v) for k, v in (("min", low), ("max", high)))
    x = x if low is None else xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


@_node("Where")
def _where(xp: Namespace, a: Attributes, condition: Values, x: Values, y: Values) -> Values:
    return xp.where(condition, x, y)


@_node("Cast")
def _cast(xp: Namespace, a: Attributes, x: Values) -> Values:
    from onnx import helper

    return x.astype(helper.tensor_dtype_to_np_dtype(a["to"]))


@_node("Relu")
def _relu(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.relu(x)


@_node("Sigmoid")
def _sigmoid(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.sigmoid(x)


@_node("Erf")
def _erf(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.erf(x)


@_node("LeakyRelu")
def _leaky_relu(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.where(x > 0, x, x * a.get("alpha", 0.01))


@_node("PRelu")
def _prelu(xp: Namespace, a: Attributes, x: Values, slope: Values) -> Values:
    return np.where(x > 0, x, x * slope)


@_node("Elu")
def _elu(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.where(x > 0, x, a.get("alpha", 1.0) * np.expm1(np.minimum(x, 0)))


@_node("Selu")
def _selu(xp: Namespace, a: Attributes, x: Values) -> Any:
    alpha, gamma = a.get("alpha", 1.6732632423543772), a.get("gamma", 1.0507009873554805)
    return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@_node("Softplus")
def _softplus(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.logaddexp(x, 0)


@_node("Softsign")
def _softsign(xp: Namespace, a: Attributes, x: Values) -> Values:
    return xp.divide(x, 1 + xp.abs(x))


@_node("HardSigmoid")
def _hard_sigmoid(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.clip(x * a.get("alpha", 0.2) + a.get("beta", 0.5), 0, 1)


@_node("HardSwish")
def _hard_swish(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x * np.clip(x / 6 + 0.5, 0, 1)


@_node("Gelu")
def _gelu(xp: Namespace, a: Attributes, x: Values) -> Values:
    if a.get("approximate", "none") == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + npx.erf(x * math.sqrt(0.5)))


@_node("Softmax")
def _softmax(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.softmax(x, axis=a.get("axis", -1))


@_node("LogSoftmax")
def _log_softmax(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.log_softmax(x, axis=a.get("axis", -1))


# --- shapes and places -----------------------------------------------------------------------------------------------


@_node("Shape")
def _shape(xp: Namespace, a: Attributes, x: Values) -> Values:
    return numpy.array(x.shape, dtype="int64")[a.get("start", 0) : a.get("end")]


@_node("Size")
def _size(xp: Namespace, a: Attributes, x: Values) -> Values:
    return numpy.array(x.size, dtype="int64")


@_node("Reshape")
def _reshape(xp: Namespace, a: Attributes, x: Values, shape: Values) -> Values:
    extents = _numbers(shape)
    kept = () if a.get("allowzero") else x.shape
    return x.reshape(tuple(kept[i] if n == 0 and i < len(kept) else n for i, n in enumerate(extents)))


@_node("Flatten")
def _flatten(xp: Namespace, a: Attributes, x: Values) -> Values:
    axis = a.get("axis", 1) % (x.ndim + 1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


@_node("Transpose")
def _transpose(xp: Namespace, a: Attributes, x: Values) -> Values:
    return xp.transpose(x, a.get("perm"))


@_node("Squeeze")
def _squeeze(xp: Namespace, a: Attributes, x: Values, axes: Values | None = None) -> Values:
    along = a.get("axes") if axes is None else _numbers(axes)
    return xp.squeeze(x, None if along is None else tuple(along))


@_node("Unsqueeze")
def _unsqueeze(xp: Namespace, a: Attributes, x: Values, axes: Values | None = None) -> Values:
    return xp.expand_dims(x, tuple(a["axes"]) if axes is None else _numbers(axes))


@_node("Expand")
def _expand(xp: Namespace, a: Attributes, x: Values, shape: Values) -> Values:
    return xp.broadcast_to(x, numpy.broadcast_shapes(x.shape, _numbers(shape)))


@_node("Tile")
def _tile(xp: Namespace, a: Attributes, x: Values, repeats: Values) -> Values:
    return xp.tile(x, _numbers(repeats))


@_node("Concat")
def _concat(xp: Namespace, a: Attributes, *inputs: Values) -> Values:
    return xp.concatenate(inputs, axis=a["axis"])


@_node("Split")
def _split(xp: Namespace, a: Attributes, x: Values, sizes: Values | None = None) -> Values:
    axis = a.get("axis", 0)
    parts = a.get("split") if sizes is None else _numbers(sizes)
    if parts is None:
        if "num_outputs" not in a:
            raise _refuse("Split", "sizes", None)
        each = -(-x.shape[axis] // a["num_outputs"])
        return xp.split(x, list(range(each, x.shape[axis], each)), axis)
    return xp.split(x, numpy.cumsum(parts)[:-1].tolist(), axis)


@_node("Slice")
def _slice(
    xp: Namespace,
    a: Attributes,
    x: Values,
    starts: Values,
    ends: Values,
    axes: Values | None = None,
    steps: Values | None = None,
) -> Values:
    first, last = _numbers(starts), _numbers(ends)
    along = range(len(first)) if axes is None else _numbers(axes)
    by = (1,) * len(first) if steps is None else _numbers(steps)
    index = [slice(None)] * x.ndim
    for b, e, axis, step in zip(first, last, along, by):
        n = x.shape[axis]
        stop = None if (step < 0 and e < -n) or (step > 0 and e > n) else e
        index[axis] = slice(None if b > n and step < 0 else b, stop, step)
    return x[tuple(index)]


@_node("Gather")
def _gather(xp: Namespace, a: Attributes, x: Values, places: Values) -> Values:
    return xp.take(x, places, axis=a.get("axis", 0))


@_node("GatherElements")
def _gather_elements(xp: Namespace, a: Attributes, x: Values, places: Values) -> Values:
    return xp.take_along_axis(x, places, axis=a.get("axis", 0))


@_node("Pad")
def _pad(
    xp: Any, a: Attributes, x: Values, pads: Values, value: Values | None = None, axes: Values | None = None
) -> Any:
    widths = _numbers(pads)
    along = range(x.ndim) if axes is None else [i % x.ndim for i in _numbers(axes)]
    pairs = [(0, 0)] * x.ndim
    for i, axis in enumerate(along):
        pairs[axis] = widths[i], widths[len(widths) // 2 + i]
    mode = a.get("mode", "constant")
    if min(widths, default=0) < 0 or mode not in ("constant", "reflect", "edge", "wrap"):
        raise _refuse("Pad", "pads", (mode, widths))
    if mode != "constant":
        return xp.pad(x, pairs, mode=mode)
    return xp.pad(x, pairs, constant_values=0 if value is None else _number(value))


@_node("ConstantOfShape")
def _constant_of_shape(xp: Namespace, a: Attributes, shape: Values) -> Values:
    value = a.get("value", numpy.zeros(1, "float32"))
    return numpy.full(_numbers(shape), value.item(), value.dtype)


@_node("Range")
def _range(xp: Namespace, a: Attributes, start: Values, limit: Values, step: Values) -> Values:
    return numpy.arange(_number(start), _number(limit), _number(step), dtype=start.dtype)


# --- sums and products -----------------------------------------------------------------------------------------------


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(xp: Namespace, a: Attributes, x: Values, axes: Values | None = None) -> Any:
        along = a.get("axes") if axes is None else _numbers(axes)
        if not along and a.get("noop_with_empty_axes"):
            return x
        function = _l2 if name == "l2" else getattr(xp, name)
        return function(x, axis=tuple(along) if along else None, keepdims=bool(a.get("keepdims", 1)))

    return reduce


def _l2(x: Values, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    return np.sqrt(np.square(x).sum(axis=axis, keepdims=keepdims))


NODES.update(
    ReduceSum=_reduction("sum"), ReduceMean=_reduction("mean"), ReduceMax=_reduction("max"),
    ReduceMin=_reduction("min"), ReduceProd=_reduction("prod"), ReduceL2=_reduction("l2"),
)  # fmt: skip


def _argument(name: str) -> Callable[..., Any]:
    def find(xp: Namespace, a: Attributes, x: Values) -> Any:
        if a.get("select_last_index"):
            raise _refuse(name, "select_last_index", 1)
        return getattr(xp, name)(x, axis=a.get("axis", 0), keepdims=bool(a.get("keepdims", 1)))

    return find


NODES.update(ArgMax=_argument("argmax"), ArgMin=_argument("argmin"))


@_node("CumSum")
def _cumsum(xp: Namespace, a: Attributes, x: Values, axis: Values) -> Values:
    if a.get("exclusive") or a.get("reverse"):
        raise _refuse("CumSum", "direction", a)
    return xp.cumsum(x, axis=_number(axis))


@_node("Gemm")
def _gemm(xp: Namespace, a: Attributes, x: Values, y: Values, bias: Values | None = None) -> Values:
    x = x.T if a.get("transA") else x
    y = y.T if a.get("transB") else y
    alpha, beta = a.get("alpha", 1.0), a.get("beta", 1.0)
    product = x @ y if alpha == 1 else (x @ y) * alpha
    return product if bias is None else product + (bias if beta == 1 else bias * beta)


@_node("Einsum")
def _einsum(xp: Namespace, a: Attributes, *inputs: Values) -> Values:
    return xp.einsum(a["equation"], *inputs)


# --- layers ----------------------------------------------------------------------------------------------------------


def _padding(
    kind: str, a: Attributes, x: Values, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the padding before and after each axis of extents."""
    n, way = len(kernel), a.get("auto_pad", "NOTSET")
    if way in ("NOTSET", "VALID"):
        pads = a.get("pads", [0] * (2 * n)) if way == "NOTSET" else [0] * (2 * n)
        return list(zip(pads[:n], pads[n:]))
    found = []
    for extent, k, s, d in zip(x.shape[2:], kernel, strides, dilations):
        total = max(0, (-(-extent // s) - 1) * s + (k - 1) * d + 1 - extent)
        small = total // 2
        found.append((small, total - small) if way == "SAME_UPPER" else (total - small, small))
    return found


def _window(kind: str, a: Attributes, x: Values, kernel: Sequence[int]) -> tuple[Any, Any, list[tuple[int, int]]]:
    """Return strides, dilations and padding."""
    ones = [1] * len(kernel)
    strides, dilations = a.get("strides", ones), a.get("dilations", ones)
    return strides, dilations, _padding(kind, a, x, kernel, strides, dilations)


@_node("Conv")
def _conv(xp: Namespace, a: Attributes, x: Values, w: Values, b: Values | None = None) -> Values:
    strides, dilations, pads = _window("Conv", a, x, w.shape[2:])
    if any(before != after for before, after in pads):
        x = np.pad(x, [(0, 0), (0, 0), *pads])
        pads = [(0, 0)] * len(pads)
    return npx.convolution(
        x, w, b, w.shape[2:], strides, dilations, [p for p, _ in pads], num_group=a.get("group", 1), no_bias=b is None
    )


@_node("ConvTranspose")
def _conv_transpose(xp: Namespace, a: Attributes, x: Values, w: Values, b: Values | None = None) -> Values:
    strides, dilations, pads = _window("ConvTranspose", a, x, w.shape[2:])
    if any(before != after for before, after in pads) or a.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise _refuse("ConvTranspose", "padding", a.get("pads", a.get("auto_pad")))
    if "output_shape" in a:
        raise _refuse("ConvTranspose", "output_shape", a["output_shape"])
    return npx.deconvolution(
        x, w, b, w.shape[2:], strides, dilations, [p for p, _ in pads], a.get("output_padding"),
        num_group=a.get("group", 1), no_bias=b is None,
    )  # fmt: skip


@_node("MaxPool")
def _max_pool(xp: Namespace, a: Attributes, x: Values) -> Values:
    return _pooled("MaxPool", "max", a, x)


@_node("AveragePool")
def _average_pool(xp: Namespace, a: Attributes, x: Values) -> Values:
    return _pooled("AveragePool", "avg", a, x)


def _pooled(kind: str, how: str, a: Attributes, x: Values) -> Values:
    kernel = a["kernel_shape"]
    strides, dilations, pads = _window(kind, a, x, kernel)
    if any(d != 1 for d in dilations):
        raise _refuse(kind, "dilations", dilations)
    if any(before != after for before, after in pads):
        if how == "avg" and not a.get("count_include_pad"):
            raise _refuse(kind, "pads", pads)
        x = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=-math.inf if how == "max" else 0)
        pads = [(0, 0)] * len(pads)
    convention = "full" if a.get("ceil_mode") else "valid"
    return npx.pooling(
        x, kernel, how, pooling_convention=convention, stride=strides, pad=[p for p, _ in pads],
        count_include_pad=bool(a.get("count_include_pad", 0)),
    )  # fmt: skip


@_node("GlobalAveragePool")
def _global_average(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x.mean(axis=tuple(range(2, x.ndim)), keepdims=True)


@_node("GlobalMaxPool")
def _global_max(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True)


@_node("BatchNormalization")
def _batch_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values, mean: Values, var: Values) -> Any:
    return npx.batch_norm(x, scale, bias, mean, var, a.get("epsilon", 1e-5), a.get("momentum", 0.9), False)


@_node("LayerNormalization")
def _layer_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values | None = None) -> Values:
    axes = tuple(range(a.get("axis", -1) % x.ndim, x.ndim))
    return _affine(_normal(x, axes, a.get("epsilon", 1e-5)), scale, bias)


@_node("InstanceNormalization")
def _instance_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values) -> Values:
    wide = (-1, *(1,) * (x.ndim - 2))
    axes = tuple(range(2, x.ndim))
    return _affine(_normal(x, axes, a.get("epsilon", 1e-5)), scale.reshape(wide), bias.reshape(wide))


@_node("GroupNormalization")
def _group_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values) -> Values:
    groups = a["num_groups"]
    parts = x.reshape(x.shape[0], groups, -1)
    wide = (-1, *(1,) * (x.ndim - 2))
    if scale.shape[0] == groups != x.shape[1]:  # before opset 21
        scale, bias = (np.repeat(v, x.shape[1] // groups) for v in (scale, bias))
    y = _normal(parts, (2,), a.get("epsilon", 1e-5)).reshape(x.shape)
    return _affine(y, scale.reshape(wide), bias.reshape(wide))


def _normal(x: Values, axes: tuple[int, ...], eps: float) -> Values:
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axis=axes, keepdims=True) + eps)


def _affine(x: Values, scale: Values, bias: Values | None) -> Values:
    return x * scale if bias is None else x * scale + bias


_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}  # forerun's order of them, in places of ONNX's


@_node("RNN")
def _rnn(xp: Namespace, a: Attributes, *inputs: Values) -> list[Any]:
    return _recurrent("RNN", a, *inputs)


@_node("LSTM")
def _lstm(xp: Namespace, a: Attributes, *inputs: Values) -> list[Any]:
    return _recurrent("LSTM", a, *inputs)


@_node("GRU")
def _gru(xp: Namespace, a: Attributes, *inputs: Values) -> list[Any]:
    if not a.get("linear_before_reset"):
        raise _refuse("GRU", "linear_before_reset", 0)
    return _recurrent("GRU", a, *inputs)


def _recurrent(
    kind: str, a: Any, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, c: Any = None,
    peepholes: Any = None,
) -> list[Any]:  # fmt: skip
    """Outputs (steps, directions, batch, units), and the states after the last step."""
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[kind]
    way = a.get("direction", "forward")
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[way]
    activations = a.get("activations", usual * len(backward))
    rule = activations[0].lower() if kind == "RNN" else "tanh"
    if (kind != "RNN" and activations != usual * len(backward)) or rule not in ("tanh", "relu"):
        raise _refuse(kind, "activations", activations)
    for name in ("clip", "layout", "input_forget"):
        if a.get(name):
            raise _refuse(kind, name, a[name])
    if lengths is not None or peepholes is not None:
        raise _refuse(kind, "sequence_lens or P", "an array")
    ys, after = [], []
    for d, reverse in enumerate(backward):
        states = None if h is None else [s[d] for s in (h, c) if s is not None]
        y, last = _direction(kind, rule, reverse, x, w[d], r[d], None if b is None else b[d], states)
        ys.append(y)
        after.append(last)
    return [np.stack(ys, axis=1), *(np.stack(parts) for parts in zip(*after))]


def _direction(kind: str, rule: str, reverse: bool, x: Values, w: Values, r: Values, b: Any, states: Any) -> Any:
    order = _GATES[kind]

    def gates(value: Any) -> Any:
        parts = np.split(value, len(order))
        return np.concatenate([parts[i] for i in order]) if len(order) > 1 else value

    zeros = np.zeros(2 * r.shape[0], dtype=x.dtype) if b is None else b
    of_inputs, of_states = map(gates, np.split(zeros, 2))
    together = kind != "GRU"  # in a GRU, the part of the state has a factor of its own
    x = npx.fully_connected(x, gates(w), None if together else of_inputs, no_bias=together, flatten=False)
    after = of_inputs + of_states if together else of_states
    return run(kind.lower(), rule, reverse, x, states, gates(r), after)
