"""Nodes of ONNX that compute element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import np, npx
from .registry import NODES, Attributes, Namespace, Values, node, number


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


@node("Div")
def _div(xp: Namespace, a: Attributes, x: Values, y: Values) -> Values:
    return x // y if x.dtype.kind in "iu" and y.dtype.kind in "iu" else xp.divide(x, y)


@node("Pow")
def _pow(xp: Namespace, a: Attributes, x: Values, y: Values) -> Values:
    return xp.power(x, y).astype(x.dtype)


@node("Mod")
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


@node("Identity")
def _identity(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x


@node("Dropout")
def _dropout(xp: Namespace, a: Attributes, x: Values, ratio: Values | None = None, *_: object) -> Values:
    p = a.get("ratio", 0.5) if ratio is None else float(number(ratio))
    return npx.dropout(np.asarray(x), p)


@node("Clip")
def _clip(xp: Namespace, a: Attributes, x: Values, low: Values | None = None, high: Values | None = None) -> Values:
    low, high = (a.get(k) if v is None else number(v) for k, v in (("min", low), ("max", high)))
    x = x if low is None else xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


@node("Where")
def _where(xp: Namespace, a: Attributes, condition: Values, x: Values, y: Values) -> Values:
    return xp.where(condition, x, y)


@node("Cast")
def _cast(xp: Namespace, a: Attributes, x: Values) -> Values:
    from onnx import helper

    return x.astype(helper.tensor_dtype_to_np_dtype(a["to"]))


@node("Relu")
def _relu(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.relu(x)


@node("Sigmoid")
def _sigmoid(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.sigmoid(x)


@node("Erf")
def _erf(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.erf(x)


@node("LeakyRelu")
def _leaky_relu(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.where(x > 0, x, x * a.get("alpha", 0.01))


@node("PRelu")
def _prelu(xp: Namespace, a: Attributes, x: Values, slope: Values) -> Values:
    return np.where(x > 0, x, x * slope)


@node("Elu")
def _elu(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.where(x > 0, x, a.get("alpha", 1.0) * np.expm1(np.minimum(x, 0)))


@node("Selu")
def _selu(xp: Namespace, a: Attributes, x: Values) -> Any:
    alpha, gamma = a.get("alpha", 1.6732632423543772), a.get("gamma", 1.0507009873554805)
    return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@node("Softplus")
def _softplus(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.logaddexp(x, 0)


@node("Softsign")
def _softsign(xp: Namespace, a: Attributes, x: Values) -> Values:
    return xp.divide(x, 1 + xp.abs(x))


@node("HardSigmoid")
def _hard_sigmoid(xp: Namespace, a: Attributes, x: Values) -> Values:
    return np.clip(x * a.get("alpha", 0.2) + a.get("beta", 0.5), 0, 1)


@node("HardSwish")
def _hard_swish(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x * np.clip(x / 6 + 0.5, 0, 1)


@node("Gelu")
def _gelu(xp: Namespace, a: Attributes, x: Values) -> Values:
    if a.get("approximate", "none") == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + npx.erf(x * math.sqrt(0.5)))


@node("Softmax")
def _softmax(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.softmax(x, axis=a.get("axis", -1))


@node("LogSoftmax")
def _log_softmax(xp: Namespace, a: Attributes, x: Values) -> Values:
    return npx.log_softmax(x, axis=a.get("axis", -1))
