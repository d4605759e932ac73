"""Histograms of integers of one byte and of floats, compared with NumPy's, and refused arguments of bincount."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import _core, np

RNG = numpy.random.default_rng(4)
LARGE = 50_001  # three times that is odd: one number is left when two are counted at once


def random_integers(dtype: str, low: int, high: int, size: Any = LARGE) -> numpy.ndarray:
    return RNG.integers(low, high, size, dtype=numpy.dtype(dtype))


@pytest.mark.parametrize("dtype", ["b", "h", "l"])
def test_bincount_refuses_negative_numbers(dtype):
    a = random_integers(dtype, 0, 100)
    a[7] = -3
    with pytest.raises(ValueError, match="bincount: numbers must not be negative, got -3"):
        np.bincount(np.array(a))


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("range", [None, (0, 256), (-20.5, 99.25), (3, 3)])
@pytest.mark.parametrize("bins", [10, 256, 7, [0, 1.5, 80, 200]])
@pytest.mark.parametrize(("dtype", "low", "high"), [("B", 0, 256), ("b", -128, 128), ("B", 9, 10), ("b", -5, 60)])
def test_histogram_of_bytes(dtype, low, high, bins, range, density):
    if density and range == (3, 3) and low > 3:
        return  # NumPy divides by nothing, and warns
    a = random_integers(dtype, low, high, (3, LARGE))
    counts, edges = np.histogram(np.array(a), bins, range, density)
    wanted, ends = numpy.histogram(a, bins, range, density)
    numpy.testing.assert_array_equal(counts.asnumpy(), wanted.astype(counts.dtype))
    assert counts.dtype == (np.array(0.5).dtype if density else wanted.dtype)
    assert edges.tolist() == ends.astype(edges.dtype).tolist()


FLOATS = {
    "normal": RNG.normal(size=LARGE), "on edges": RNG.integers(0, 50, LARGE) * 0.1,
    "beside edges": numpy.nextafter(numpy.arange(LARGE) % 100 * 0.01, RNG.integers(0, 2, LARGE)),
    "far apart": RNG.standard_cauchy(LARGE), "equal": numpy.full(LARGE, 3.25),
    "several blocks": RNG.random((3, 50_000)),
}  # fmt: skip


@pytest.mark.parametrize("range", [None, (0.0, 1.0), (-4, 2.5), (2.0, 2.0), (numpy.float64(0.1), numpy.float64(0.9))])
@pytest.mark.parametrize("weights", [None, "float32", "float64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_histogram_of_floats_has_numpys_bits(dtype, weights, range):
    """Also of numbers on an edge or next to it, and of sums of weights, whose order is NumPy's."""
    for name, numbers in FLOATS.items():
        a = numbers.astype(dtype)
        w = None if weights is None else RNG.random(a.shape).astype(weights)
        for bins in (1, 7, 100, 1000):
            counts, edges = np.histogram(np.array(a), bins, range, weights=None if w is None else np.array(w))
            wanted, ends = numpy.histogram(a, bins, range, weights=w)
            assert (counts.dtype, edges.dtype) == (wanted.dtype, ends.dtype), (name, bins)
            assert (counts.tolist(), edges.tolist()) == (wanted.tolist(), ends.tolist()), (name, bins)


def test_density_of_floats():
    a = FLOATS["normal"]
    density, _ = np.histogram(np.array(a), 50, density=True)
    assert density.tolist() == numpy.histogram(a, 50, density=True)[0].astype(density.dtype).tolist()


def test_numbers_that_are_in_no_bin():
    a = numpy.array([numpy.nan, -1.0, 0.0, 0.25, 1.0, 1.5, numpy.inf] * 1000)
    assert np.histogram(np.array(a), 2, (0, 1))[0].tolist() == [2000, 1000]
    with pytest.raises(ValueError, match="finite"):
        np.histogram(np.array(a), 2)[0].tolist()


def test_counts_and_edges_must_belong_together():
    x, edges = numpy.zeros(3), numpy.array([0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="one edge more than results, got 3 and 5"):
        _core.count_in_bins(x, edges, 2.0, numpy.zeros(5, "int64"))
    with pytest.raises(ValueError, match="a weight for each number, got 2 for 3"):
        _core.count_in_bins(x, edges, 2.0, numpy.zeros(2), numpy.zeros(2))


@pytest.mark.parametrize("extent", [1, 7, 4000, 50_000])
@pytest.mark.parametrize("n", [0, 1, 999, 40_001])
def test_bincount_has_numpys_bits(n: int, extent: int) -> None:
    """Counts of few numbers are in two lists, and sums of weights in the order of the numbers."""
    rng = numpy.random.default_rng(n + extent)
    x, weights = rng.integers(0, extent, n), rng.random(n)
    for dtype in ("int64", "int32", "uint8"):
        values = x.astype(dtype)
        assert np.bincount(np.array(values)).tolist() == numpy.bincount(values).tolist()
    want = numpy.bincount(x, weights, minlength=3)
    got = np.bincount(np.array(x), np.array(weights), minlength=3)
    assert got.numpy().tobytes() == want.tobytes()


def test_bincount_takes_numbers_that_int64_can_hold() -> None:
    x = numpy.ones(LARGE, "uint64")
    assert np.bincount(np.array(x)).tolist() == [0, LARGE]
    x[5] = 2**63 + 1
    with pytest.raises(ValueError, match="bincount: numbers must fit into int64, got 9223372036854775809"):
        np.bincount(np.array(x))
