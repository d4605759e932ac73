"""Distinct values of integers, by a table where they lie close together: NumPy's results."""

from __future__ import annotations

import itertools

import numpy
import pytest

from forerun import np
from forerun.ops.sort import unique

INTEGERS = "bBhHiIlL"


def bounds(dtype: str) -> dict[str, tuple[int, int]]:
    """The least and the largest of some values: close together at either end, around zero, equal, and far apart."""
    info = numpy.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    return {
        "largest": (high - 50, high), "least": (low, low + 90), "around zero": (max(low, -30), 60),
        "equal": (5, 5), "all": (low, high),
    }  # fmt: skip


@pytest.mark.parametrize("where", list(bounds("b")))
@pytest.mark.parametrize("dtype", INTEGERS)
def test_unique_integers_are_numpys(dtype, where):
    low, high = bounds(dtype)[where]
    a = numpy.random.default_rng(2).integers(low, high, (100, 50), dtype=numpy.dtype(dtype), endpoint=True)
    for wanted in itertools.product((False, True), repeat=3):
        found = np.unique(np.array(a), *wanted)
        expected = numpy.unique(a, *wanted)
        assert isinstance(found, tuple) == isinstance(expected, tuple)
        for result, numpy_result in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
            assert result.dtype == numpy_result.dtype
            assert result.tolist() == numpy_result.tolist()


def test_the_table_is_no_larger_than_a_few_arrays(monkeypatch):
    made = []
    counted = unique._counted
    monkeypatch.setattr(unique, "_counted", lambda *args: made.append(counted(*args)) or made[-1])
    a = numpy.arange(50_000)
    for last, table in ((64 * 50_000, True), (64 * 50_000 + 1, False)):
        a[-1] = last
        assert np.unique(np.array(a)).tolist() == a.tolist()
        assert (made.pop() is not None) == table
