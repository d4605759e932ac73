"""`repeat` with a number for each position, beside NumPy."""

from __future__ import annotations

import numpy
import pytest

from forerun import np

GENERATOR = numpy.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(50,), (7, 50), (3, 50, 4), (2, 50, 1, 3)])
def test_axes_and_dtypes(shape: tuple[int, ...], dtype: str) -> None:
    x = (GENERATOR.standard_normal(shape) * 9).astype(dtype)
    for axis in range(len(shape)):
        counts = GENERATOR.integers(0, 5, shape[axis])
        found = np.repeat(np.array(x) + False, np.array(counts), axis)
        assert found.dtype == dtype
        assert numpy.array_equal(found.numpy(), numpy.repeat(x, counts, axis))
    counts = GENERATOR.integers(0, 5, x.size)
    assert numpy.array_equal(np.repeat(np.array(x) + False, counts).numpy(), numpy.repeat(x, counts))


@pytest.mark.parametrize("n", [4095, 4096, 4097, 100_000])
def test_pieces(n: int) -> None:
    """Also of views, and of positions without copies."""
    x, counts = GENERATOR.random(2 * n), GENERATOR.integers(0, 4, n)
    counts[n // 2 : n // 2 + n // 8] = 0
    assert numpy.array_equal(np.repeat(np.array(x)[::-2], np.array(counts)).numpy(), numpy.repeat(x[::-2], counts))
    table = x.reshape(2, n)
    found = np.repeat(np.array(table), np.array(counts, dtype="int32"), 1)
    assert numpy.array_equal(found.numpy(), numpy.repeat(table, counts, 1))
    assert numpy.array_equal(np.repeat(np.array(table.T), counts, 0).numpy(), numpy.repeat(table.T, counts, 0))


def test_many_short_rows() -> None:
    x = GENERATOR.random((50_000, 3))
    assert numpy.array_equal(np.repeat(np.array(x), [2, 0, 3], 1).numpy(), numpy.repeat(x, [2, 0, 3], 1))


def test_nothing_is_left() -> None:
    assert np.repeat(np.arange(3.0) * 1, np.array([0, 0, 0])).shape == (0,)
    assert np.repeat(np.zeros((3, 0)) * 1, [1, 0, 2], 0).shape == (3, 0)
    assert np.repeat(np.zeros((0, 3)) * 1, [1, 0, 2], 1).shape == (0, 3)


def test_counts_that_change_afterwards() -> None:
    """The numbers at the call are used."""
    counts = np.array([1, 2, 3])
    found = np.repeat(np.arange(3) * 1, counts)
    counts[:] = 9
    assert found.tolist() == [0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("counts", [[1, -1, 2], [1, 2], [0.5, 1.0, 1.0], [2**63 - 1, 2**63 - 1, 4], [2**62, 1, 0]])
def test_numbers_that_are_refused(counts: list[float]) -> None:
    with pytest.raises((ValueError, TypeError), match=r"repeat: repeats must"):
        np.repeat(np.arange(3) * 1, np.array(counts))
