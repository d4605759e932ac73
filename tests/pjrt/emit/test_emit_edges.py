"""Element-wise operations at the edges: infinities, NaN, zeros of both signs, the least integers, branch cuts."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest

from forerun._pjrt import accuracy
from tests.support.comparison.nearness import close_elements
from tests.support.device_plugins.pjrt_plugin import Plugin
from tests.support.device_plugins.pjrt_specs import compute

INF, NAN = float("inf"), float("nan")
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 100.0, -100.0, 1e5, -1e5, INF, -INF]
UNARY = [
    "absolute", "sign", "reciprocal", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
    "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "square", "conjugate",
]  # fmt: skip


def numbers(parts: list[float], dtype: str) -> Any:
    """All complex numbers of these parts."""
    return numpy.array([complex(x, y) for x, y in itertools.product(parts, repeat=2)]).astype(dtype)


def assert_edges(plugin: Plugin, name: str, *inputs: Any, signs: bool = False) -> None:
    """Assert that a function gives NumPy's results. signs: those of zeros are compared, too."""
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(*inputs)
    dtypes = [x.dtype.name for x in inputs]
    got = compute(
        plugin, "elementwise", name, inputs, inputs[0].shape, want.dtype.name, types=(*dtypes, want.dtype.name)
    )
    same = close_elements(got, want)
    if signs:
        same &= numpy.signbit(got) == numpy.signbit(want)
    wrong = numpy.flatnonzero(~same)
    assert not len(wrong), [(*(x[i] for x in inputs), "gives", got[i], "not", want[i]) for i in wrong[:5]]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_complex_numbers(plugin: Plugin, name: str) -> None:
    assert_edges(plugin, name, numbers(PARTS, ["complex64", "complex128"][UNARY.index(name) % 2]))


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "log1p", "sqrt"])
def test_digits_near_branch_points_and_far_away(plugin: Plugin, name: str) -> None:
    """NumPy's own log1p loses digits, so that of wider numbers is compared."""
    steps = [0.0, 1e-300, 1e-30, 1e-9, 1e-3, 0.3]
    parts = [p + s for p in (0.0, 1.0) for s in steps] + [1 - 1e-9, 1e10, 1e150, 1e300]
    values = numbers(parts + [-p for p in parts], "complex128")
    values = values[abs(values) > 1e-290]
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(values.astype("clongdouble"))
    types = ("complex128",) * 2
    got = compute(plugin, "elementwise", name, [values], values.shape, "complex128", types=types)
    keep = numpy.isfinite(want) & (abs(want) > 1e-290) & ((abs(values) > 1e-3) | (name != "log1p"))
    off = abs(got[keep] - want[keep]) / abs(want[keep])
    assert off.max() < 1e-14, values[keep][off.argmax()]
    assert (numpy.isfinite(got) == numpy.isfinite(want)).all()


@pytest.mark.parametrize("name", ["multiply", "divide", "power"])
def test_pairs_of_complex_numbers(plugin: Plugin, name: str) -> None:
    values = numbers([0.0, -0.0, 1.0, -2.0, 0.5], "complex64")
    assert_edges(plugin, name, numpy.repeat(values, values.size), numpy.tile(values, values.size))


def test_a_part_that_is_nan(plugin: Plugin) -> None:
    """No function forgets it."""
    values = numpy.array([complex(NAN, 1), complex(1, NAN), complex(NAN, NAN)])
    for name in UNARY:
        out = "float64" if name == "absolute" else "complex128"
        got = compute(plugin, "elementwise", name, [values], values.shape, out, types=("complex128", out))
        assert numpy.isnan(got).all(), name


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_integers(plugin: Plugin, dtype: str) -> None:
    limits = numpy.iinfo(dtype)
    values = numpy.array([0, 1, 2, 3, 7, 100, limits.max, limits.max - 1, limits.max // 2, limits.min], dtype)
    x, y = numpy.repeat(values, values.size), numpy.tile(values, values.size)
    keep = y >= 0
    assert_edges(plugin, "power", x[keep], y[keep])
    for name in ("gcd", "lcm"):
        assert_edges(plugin, name, x, y)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_real_functions_beyond_their_domain(plugin: Plugin, dtype: str) -> None:
    values = numpy.array([0.0, -0.0, 1, -1, 0.99, 2, -2, 1e4, -1e4, 6e4, -6e4, INF, -INF, NAN]).astype(dtype)
    for name in ("arccosh", "arctanh", "arcsin", "arccos", "log", "log1p", "log2", "sqrt"):
        assert_edges(plugin, name, values)
    known = values[~numpy.isnan(values)]
    for name in ("sign", "arcsinh", "sinh", "tanh", "trunc", "rint", "cbrt"):
        assert_edges(plugin, name, known, signs=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_the_smallest_numbers_are_true(plugin: Plugin, dtype: str) -> None:
    least = numpy.finfo(dtype).smallest_subnormal
    values = numpy.array([0, -0.0, least, -least, NAN, 1], dtype)
    got = compute(plugin, "copy", "", [values], values.shape, "bool")
    assert got.tolist() == values.astype(bool).tolist()


def test_erfc_is_accurate_for_small_results(plugin: Plugin) -> None:
    x = numpy.linspace(-6, 25, 5001)
    want = numpy.array([math.erfc(v) for v in x])
    got = compute(plugin, "elementwise", "erfc", [x], x.shape, "float64", types=("float64",) * 2)
    assert (abs(got - want) / numpy.spacing(want)).max() <= accuracy.bound("erfc", "float64")
