"""Convolutions and their gradients, of one to three axes of extents."""

from __future__ import annotations

from collections.abc import Sequence

from ..types import Type
from ..values import Value
from .call import Call
from .elementwise.casts import cast
from .matmul import product_type

__all__ = ["conv", "conv_back", "conv_weight"]


def _window(call: Call) -> list[tuple[int, ...]]:
    """kernel, stride, dilate and pad, a number for each axis."""
    return [tuple(call.attribute(name)) for name in ("kernel", "stride", "dilate", "pad")]


def _wide(call: Call) -> list[Value]:
    """The inputs in the dtype in which products are summed."""
    out = call.spec.outputs[0]
    return [cast(call.b, x, product_type(out.dtype)) for x in call.inputs]


def _empty(call: Call) -> Sequence[Value] | None:
    """Zeros, if there is nothing to sum."""
    out = call.spec.outputs[0]
    if 0 in out.shape or any(0 in x.shape for x in call.inputs):
        return [call.b.constant(0, Type(out.shape, out.dtype))]
    return None


def conv(call: Call) -> Sequence[Value]:
    """Sums of products over windows."""
    if (empty := _empty(call)) is not None:
        return empty
    b, (x, w), (out,) = call.b, _wide(call), call.spec.outputs
    kernel, stride, dilate, pad = _window(call)
    value = b.convolution(
        x, w, out.shape, "[b, f, *]x[o, i, *]->[b, f, *]", stride=stride, dilate=dilate, low=pad,
        high=_high(x.shape[2:], out.shape[2:], kernel, stride, dilate, pad), groups=call.attribute("groups", 1),
    )  # fmt: skip
    return [cast(b, value, out.dtype)]


def _high(
    extents: Sequence[int], counts: Sequence[int], kernel: Sequence[int], stride: Sequence[int],
    dilate: Sequence[int], pad: Sequence[int],
) -> list[int]:  # fmt: skip
    """Elements behind each axis, so that there are so many windows; below 0, elements that no window reaches."""
    axes = zip(extents, counts, kernel, stride, dilate, pad)
    return [(c - 1) * s + (k - 1) * d + 1 - n - p for n, c, k, s, d, p in axes]


def conv_back(call: Call) -> Sequence[Value]:
    """The gradient of the data: a convolution of the results, spread out, with the flipped weight."""
    if (empty := _empty(call)) is not None:
        return empty
    b, (y, w), (out,) = call.b, _wide(call), call.spec.outputs
    kernel, stride, dilate, pad = _window(call)
    groups, axes = call.attribute("groups", 1), range(len(kernel))
    filters, channels = w.shape[0] // groups, w.shape[1]
    # Each group's inputs and outputs change places.
    w = b.reshape(w, (groups, filters, channels, *kernel))
    w = b.transpose(w, [0, 2, 1, *(3 + a for a in axes)])
    w = b.reverse(b.reshape(w, (groups * channels, filters, *kernel)), [2 + a for a in axes])
    low = [(k - 1) * d - p for k, d, p in zip(kernel, dilate, pad)]
    spread = [(c - 1) * s + 1 for c, s in zip(y.shape[2:], stride)]
    high = [n + (k - 1) * d - e - m for n, k, d, e, m in zip(out.shape[2:], kernel, dilate, spread, low)]
    value = b.convolution(
        y, w, out.shape, "[b, f, *]x[o, i, *]->[b, f, *]", stride=[1 for _ in axes], dilate=dilate, spread=stride,
        low=low, high=high, groups=groups,
    )  # fmt: skip
    return [cast(b, value, out.dtype)]


def conv_weight(call: Call) -> Sequence[Value]:
    """The gradient of the weight: a convolution of the data with the results, examples being the channels."""
    if (empty := _empty(call)) is not None:
        return empty
    b, (y, x), (out,) = call.b, _wide(call), call.spec.outputs
    kernel, stride, dilate, pad = _window(call)
    shape = out.shape[-2 - len(kernel) :]
    value = b.convolution(
        x, y, shape, "[f, b, *]x[i, o, *]->[f, b, *]", stride=dilate, dilate=stride, low=pad,
        high=_high(x.shape[2:], y.shape[2:], kernel, stride, dilate, pad), batch_groups=call.attribute("groups", 1),
    )  # fmt: skip
    value = cast(b, value, out.dtype)
    if len(out.shape) == len(shape):
        return [value]
    value = b.reshape(value, (1, *shape))  # the first of several parts is all of it
    return [b.pad(value, 0, [0] * len(out.shape), [out.shape[0] - 1, *(0 for _ in shape)])]
