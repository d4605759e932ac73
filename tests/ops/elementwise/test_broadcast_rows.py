"""Arithmetic of rows with one value for each of them, or with one row for all, and copies of rows: NumPy's bits."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.comparison.bits import same_bits

RNG = numpy.random.default_rng(5)
OPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
}  # fmt: skip
LENGTHS = [1, 3, 16, 17, 64, 131]
# Operands beside an array of 5 planes of 7 rows.
BESIDE: dict[str, Callable[[int], tuple[int, ...]]] = {
    "a value for each row": lambda n: (5, 7, 1),
    "a value for each plane": lambda n: (5, 1, 1),
    "one row": lambda n: (n,),
    "a row for each plane": lambda n: (5, 1, n),
    "a plane": lambda n: (7, n),
}
# Views of an array of 10 planes of 14 rows that have 5 planes of 7 rows.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x[:5, :7] * 1,
    "cut": lambda x: x[3:8, 2:9],
    "every second": lambda x: x[::2, ::2],
    "backwards": lambda x: x[9::-2, 13::-2],
    "turned": lambda x: x[:7, :5].transpose(1, 0, 2),
    "elements apart": lambda x: x.repeat(2, -1)[:5, :7, ::2],
}


def special_values(shape: tuple[int, ...], dtype: str) -> numpy.ndarray:
    """Numbers, zeros of both signs, infinities; NaN comes of them."""
    x = RNG.normal(size=shape)
    for special in (0.0, -0.0, numpy.inf, -numpy.inf):
        x[RNG.random(size=shape) < 0.03] = special
    return x.astype(dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits(dtype: str, beside: str, view: str, engine: str) -> None:
    for n in LENGTHS:
        whole, other = special_values((10, 14, n), dtype), special_values(BESIDE[beside](n), dtype)
        numpy_array, array, b = VIEWS[view](whole), VIEWS[view](np.array(whole)), np.array(other)
        for f in OPS.values():
            assert same_bits(f(array, b).numpy(), f(numpy_array, other))
            assert same_bits(f(b, array).numpy(), f(other, numpy_array))
            result, want = (f(f(x, y) * x - x, y) for x, y in ((array, b), (numpy_array, other)))
            assert same_bits(result.numpy(), want)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_of_rows_with_columns_and_broadcast_views(dtype: str, engine: str) -> None:
    for n in LENGTHS:
        column, row = special_values((9, 1), dtype), special_values((n,), dtype)
        a, b = np.array(column), np.array(row)
        for f in OPS.values():
            assert same_bits(f(a, b).numpy(), f(column, row))
            assert same_bits(f(b, a).numpy(), f(row, column))
        wide = numpy.broadcast_to(column, (9, n))
        assert same_bits(np.square(np.broadcast_to(a, (9, n))).numpy(), numpy.square(wide))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_in_place(dtype: str, engine: str) -> None:
    """With others, and with parts of itself."""
    for n in LENGTHS:
        expected = special_values((12, n), dtype)
        x, column, row = np.array(expected), special_values((12, 1), dtype), special_values((n,), dtype)
        for a, b, c in ((expected, column, row), (x, np.array(column), np.array(row))):
            a *= b
            a += c
            a[::2] -= c
            a[::-3] /= b[::-3]
            a[1:] += a[:-1]
            a[:-1] -= a[1:]
            a *= a[:, :1]
            a -= a[3]
        assert same_bits(x.numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(50, 3), (50, 16), (50, 131), (3, 2048), (3, 5000), (2, 40_000), (7, 300)], ids=str)
def test_a_sum_of_rows_is_that_of_each_row(shape: tuple[int, int], dtype: str, engine: str) -> None:
    x = RNG.normal(size=shape).astype(dtype)
    array = np.array(x)
    together = array.sum(1).numpy()
    assert same_bits(together, numpy.array([array[i].sum().item() for i in range(shape[0])], dtype))
    assert same_bits(together, (array * 1).sum(1).numpy())
    numpy.testing.assert_allclose(together, x.sum(1, dtype="float64"), atol=shape[1] * numpy.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_of_long_rows_into_one_adds_them_in_order(dtype: str, engine: str) -> None:
    x = RNG.normal(size=(40, 300)).astype(dtype)
    want = numpy.zeros(300, dtype)
    for row in x:
        want += row
    assert same_bits(np.array(x).sum(0).numpy(), want)
    assert same_bits((np.array(x) * 1).sum(0).numpy(), want)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (8, 16), (9, 17), (40, 131), (700, 300), (7, 9, 33)], ids=str)
def test_copies(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    """Of turned arrays, of rows, and of elements that are apart; alone, into views, and put together."""
    x = (numpy.arange(math.prod(shape)) % 2039).reshape(shape).astype(dtype)
    array = np.array(x)
    for axes in itertools.permutations(range(x.ndim)):
        numpy_turned, turned = x.transpose(axes), array.transpose(axes)
        for view in (lambda a: a, lambda a: a[:, ::-1], lambda a: a[::2], lambda a: a[..., ::3], lambda a: a[1:, 1:]):
            assert same_bits(view(turned).copy().numpy(), numpy.ascontiguousarray(view(numpy_turned)))
        into, want = np.zeros((2, *numpy_turned.shape), dtype=dtype), numpy.zeros((2, *numpy_turned.shape), dtype)
        into[1], want[1] = turned, numpy_turned
        assert same_bits(into.numpy(), want)
        for axis in range(x.ndim):
            assert same_bits(
                np.concatenate([turned, turned], axis).numpy(), numpy.concatenate([numpy_turned, numpy_turned], axis)
            )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_masks_as_numbers(dtype: str, engine: str) -> None:
    for n in LENGTHS:
        x = special_values((7, 2 * n), dtype)
        mask, array = x > 0, np.array(x)
        for view in (lambda a: a, lambda a: a[:, ::2], lambda a: a[::-1, 1:], lambda a: a.T):
            assert same_bits(view(array > 0).astype(dtype).numpy(), view(mask).astype(dtype))
            number = numpy.dtype(dtype).type(3.5)
            assert same_bits((view(array > 0) * number + number).numpy(), view(mask) * number + number)
