"""Sorting by counting and by digits, and of lines side by side: NumPy's results for all integers."""

from __future__ import annotations

import itertools

import numpy
import pytest
from numpy.testing import assert_array_equal

from forerun import np
from tests.support.many_cases import for_each

GENERATOR = numpy.random.default_rng(35)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@for_each(
    "span, n",
    itertools.product([0, 1, 100, 3000, 70_000, 2**23, 2**31, 2**40, 2**63], [1, 127, 128, 129, 5000, 70_000]),
)
def test_integers_of_any_range(dtype: str, span: int, n: int) -> None:
    info = numpy.iinfo(dtype)
    for low in (int(info.min), 0, max(int(info.min), int(info.max) - span)):
        high = min(int(info.max), low + span)
        values = GENERATOR.integers(low, high, n, dtype, endpoint=True)
        x = np.array(values)
        assert_array_equal(np.sort(x).numpy(), numpy.sort(values), strict=True)
        assert_array_equal(np.argsort(x).numpy(), numpy.argsort(values, kind="stable"), strict=True)
        assert_array_equal(x.numpy(), values, strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("shape", [(3, 5), (40, 33), (7, 20, 9), (300, 300)])
def test_lines_that_lie_side_by_side(dtype: str, shape: tuple[int, ...]) -> None:
    values = (GENERATOR.standard_normal(shape) * 50).astype(dtype)
    for axes in itertools.permutations(range(len(shape))):
        numpy_array, array = values.transpose(axes), np.array(values).transpose(axes)
        for axis, step in itertools.product(range(len(shape)), (1, 2, -1)):
            numpy.testing.assert_array_equal(
                np.sort(array[::step], axis).numpy(), numpy.sort(numpy_array[::step], axis)
            )
            found = np.argsort(array[::step], axis)
            numpy.testing.assert_array_equal(found.numpy(), numpy.argsort(numpy_array[::step], axis, kind="stable"))


def test_nan_are_last_in_their_order() -> None:
    values = numpy.where(GENERATOR.random(5000) < 0.3, numpy.nan, GENERATOR.integers(0, 9, 5000))
    assert np.argsort(np.array(values)).tolist() == numpy.argsort(values, kind="stable").tolist()
