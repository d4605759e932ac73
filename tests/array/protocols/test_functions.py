"""NumPy's functions called with forerun arrays, and arrays of other libraries beside them."""

from __future__ import annotations

import operator
from typing import Any

import numpy
import pytest

from forerun import np
from forerun.np import ndarray
from tests.support.comparison.numpy_calls import GRID


def test_numpy_functions_call_forerun_where_supported(gate: None) -> None:
    x = np.array(GRID)
    for y in (numpy.concatenate([x, x]), numpy.mean(x, axis=0), numpy.linalg.inv(x[:, :3]), numpy.fft.fft(x)):
        assert isinstance(y, ndarray)
        assert not y.ready


def test_other_functions_wait_and_return_forerun_arrays() -> None:
    x = np.array(GRID)
    packed = numpy.packbits(x > 3)
    assert isinstance(packed, ndarray)
    assert packed.dtype == "uint8"
    assert packed.tolist() == numpy.packbits(GRID > 3).tolist()
    values = numpy.linalg.cond(x[:, :3])
    assert isinstance(values, ndarray)
    assert values.shape == ()
    counts, edges = numpy.histogram(x, bins=3, density=True)
    assert isinstance(counts, ndarray)
    assert isinstance(edges, ndarray)
    assert numpy.array2string(x) == numpy.array2string(GRID)
    assert numpy.shape(x) == (3, 4)
    assert numpy.iscomplexobj(x) is False


def test_functions_that_write() -> None:
    x = np.zeros(4)
    numpy.copyto(x, numpy.ones(4, "float32"), where=numpy.array([True, False, True, False]))
    assert x.tolist() == [1, 0, 1, 0]
    numpy.place(x, x > 0, [7.0])
    assert x.tolist() == [7, 0, 7, 0]
    numpy_array = numpy.zeros(4, "float32")
    numpy.copyto(numpy_array, x)
    assert numpy_array.tolist() == [7, 0, 7, 0]


class Duck:
    """An array of another library: it wants to be asked."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ("duck", ufunc.__name__)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ("duck", func.__name__)


class Subclass(numpy.ndarray):
    pass


def test_other_types_handle_the_call() -> None:
    x = np.zeros(2)
    assert numpy.add(x, Duck()) == numpy.add(Duck(), x) == ("duck", "add")
    assert numpy.add(x, x, out=Duck()) == ("duck", "add")
    assert numpy.concatenate([x, Duck()]) == ("duck", "concatenate")
    refused = numpy.ma.masked_array([1.0, 2.0])
    with pytest.raises(TypeError):
        numpy.concatenate([x, refused])
    assert numpy.zeros(2).view(Subclass).__class__ is Subclass


def test_operators_with_foreign_operands() -> None:
    x = np.zeros(2)
    for op in (operator.add, operator.mul, operator.lt, operator.matmul):
        for other in (None, "text", object()):
            with pytest.raises(TypeError):
                op(x, other)
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True

    class Right:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "right"

        def __eq__(self, other: object) -> bool:
            return True

    assert x + Right() == "right"
    assert (x == Right()) is True
    assert numpy.zeros(2).__add__(x) is NotImplemented or isinstance(numpy.zeros(2) + x, ndarray)
