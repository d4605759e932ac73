"""Iteration: rows of an array with axes; an array without axes is not iterable, as libraries find out by `iter`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy
import pytest

from forerun import np


@pytest.mark.parametrize("shape", [(3,), (0,), (2, 3), (0, 2), (2, 0)])
def test_iterating_gives_the_rows(shape: tuple[int, ...]) -> None:
    values = numpy.arange(numpy.prod(shape)).reshape(shape)
    rows = list(np.array(values))
    assert [row.tolist() for row in rows] == values.tolist()
    assert [row.shape for row in rows] == [shape[1:]] * shape[0]


@pytest.mark.parametrize(
    "array", [np.array(1.0), np.arange(3)[0], np.ones((2, 2)).sum()], ids=["made", "element", "sum"]
)
def test_an_array_without_axes_does_not_begin_to_iterate(array: np.ndarray) -> None:
    assert not numpy.iterable(array)
    with pytest.raises(TypeError, match=r"iter: array must have an axis, got shape \(\)"):
        iter(array)


def test_arrays_are_iterables() -> None:
    assert isinstance(np.arange(3), Iterable)
    assert numpy.iterable(np.arange(3))


def test_iterating_does_not_wait(gate: None) -> None:
    first, second = np.arange(2) + 1
    assert not first.ready
    assert not second.ready


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_elements_are_independent_values(dtype: str, step: int) -> None:
    values = (numpy.arange(100) % 7).astype(dtype)
    x = np.array(values)
    found = list(x[::step])
    x[...] = 1
    assert [e.item() for e in found] == values[::step].tolist()
    assert all(e.dtype == dtype and e.shape == () for e in found)
    assert [(e + 0).item() for e in found] == values[::step].tolist()
    assert np.array(found).tolist() == values[::step].tolist()


def test_writes_during_iteration_are_visible() -> None:
    x, y = np.arange(40), numpy.arange(40)
    for element, expected in zip(x, y):
        assert element.item() == expected
        for array in (x, y):
            array[expected + 1 : expected + 3] += 100
            array[-1] = 7


def test_attach_grad_of_an_element_leaves_others_unchanged() -> None:
    x = np.arange(8.0)
    found = list(x)
    changed = np.asarray(found[3])
    changed += 10
    assert [e.item() for e in found] == list(range(8))
    assert x.tolist() == list(range(8))


def test_an_exhausted_iterator_stays_exhausted() -> None:
    steps = iter(np.arange(2))
    assert [e.item() for e in steps] == [0, 1]
    assert list(steps) == []
    assert len(list(iter(np.zeros(5)))) == 5
    assert iter(np.zeros((3, 2))).__length_hint__() == 3


def test_each_failed_element_raises() -> None:
    x = np.arange(3)[np.array([0, 7])]
    for e in x:
        with pytest.raises(IndexError, match="got 7"):
            e.item()
