"""Descending order: NaN is last, as in NumPy since 2.5, and equal elements keep their order."""

from __future__ import annotations

import inspect

import numpy
import pytest

from forerun import autograd, np, npx, torch

GENERATOR = numpy.random.default_rng(25)
NAN = float("nan")


def expected(name: str, values: numpy.ndarray, axis: int | None) -> numpy.ndarray:
    """NumPy's result; before 2.5, which sorts in ascending order only, that of values that are turned around."""
    sort = getattr(numpy, name)
    if "descending" in inspect.signature(sort).parameters:
        return numpy.asarray(sort(values, axis, stable=True, descending=True))
    turn = numpy.invert if values.dtype.kind in "biu" else numpy.negative
    found = sort(turn(values), axis, stable=True)
    return numpy.asarray(turn(found) if name == "sort" else found)


def values_to_sort(dtype: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """Values of which many are equal, with NaN and zeros of both signs among floats."""
    values = (GENERATOR.standard_normal(shape) * 9).astype(dtype)
    if values.dtype.kind in "fc":
        for special in (NAN, 0.0, -0.0):
            values[GENERATOR.random(shape) < 0.2] = special
    if values.dtype.kind == "c":
        values[GENERATOR.random(shape) < 0.2] = complex(1, NAN)
    return values


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "complex64", "int8", "uint8", "int64", "uint64", "bool"]
)
@pytest.mark.parametrize("axis", [-1, 0, None])
def test_the_order_is_numpys(dtype: str, axis: int | None) -> None:
    for shape in ((7,), (40, 33), (3, 0)):
        values = values_to_sort(dtype, shape)
        x = np.array(values)
        for name in ("sort", "argsort"):
            found = getattr(np, name)(x, axis, descending=True)
            numpy.testing.assert_array_equal(found.numpy(), expected(name, values, axis))
            assert found.dtype == (x.dtype if name == "sort" else "int64")
        assert np.array_equal(x, values, equal_nan=x.dtype.kind in "fc")  # which is as it was


def test_methods_sort_in_descending_order() -> None:
    x = np.array([3.0, NAN, 1.0, 3.0])
    assert x.argsort(descending=True).tolist() == [0, 3, 2, 1]
    x.sort(descending=True)
    numpy.testing.assert_array_equal(x.numpy(), [3, 3, 1, NAN])
    x.sort(descending=None)
    numpy.testing.assert_array_equal(x.numpy(), [1, 3, 3, NAN])


def test_gradients_reach_the_elements_that_were_sorted() -> None:
    x = np.array([2.0, 5.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = np.sort(x, descending=True) * np.array([1.0, 10.0, 100.0])
    y.backward()
    assert x.grad.tolist() == [100, 1, 10]


def test_pytorchs_order_has_nan_first() -> None:
    x = np.array([[3.0, NAN, 1.0, 3.0]])
    assert torch.argsort(x, descending=True).tolist() == [[1, 0, 3, 2]]
    assert torch.sort(x, descending=True).indices.tolist() == [[1, 0, 3, 2]]
    assert npx.topk(x, 2).tolist() == [[1, 0]]
    assert torch.argsort(np.zeros((2, 0)), descending=True).shape == (2, 0)
    assert torch.argsort(np.zeros(()), descending=True).tolist() == np.argsort(np.zeros(())).tolist()
