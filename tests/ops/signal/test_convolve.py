"""Convolution and correlation of large vectors with short ones, which a kernel of their own does."""

from __future__ import annotations

import numpy
import pytest

import forerun
from forerun import autograd, np

GENERATOR = numpy.random.default_rng(38)
FUNCTIONS = ("convolve", "correlate")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 31, 32, 33])
@pytest.mark.parametrize("n", [9000, 70_001])
def test_sums_of_neighbours(dtype: str, k: int, n: int) -> None:
    x, w = ((GENERATOR.standard_normal(size) * 9).astype(dtype) for size in (n, k))
    near = {"rtol": 1e-3, "atol": 1e-3} if dtype.endswith(("32", "64")) and dtype[0] in "fc" else {}
    for name in FUNCTIONS:
        for mode in ("full", "same", "valid"):
            for a, b in ((x, w), (w, x), (x[::2], w[::-1]), (x[::-1], w)):
                got = getattr(np, name)(np.array(a), np.array(b), mode)
                want = getattr(numpy, name)(a, b, mode)
                assert got.dtype == want.dtype
                numpy.testing.assert_allclose(got.numpy(), want, **near)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_do_not_depend_on_timing(name: str) -> None:
    x, w = GENERATOR.standard_normal(100_000), GENERATOR.standard_normal(7)
    found = getattr(np, name)(np.array(x) + 0, np.array(w) + 0, "same").numpy()
    forerun.waitall()
    assert numpy.array_equal(getattr(np, name)(np.array(x), np.array(w), "same").numpy(), found)


def test_gradients_of_a_large_vector_and_its_weights() -> None:
    x, w = np.array(GENERATOR.standard_normal(20_000)), np.array([1.0, -2.0, 0.5], "float64")
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        total = (np.convolve(x, w, "valid") ** 2).sum()
    total.backward()
    y = 2 * numpy.convolve(x.numpy(), w.numpy(), "valid")
    numpy.testing.assert_allclose(x.grad.numpy(), numpy.correlate(y, w.numpy(), "full"))
    numpy.testing.assert_allclose(w.grad.numpy(), numpy.correlate(x.numpy(), y, "valid")[::-1])
