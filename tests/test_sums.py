"""Sums and products start where NumPy's do, which zeros with a sign and complex numbers show."""

from __future__ import annotations

import numpy
import pytest

from cases.compare import same_bits
from forerun import np

SHAPES = [(1,), (3,), (300_000,), (2, 5), (5, 1), (1, 4), (2, 3, 4), (300, 700), (70_000, 2), (2, 70_000), (2, 0)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_zeros_have_numpys_sign(dtype: str, shape: tuple[int, ...], engine: str) -> None:
    """Nothing but -0.0 gives 0.0, wherever it lies."""
    x = numpy.full(shape, complex(-0.0, -0.0) if dtype.startswith("c") else -0.0, dtype)
    mine = np.array(x)
    for axis in (None, *range(len(shape))):
        want = numpy.asarray(x.sum(axis))
        assert not numpy.signbit(want.real).any()
        assert same_bits(mine.sum(axis).numpy(), want)
        assert same_bits((mine * 1).sum(axis).numpy(), want)
        assert same_bits(np.repeat(mine, 2, -1)[..., ::2].sum(axis).numpy(), want)
        assert same_bits(np.array(x.T).sum(axis).numpy(), numpy.asarray(x.T.sum(axis)))
        if 0 not in shape:
            assert same_bits(mine.mean(axis).numpy(), numpy.asarray(x.mean(axis)))


@pytest.mark.parametrize("number", [complex(numpy.inf, 1), complex(-0.0, 2), complex(0, -0.0), 2 - 3j], ids=str)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_products_of_complex_numbers_start_from_one(number: complex, n: int, engine: str) -> None:
    x = numpy.full((n, 3), number)
    for axis in (None, 0, 1):
        with numpy.errstate(all="ignore"):
            want = x.prod(axis)
        assert same_bits(np.array(x).prod(axis).numpy(), numpy.asarray(want))
