"""Convolution and pooling in plain loops over windows, in NumPy: the reference of the tests."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy


def per_axis(value: Any, n: int, default: int) -> tuple[int, ...]:
    """A number per axis."""
    if value is None or value == ():
        return (default,) * n
    return (value,) * n if isinstance(value, int) else tuple(value)


def convolution(
    data: Any, weight: Any, bias: Any = None, kernel: Any = None, stride: Any = None, dilate: Any = None,
    pad: Any = None, num_filter: Any = None, num_group: int = 1,
) -> numpy.ndarray:  # fmt: skip
    """Every element of the result is a sum over one window."""
    n = data.ndim - 2
    stride, dilate, pad = per_axis(stride, n, 1), per_axis(dilate, n, 1), per_axis(pad, n, 0)
    x = numpy.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
    spans = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilate)]
    counts = [(e - span) // s + 1 for e, span, s in zip(x.shape[2:], spans, stride)]
    filters, channels = weight.shape[:2]
    y = numpy.zeros((len(x), filters, *counts), numpy.result_type(x, weight))
    for f, *at in numpy.ndindex(filters, *counts):
        group = f // (filters // num_group)
        first = [i * s for i, s in zip(at, stride)]
        index = tuple(slice(b, b + span, d) for b, span, d in zip(first, spans, dilate))
        window = x[(slice(None), slice(group * channels, (group + 1) * channels), *index)]
        y[(slice(None), f, *at)] = (window * weight[f]).reshape(len(x), -1).sum(1)
    return y if bias is None else y + bias.reshape(-1, *(1,) * n)


def deconvolution(
    data: Any, weight: Any, bias: Any = None, kernel: Any = None, stride: Any = None, dilate: Any = None,
    pad: Any = None, adj: Any = None, target_shape: Any = None, num_filter: Any = None, num_group: int = 1,
    no_bias: bool = True,
) -> numpy.ndarray:  # fmt: skip
    """Every element of the data adds the kernel, times itself, at its place."""
    n = data.ndim - 2
    stride, dilate, pad, adj = per_axis(stride, n, 1), per_axis(dilate, n, 1), per_axis(pad, n, 0), per_axis(adj, n, 0)
    per = weight.shape[1]
    reach = [
        (e - 1) * s + (k - 1) * d + 1 + a
        for e, s, k, d, a in zip(data.shape[2:], stride, weight.shape[2:], dilate, adj)
    ]
    y = numpy.zeros((len(data), per * num_group, *reach), numpy.result_type(data, weight))
    for c, *at in numpy.ndindex(data.shape[1:]):
        group = c // (data.shape[1] // num_group)
        for f, *k in numpy.ndindex(weight.shape[1:]):
            place = [i * s + j * d for i, s, j, d in zip(at, stride, k, dilate)]
            y[(slice(None), group * per + f, *place)] += data[(slice(None), c, *at)] * weight[(c, f, *k)]
    y = y[(..., *(slice(p, e - p) for p, e in zip(pad, reach)))]
    return y if bias is None or no_bias else y + bias.reshape(-1, *(1,) * n)


def windows(
    data: Any, kernel: Any, stride: Any, pad: Any, full: bool
) -> Iterator[tuple[tuple[int, ...], numpy.ndarray, int]]:
    """The place of each window, the data in it, and the number of its elements of data and padding."""
    n = data.ndim - 2
    kernel, stride, pad = per_axis(kernel, n, 1), per_axis(stride, n, 1), per_axis(pad, n, 0)
    more = [e + 2 * p - k for e, p, k in zip(data.shape[2:], pad, kernel)]
    counts = [(-(-m // s) if full else m // s) + 1 for m, s in zip(more, stride)]
    for at in itertools.product(*map(range, counts)):
        starts = [i * s - p for i, s, p in zip(at, stride, pad)]
        index = tuple(slice(max(b, 0), max(b + k, 0)) for b, k in zip(starts, kernel))
        padded = numpy.prod([min(b + k, e + p) - b for b, k, e, p in zip(starts, kernel, data.shape[2:], pad)])
        yield at, data[(..., *index)].reshape(*data.shape[:2], -1), int(padded)


def pooling(
    data: Any, kernel: Any = None, pool_type: str = "max", global_pool: bool = False,
    pooling_convention: str = "valid", stride: Any = None, pad: Any = None, p_value: int = 2,
    count_include_pad: bool = True,
) -> numpy.ndarray:  # fmt: skip
    """Window by window."""
    if global_pool:
        kernel, stride, pad = data.shape[2:], None, None
    kinds: dict[str, Callable[[Any, int], Any]] = {
        "max": lambda w, n: w.max(-1),
        "sum": lambda w, n: w.sum(-1),
        "avg": lambda w, n: w.sum(-1) / (n if count_include_pad else w.shape[-1]),
        "lp": lambda w, n: (abs(w) ** p_value).sum(-1) ** (1 / p_value),
    }
    found = list(windows(data, kernel, stride, pad, pooling_convention == "full"))
    counts = [i + 1 for i in found[-1][0]]
    y = numpy.zeros((*data.shape[:2], *counts), data.dtype)
    for at, window, n in found:
        y[(..., *at)] = kinds[pool_type](window, n)
    return y


def pool_results_and_gradients(
    x: numpy.ndarray, g: numpy.ndarray, y: numpy.ndarray, kernel: Any, stride: Any
) -> list[numpy.ndarray]:
    """Of windows along the last axes: the largest, g at the first elements not below y, the sums, g at all elements."""
    extents, counts = x.shape[-len(kernel) :], g.shape[-len(kernel) :]

    def places(shape: Any, step: Any) -> numpy.ndarray:
        at = numpy.indices(shape).reshape(len(shape), -1) * numpy.reshape(step, (-1, 1))
        return numpy.ravel_multi_index(tuple(at), extents)

    index = places(counts, stride)[:, None] + places(kernel, [1] * len(kernel))
    g, y = (a.reshape(-1, len(index)) for a in (g, y))
    windows = x.reshape(len(g), -1)[:, index]
    planes = numpy.arange(len(g))[:, None]
    largest = total = windows[..., 0]
    for a in numpy.moveaxis(windows[..., 1:], -1, 0):
        largest = numpy.where((largest >= a) | numpy.isnan(largest), largest, a)
        total = total + a
    first, everywhere = numpy.zeros((2, len(g), numpy.prod(extents)), x.dtype)
    at = numpy.argmax(~(windows < y[..., None]), -1)
    numpy.add.at(first, (planes, index[numpy.arange(len(index)), at]), g)
    numpy.add.at(everywhere, (planes[..., None], index), g[..., None])
    return [largest, first, total, everywhere]
