"""Nodes of ONNX that reduce axes, or sum products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import np
from .registry import NODES, Attributes, Namespace, Values, node, number, numbers, refuse


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(xp: Namespace, a: Attributes, x: Values, axes: Values | None = None) -> Any:
        along = a.get("axes") if axes is None else numbers(axes)
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
            raise refuse(name, "select_last_index", 1)
        return getattr(xp, name)(x, axis=a.get("axis", 0), keepdims=bool(a.get("keepdims", 1)))

    return find


NODES.update(ArgMax=_argument("argmax"), ArgMin=_argument("argmin"))


@node("CumSum")
def _cumsum(xp: Namespace, a: Attributes, x: Values, axis: Values) -> Values:
    if a.get("exclusive") or a.get("reverse"):
        raise refuse("CumSum", "direction", a)
    return xp.cumsum(x, axis=number(axis))


@node("Gemm")
def _gemm(xp: Namespace, a: Attributes, x: Values, y: Values, bias: Values | None = None) -> Values:
    x = x.T if a.get("transA") else x
    y = y.T if a.get("transB") else y
    alpha, beta = a.get("alpha", 1.0), a.get("beta", 1.0)
    product = x @ y if alpha == 1 else (x @ y) * alpha
    return product if bias is None else product + (bias if beta == 1 else bias * beta)


@node("Einsum")
def _einsum(xp: Namespace, a: Attributes, *inputs: Values) -> Values:
    return xp.einsum(a["equation"], *inputs)
