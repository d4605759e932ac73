"""Nodes of ONNX that are layers: convolution, pooling, normalisation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import np, npx
from .registry import Attributes, Namespace, Values, node, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence


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


@node("Conv")
def _conv(xp: Namespace, a: Attributes, x: Values, w: Values, b: Values | None = None) -> Values:
    strides, dilations, pads = _window("Conv", a, x, w.shape[2:])
    if any(before != after for before, after in pads):
        x = np.pad(x, [(0, 0), (0, 0), *pads])
        pads = [(0, 0)] * len(pads)
    return npx.convolution(
        x, w, b, w.shape[2:], strides, dilations, [p for p, _ in pads], num_group=a.get("group", 1), no_bias=b is None
    )


@node("ConvTranspose")
def _conv_transpose(xp: Namespace, a: Attributes, x: Values, w: Values, b: Values | None = None) -> Values:
    strides, dilations, pads = _window("ConvTranspose", a, x, w.shape[2:])
    if any(before != after for before, after in pads) or a.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise refuse("ConvTranspose", "padding", a.get("pads", a.get("auto_pad")))
    if "output_shape" in a:
        raise refuse("ConvTranspose", "output_shape", a["output_shape"])
    return npx.deconvolution(
        x, w, b, w.shape[2:], strides, dilations, [p for p, _ in pads], a.get("output_padding"),
        num_group=a.get("group", 1), no_bias=b is None,
    )  # fmt: skip


@node("MaxPool")
def _max_pool(xp: Namespace, a: Attributes, x: Values) -> Values:
    return _pooled("MaxPool", "max", a, x)


@node("AveragePool")
def _average_pool(xp: Namespace, a: Attributes, x: Values) -> Values:
    return _pooled("AveragePool", "avg", a, x)


def _pooled(kind: str, how: str, a: Attributes, x: Values) -> Values:
    kernel = a["kernel_shape"]
    strides, dilations, pads = _window(kind, a, x, kernel)
    if any(d != 1 for d in dilations):
        raise refuse(kind, "dilations", dilations)
    if any(before != after for before, after in pads):
        if how == "avg" and not a.get("count_include_pad"):
            raise refuse(kind, "pads", pads)
        x = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=-math.inf if how == "max" else 0)
        pads = [(0, 0)] * len(pads)
    convention = "full" if a.get("ceil_mode") else "valid"
    return npx.pooling(
        x, kernel, how, pooling_convention=convention, stride=strides, pad=[p for p, _ in pads],
        count_include_pad=bool(a.get("count_include_pad", 0)),
    )  # fmt: skip


@node("GlobalAveragePool")
def _global_average(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x.mean(axis=tuple(range(2, x.ndim)), keepdims=True)


@node("GlobalMaxPool")
def _global_max(xp: Namespace, a: Attributes, x: Values) -> Values:
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True)


@node("BatchNormalization")
def _batch_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values, mean: Values, var: Values) -> Any:
    return npx.batch_norm(x, scale, bias, mean, var, a.get("epsilon", 1e-5), a.get("momentum", 0.9), False)


@node("LayerNormalization")
def _layer_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values | None = None) -> Values:
    axes = tuple(range(a.get("axis", -1) % x.ndim, x.ndim))
    return _affine(_normal(x, axes, a.get("epsilon", 1e-5)), scale, bias)


@node("InstanceNormalization")
def _instance_norm(xp: Namespace, a: Attributes, x: Values, scale: Values, bias: Values) -> Values:
    wide = (-1, *(1,) * (x.ndim - 2))
    axes = tuple(range(2, x.ndim))
    return _affine(_normal(x, axes, a.get("epsilon", 1e-5)), scale.reshape(wide), bias.reshape(wide))


@node("GroupNormalization")
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
