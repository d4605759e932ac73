"""NumPy's functions called with forerun arrays and with arrays of dtypes that forerun lacks: NumPy runs them."""

from __future__ import annotations

import numpy

import forerun
from forerun import np


def test_arrays_of_objects_and_forerun_arrays_go_through_numpy() -> None:
    names, numbers = numpy.broadcast_arrays(numpy.array(["a", None], object), np.arange(2.0))
    assert names.tolist() == ["a", None]
    assert isinstance(numbers, np.ndarray)
    assert numbers.tolist() == [0.0, 1.0]


def test_none_broadcasts_as_an_object() -> None:
    numbers, nothing = numpy.broadcast_arrays(np.arange(2.0), None)
    assert numbers.tolist() == [0.0, 1.0]
    assert nothing.tolist() == [None, None]


def test_strings_in_a_list_of_arrays() -> None:
    joined = numpy.concatenate([numpy.array(["a"]), np.arange(1)])
    assert joined.tolist() == ["a", "0"]


def test_representable_results_stay_forerun_arrays(gate: None) -> None:
    found = numpy.concatenate([np.arange(2), numpy.arange(2)])
    assert isinstance(found, np.ndarray)
    assert not found.ready


def test_numpys_arrays_share_no_memory_with_foreruns() -> None:
    x, numpy_array = np.zeros(3), numpy.zeros(3)
    assert not numpy.may_share_memory(x, numpy_array)
    assert not np.shares_memory(numpy_array, x)
    assert np.shares_memory(numpy_array, numpy_array[1:])
    assert numpy.shares_memory(x, x[1:])


def test_numbers_are_moved_to_the_device_of_the_array(two_devices: list[forerun.Device]) -> None:
    x = np.array([1.0, 2.0], device=two_devices[1])
    for found in (np.average(x, weights=numpy.ones(2)), np.average(numpy.ones(2), weights=x)):
        assert found.device == two_devices[1]
    assert np.average(x, weights=[1, 3]).item() == 1.75
