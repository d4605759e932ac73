"""Reductions, scans, positions of extremes, and matrix products as modules, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun._pjrt.emit import emit
from tests.support.device_plugins.pjrt_plugin import Plugin, dtype_of
from tests.support.device_plugins.pjrt_specs import assert_same, compute, empty_array, run_op, spec, storage

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")

AXES: list[tuple[int, ...]] = [(0,), (1,), (2,), (0, 2), (0, 1, 2), ()]


def reduce_samples(dtype: str, shape: tuple[int, ...] = (3, 4, 5), nan: bool = False) -> Any:
    rng = numpy.random.default_rng(1)
    x = rng.standard_normal(shape) * 10
    if nan:
        x[0, 1, 2] = x[1, 1, 3] = numpy.nan
        x[2, 0, 0], x[2, 3, 1] = numpy.inf, -numpy.inf
    if dtype == "bool":
        return x > 0
    if dtype[:7] == "complex":
        return (numpy.round(x) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (abs(x) if dtype[0] == "u" else x).astype(dtype_of(dtype))


EXACT = {
    "add": ("int8", "int64", "uint32"), "multiply": ("int32", "uint8"),
    "maximum": ("bool", "int8", "uint64", "float32", "float16", "complex64"),
    "minimum": ("bool", "int8", "uint64", "float32", "bfloat16", "complex64"),
    "fmax": ("float64", "int32"), "fmin": ("float32",),
    "logical_and": ("bool", "float32"), "logical_or": ("bool", "int8"), "logical_xor": ("bool", "float64"),
    "bitwise_and": ("int8", "uint16"), "bitwise_or": ("int32",), "bitwise_xor": ("uint64", "bool"),
}  # fmt: skip
CASES = [(name, dtype) for name, dtypes in EXACT.items() for dtype in dtypes]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_exact_reductions_are_numpys(plugin: Plugin, name: str, dtype: str) -> None:
    x = reduce_samples(dtype, nan=dtype[0] == "f")
    for axes in AXES:
        expected = numpy.asarray(getattr(numpy, name).reduce(x, axes, dtype=None if name[:3] == "log" else x.dtype))
        got = compute(plugin, "reduce", name, [x], expected.shape, expected.dtype.name, axes=axes)
        assert_same(got, expected)
    kept = getattr(numpy, name).reduce(x, 1, keepdims=True, dtype=expected.dtype)
    got = compute(plugin, "reduce", name, [x[:, ::-1].transpose(2, 1, 0)], (5, 1, 3), kept.dtype.name, axes=(1,))
    assert_same(got, numpy.ascontiguousarray(kept.T.reshape(5, 1, 3)).astype(got.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["add", "multiply"])
def test_sums_and_products_are_within_rounding(plugin: Plugin, name: str, dtype: str) -> None:
    """A unit of the sum of absolute values for each factor of two in the number of elements, of a float32's in sums."""
    x = reduce_samples(dtype, (40, 50)) / dtype_of(dtype).type(8)
    for axes in [(0,), (1,), (0, 1)]:
        wide = x.astype("complex128" if dtype[0] == "c" else "float64")
        wide = wide if name == "add" else numpy.where(abs(wide) > 1, 1 + wide / 100, 1)
        given = wide.astype(x.dtype)
        wide = given.astype(wide.dtype)
        exact = getattr(numpy, name).reduce(wide, axes)
        size = numpy.add.reduce(abs(wide), axes) if name == "add" else abs(exact) * 20
        got = compute(plugin, "reduce", name, [given], exact.shape, dtype, axes=axes).astype(wide.dtype)
        unit = {"float16": 2**-10, "bfloat16": 2**-7, "float64": 2**-52, "complex128": 2**-52}.get(dtype, 2**-23)
        assert (abs(got - exact) <= 8 * unit * size).all()


