"""clip, arange and bins that NumPy's rules estimate: they have NumPy's meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, np
from tests.support.comparison.outcomes import values_or_error

X = [1, 5, 9]


CLIPS: list[Callable[[Any, Any], Any]] = [
    lambda m, x: m.clip(x, 2, 6),
    lambda m, x: m.clip(x, None, 6),
    lambda m, x: m.clip(x, 2, None),
    lambda m, x: m.clip(x),
    lambda m, x: m.clip(x, min=2),
    lambda m, x: m.clip(x, max=6, min=2),
    lambda m, x: m.clip(x, a_min=2, a_max=6),
    lambda m, x: m.clip(x, 2, 6, min=3),
    lambda m, x: m.clip(x, 2, 6, max=3),
    lambda m, x: m.clip(x, 2, 6, dtype="float64"),
    lambda m, x: m.clip(x, dtype="float64"),
    lambda m, x: m.clip(x, 2, 6, out=m.zeros(3, "int64"), where=m.asarray([True, False, True])),
    lambda m, x: m.clip(x, None, 6, out=m.zeros(3, "int64"), where=m.asarray([True, False, True])),
    lambda m, x: m.clip(x, 2.5, 6, out=m.zeros(3, "int64"), casting="unsafe"),
    lambda m, x: m.clip(x, m.asarray([2.5]), 6, out=m.zeros(3, "int64")),
    lambda m, x: m.clip(x, 2, 6, foo=1),
    lambda m, x: m.clip(x, 2, 6, order="Q"),
    lambda m, x: m.clip(x, m.asarray([[2], [3]]), 6, subok=False),
    lambda m, x: x.clip(2, 6, dtype="float64"),
    lambda m, x: x.clip(max=6),
]


@pytest.mark.parametrize("call", CLIPS)
def test_clip(call):
    got, want = (values_or_error(lambda m=m: call(m, m.asarray(X))) for m in (np, numpy))
    # A lower bound that is named twice is an argument that is given twice, as the standard calls it min.
    assert got == want or {got, want} == {TypeError, ValueError}


def test_clip_refuses_a_bound_by_both_names():
    with pytest.raises(ValueError, match="must not both be given"):
        np.clip(np.array(X), min=2, a_min=2)


def test_clip_with_keywords_has_gradients():
    x = np.array([1.0, 5.0, 9.0])
    x.attach_grad()
    with autograd.record():
        y = np.clip(x, 2, 6, dtype="float64")
    y.backward()
    assert x.grad.tolist() == [0, 1, 0]


RANGES: list[Callable[[Any], Any]] = [
    lambda m: m.arange(3),
    lambda m: m.arange(1, 7, 2),
    lambda m: m.arange(7, 1, -2, "int8"),
    lambda m: m.arange(start=1, stop=3),
    lambda m: m.arange(stop=3),
    lambda m: m.arange(0, None, 2),
    lambda m: m.arange(5, None, 2),
    lambda m: m.arange(3, step=None),
    lambda m: m.arange(0, 2, dtype=bool),
    lambda m: m.arange(0, 3, dtype=bool),
    lambda m: m.arange(),
    lambda m: m.arange(None),
    lambda m: m.arange("a"),
    lambda m: m.arange(float("nan")),
    lambda m: m.arange(0, 3, 0),
    lambda m: m.arange(m.asarray(3)),
    lambda m: m.arange(m.asarray([3])),
    lambda m: m.arange(3, device="nowhere"),
]


@pytest.mark.parametrize("call", RANGES)
def test_arange(call):
    assert values_or_error(lambda: call(np)) == values_or_error(lambda: call(numpy))


# --- bins -----------------------------------------------------------------------------------------

VALUES = numpy.random.default_rng(3).normal(size=200)


@pytest.mark.parametrize("rule", ["auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"])
@pytest.mark.parametrize("limits", [None, (-1, 1)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_bins_that_rules_find(dtype, limits, rule):
    values = (VALUES * (9 if dtype == "int64" else 1)).astype(dtype)
    counts, edges = np.histogram(np.array(values), rule, limits)
    want_counts, want_edges = numpy.histogram(values, rule, limits)
    assert counts.tolist() == want_counts.tolist()
    numpy.testing.assert_allclose(edges.numpy(), want_edges, rtol=1e-6)
    numpy.testing.assert_allclose(np.histogram_bin_edges(np.array(values), rule, limits).numpy(), want_edges, rtol=1e-6)


def test_bins_of_empty_data():
    assert np.histogram(np.array([]), "fd")[0].tolist() == [0]
    assert np.histogram(np.array([], "bfloat16"), "auto")[0].tolist() == [0]
