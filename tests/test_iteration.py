"""Iterating: rows of what has axes; what has none is no iterable, as libraries find out by `iter`."""

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


def test_iterating_waits_for_nothing(gate: None) -> None:
    first, second = np.arange(2) + 1
    assert not first.ready
    assert not second.ready
