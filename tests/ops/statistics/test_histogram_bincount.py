"""Counts of integers: NumPy's histogram of integers of one byte, and refused arguments of bincount."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np

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