def test_reduction_in_another_dtype(plugin: Plugin) -> None:
    x = reduce_samples("int8")
    got = compute(plugin, "reduce", "add", [x], (3, 5), "int64", axes=(1,), accumulate="int64")
    assert_same(got, x.sum(1))
    empty = numpy.zeros((3, 0), "float32")
    assert_same(compute(plugin, "reduce", "add", [empty], (3,), "float32", axes=(1,)), empty.sum(1))
    assert emit(spec("reduce", "arctan2", [x], [empty_array((3, 5), "int8")], axes=(1,))) is None


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float16", "complex64"])
def test_scans(plugin: Plugin, name: str, dtype: str) -> None:
    x = reduce_samples(dtype, (3, 11), nan=False) / (1 if dtype in ("int32", "uint8") else 8)
    x = x.astype(dtype)
    for axis in (0, 1):
        expected = getattr(numpy, name).accumulate(x, axis, dtype=x.dtype)
        got = compute(plugin, "scan", name, [x], x.shape, dtype, axis=axis)
        if dtype in ("int32", "uint8") or (name[0] == "m" and name != "multiply"):
            assert_same(got, expected)
        else:
            numpy.testing.assert_allclose(got, expected, rtol=2e-2 if dtype == "float16" else 1e-5, atol=1e-3)
    got = compute(plugin, "cumulative", name, [x[:, :0]], (3, 0), dtype, axis=1)
    assert got.shape == (3, 0)


def test_counts(plugin: Plugin) -> None:
    x = reduce_samples("int8") % 3
    for axes in [None, (0,), (1, 2)]:
        expected = numpy.asarray(numpy.count_nonzero(x, axes))
        assert_same(compute(plugin, "count_nonzero", "", [x], expected.shape, "int64", axes=axes), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float16", "complex64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(plugin: Plugin, name: str, dtype: str) -> None:
    for nan in (False, True):
        x = reduce_samples(dtype, nan=nan) if dtype[0] in "bfc" or not nan else reduce_samples(dtype)
        x = numpy.where(numpy.isnan(x), x, numpy.sign(x)) if dtype[0] == "f" else x  # many are equal
        x = x.astype(dtype)
        for axis in (None, 0, 1, 2):
            expected = numpy.asarray(getattr(numpy, name)(x, axis))
            got = compute(plugin, "argreduce", name, [x], expected.shape, "int64", axis=axis)
            assert_same(got, expected)
    least = numpy.full(3, -numpy.inf, "float32")
    assert compute(plugin, "argreduce", "argmax", [least], (), "int64", axis=0) == 0


@pytest.mark.parametrize(
    "dtype", ["int8", "uint32", "int64", "bool", "float32", "float64", "float16", "bfloat16", "complex64"]
)
def test_products(plugin: Plugin, dtype: str) -> None:
    a, c = reduce_samples(dtype, (2, 3, 4)), reduce_samples(dtype, (2, 4, 5))
    turned = reduce_samples(dtype, (5, 4)).T
    grid = numpy.broadcast_to(a[:, None], (2, 3, 3, 4)), numpy.broadcast_to(c, (2, 2, 4, 5))[:, :1].repeat(3, 1)
    pairs = [(a[0], c[0]), (a, c), (a[0, ::-1], turned[:, ::2]), (a, numpy.broadcast_to(turned, (2, 4, 5))), grid]
    pairs += [(numpy.broadcast_to(a[0], (2, 3, 4)), c), (a[0, :1], c[0]), (a[0, :, :0], c[0, :0])]
    wide = "complex128" if dtype[0] == "c" else "float64" if dtype[0] in "fb" else dtype
    for x, y in pairs:
        expected = numpy.matmul(x.astype(wide), y.astype(wide))
        got = compute(plugin, "matmul", "", [x, y], expected.shape, dtype)
        if dtype[0] in "ui":
            assert_same(got, expected)
        elif dtype == "bool":
            assert_same(got, expected != 0)
        else:
            unit = {"float16": 2**-10, "bfloat16": 2**-7, "float64": 2**-52}.get(dtype, 2**-23)
            size = numpy.matmul(abs(x).astype(wide), abs(y).astype(wide)).real
            assert (abs(got.astype(wide) - expected) <= 2 * unit * size).all()


def test_reduction_into_a_part(plugin: Plugin) -> None:
    x, out = reduce_samples("int32", (4, 5)), numpy.full((4, 3), 7, "int32")
    (got,) = run_op(plugin, "reduce", "add", [x], [out[:, 1]], update=True, axes=(1,))
    out[:, 1] = x.sum(1)
    assert_same(got, storage(out))
