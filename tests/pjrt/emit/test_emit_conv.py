"""Convolutions, pooling and sorting as modules, against loops in NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

from tests.support.comparison.conv_pool_reference import convolution
from tests.support.comparison.random_arrays import normal_array
from tests.support.device_plugins.pjrt_plugin import Plugin, dtype_of
from tests.support.device_plugins.pjrt_specs import assert_same, compute

# Of the data, the weight; groups, stride, dilate, pad.
CASES = {
    "line": ((2, 3, 9), (4, 3, 3), 1, (1,), (1,), (1,)),
    "line with steps": ((2, 3, 10), (4, 3, 3), 1, (2,), (2,), (2,)),
    "image": ((2, 3, 6, 7), (4, 3, 3, 2), 1, (1, 1), (1, 1), (1, 0)),
    "image with steps": ((2, 4, 8, 9), (6, 2, 3, 3), 2, (2, 3), (1, 2), (1, 2)),
    "channel by channel": ((1, 4, 5, 5), (8, 1, 2, 2), 4, (1, 1), (1, 1), (0, 0)),
    "points": ((2, 3, 4, 4), (5, 3, 1, 1), 1, (2, 2), (1, 1), (0, 0)),
    "much padding": ((1, 1, 3, 3), (1, 1, 2, 2), 1, (1, 1), (1, 1), (3, 2)),
    "volume": ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), 1, (1, 2, 1), (1, 1, 2), (0, 1, 1)),
}


def close(got: Any, expected: Any) -> None:
    unit = {"float16": 2**-10, "bfloat16": 2**-7, "float64": 2**-50}.get(got.dtype.name, 2**-21)
    assert got.shape == expected.shape
    assert (abs(got.astype("float64") - expected) <= 4 * unit * (1 + abs(expected).max(initial=0))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("case", CASES)
def test_convolutions_and_their_gradients(plugin: Plugin, case: str, dtype: str) -> None:
    x_shape, w_shape, groups, stride, dilate, pad = CASES[case]
    window = {"kernel": w_shape[2:], "stride": stride, "dilate": dilate, "pad": pad, "groups": groups}
    x, w = normal_array(x_shape, 1, dtype_of(dtype)), normal_array(w_shape, 2, dtype_of(dtype))
    wide = [v.astype("float64") for v in (x, w)]
    expected = convolution(*wide, stride=stride, dilate=dilate, pad=pad, num_group=groups)
    close(compute(plugin, "conv", "", [x, w], expected.shape, dtype, **window), expected)
    g = normal_array(expected.shape, 3, dtype_of(dtype))
    # A convolution is linear in both: its gradients by unit vectors.
    of_x, of_w = numpy.zeros(x_shape), numpy.zeros(w_shape)
    for of, other, first in ((of_x, wide[1], True), (of_w, wide[0], False)):
        for at in itertools.islice(numpy.ndindex(of.shape), 0, None, 7):
            unit = numpy.zeros(of.shape)
            unit[at] = 1
            pair = (unit, other) if first else (other, unit)
            y = convolution(*pair, stride=stride, dilate=dilate, pad=pad, num_group=groups)
            of[at] = (y * g.astype("float64")).sum()
    back = compute(plugin, "conv_back", "", [g, w], x_shape, dtype, **window)
    close(numpy.where(of_x != 0, back, 0).astype(back.dtype), of_x)
    weight = compute(plugin, "conv_weight", "", [g, x], w_shape, dtype, **window)
    close(numpy.where(of_w != 0, weight, 0).astype(back.dtype), of_w)
    parts = compute(plugin, "conv_weight", "", [g, x], (3, *w_shape), dtype, **window)
    assert_same(parts.astype("float64").sum(0), weight.astype("float64"))


def test_convolution_of_no_examples(plugin: Plugin) -> None:
    window = {"kernel": (2,), "stride": (1,), "dilate": (1,), "pad": (0,), "groups": 1}
    x, w = normal_array((0, 2, 5), 1, "float32"), normal_array((3, 2, 2), 2, "float32")
    assert compute(plugin, "conv", "", [x, w], (0, 3, 4), "float32", **window).shape == (0, 3, 4)
    assert not compute(
        plugin, "conv_weight", "", [normal_array((0, 3, 4), 1, "float32"), x], w.shape, "float32", **window
    ).any()


POOLS = {
    "line": ((3, 9), (2,), (2,)), "image": ((2, 6, 8), (2, 2), (2, 2)), "overlapping": ((2, 7, 7), (3, 3), (2, 2)),
    "with gaps": ((2, 7, 8), (2, 1), (3, 2)), "volume": ((2, 4, 5, 6), (2, 2, 3), (1, 2, 3)),
    "large": ((2, 19, 10), (9, 10), (9, 1)),
}  # fmt: skip


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("case", POOLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pooling_and_its_gradient(plugin: Plugin, case: str, largest: bool, dtype: str) -> None:
    shape, kernel, stride = POOLS[case]
    x = numpy.round(normal_array(shape, 1, dtype_of(dtype)) * 2)  # many are equal
    counts = tuple((n - k) // s + 1 for n, k, s in zip(shape[1:], kernel, stride))
    expected, back = numpy.zeros((shape[0], *counts), dtype), numpy.zeros(shape, dtype)
    g = numpy.round(normal_array(expected.shape, 2, dtype_of(dtype)) * 8)
    for plane, *at in numpy.ndindex(expected.shape):
        index = (plane, *(slice(i * s, i * s + k) for i, s, k in zip(at, stride, kernel)))
        expected[(plane, *at)] = x[index].max() if largest else x[index].sum()
        if largest:
            first = numpy.unravel_index(x[index].argmax(), kernel)
            back[(plane, *(s.start + f for s, f in zip(index[1:], first)))] += g[(plane, *at)]
        else:
            back[index] += g[(plane, *at)]
    window = {"kernel": kernel, "stride": stride, "largest": largest}
    y = compute(plugin, "pool", "", [x], expected.shape, dtype, **window)
    assert_same(y, expected)
    inputs = [g, x, y] if largest else [g]
    assert_same(compute(plugin, "pool_back", "", inputs, shape, dtype, **window), back)


def test_nan_is_the_largest_of_its_window(plugin: Plugin) -> None:
    x = numpy.array([[1, numpy.nan, 3, 4]], "float32")
    got = compute(plugin, "pool", "", [x], (1, 2), "float32", kernel=(2,), stride=(2,), largest=True)
    assert_same(got, numpy.array([[numpy.nan, 4]], "float32"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sorting(plugin: Plugin, dtype: str, axis: int) -> None:
    x = numpy.round(normal_array((7, 9), 1) * 2)
    if dtype[0] in "fbc" and dtype != "bool":
        x[numpy.random.default_rng(2).random(x.shape) < 0.3] = numpy.nan
    if dtype == "complex64":
        x = x + 1j * x.T.reshape(x.shape)
    x = (numpy.abs(x) if dtype[0] == "u" else x).astype(dtype_of(dtype))
    wide = x.astype("float32") if dtype == "bfloat16" else x  # whose NaNs NumPy leaves where they are
    expected = numpy.sort(wide, axis).astype(x.dtype)
    assert_same(compute(plugin, "sort", "", [x], x.shape, dtype, axis=axis), expected)
    expected = numpy.argsort(wide, axis, kind="stable")
    assert_same(compute(plugin, "argsort", "", [x], x.shape, "int64", axis=axis), expected)
    empty = x[:, :0]
    assert compute(plugin, "sort", "", [empty], (7, 0), dtype, axis=1).shape == (7, 0)
