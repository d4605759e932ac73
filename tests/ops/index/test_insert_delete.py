"""Editing at masks and arrays of positions, of views, of NumPy's arrays; positions out of range."""

from __future__ import annotations

import numpy
import pytest

from forerun import autograd, np
from tests.support.comparison.bits import same_bits

VALUES = numpy.arange(12.0).reshape(3, 4)
MASK = numpy.array([True, False, False, True])
AT = numpy.array([2, 0])


@pytest.mark.parametrize("at", [MASK, AT, AT[:0], AT[:1]], ids=repr)
def test_positions_may_be_arrays(at: numpy.ndarray) -> None:
    x = np.array(VALUES)
    count = len(numpy.arange(4)[at])
    new = -numpy.ones((3, count))
    for here in (at, np.array(at)):
        assert same_bits(np.delete(x, here, 1).numpy(), numpy.delete(VALUES, at, 1))
        assert same_bits(np.insert(x, here, np.array(new), 1).numpy(), numpy.insert(VALUES, at, new, 1))


def test_ix_takes_masks() -> None:
    x, rows = np.array(VALUES), numpy.array([True, False, True])
    assert same_bits(x[np.ix_(rows, [1, 0])].numpy(), VALUES[numpy.ix_(rows, [1, 0])])


def test_views_are_written_through() -> None:
    array, expected = np.array(VALUES), VALUES.copy()
    np.put(array.T, [1, 5], [-1, -2])
    numpy.put(expected.T, [1, 5], [-1, -2])
    np.fill_diagonal(array[:, 1:], [7.0, 8.0])
    numpy.fill_diagonal(expected[:, 1:], [7.0, 8.0])
    np.copyto(array[::2], np.array(expected[1]), where=MASK)
    numpy.copyto(expected[::2], expected[1], where=MASK)
    assert same_bits(array.numpy(), expected)


def test_numpy_arrays_are_written_to() -> None:
    numpy_array = VALUES.copy()
    numpy.copyto(numpy_array, np.zeros(4), where=np.array(MASK))
    assert numpy_array[:, 0].tolist() == [0, 0, 0]
    assert numpy_array[:, 1].tolist() == VALUES[:, 1].tolist()
    numpy.put(numpy_array, np.array([1, 2]), np.array([-1.0, -2.0]))
    assert numpy_array[0].tolist() == [0, -1, -2, 0]


def test_numbers_are_copied_into_dtypes_that_hold_their_kind() -> None:
    x = np.zeros(2, "uint8")
    np.copyto(x, 7)
    assert x.tolist() == [7, 7]
    np.copyto(x, 2.5, casting="unsafe")
    assert x.tolist() == [2, 2]


def test_in_place_edit_of_a_recorded_array_raises() -> None:
    x = np.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for edit in (
            lambda: np.put(y, [0], 1.0),
            lambda: np.fill_diagonal(y, 1.0),
            lambda: np.copyto(y, 1.0),
        ):
            with pytest.raises(RuntimeError, match="must not be written in place while recording"):
                edit()


def test_positions_out_of_range_are_an_error_where_they_are_read() -> None:
    rows, columns = np.unravel_index(np.array([1, 9]), (2, 3))
    for found in (rows, columns, np.ravel_multi_index([np.array([2]), np.array([0])], (2, 3))):
        with pytest.raises(ValueError, match=r"out of bounds|invalid entry"):
            found.numpy()
    x = np.zeros(3)
    np.put(x, np.array([3]), 1.0)
    with pytest.raises(IndexError, match=r"put: index must be in \[-3, 3\), got 3"):
        x.numpy()
