"""Each check and each step of indexing has a case here that fails without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np
from tests.ops.cases.table import to_forerun
from tests.support.comparison.bits import same_bits
from tests.support.comparison.outcomes import outcome

M = numpy.arange(12.0).reshape(3, 4)
UNSIGNED = numpy.array(2**63, "uint64")


# --- indices that are refused, or taken -----------------------------------------------------------


def test_one_ellipsis_also_beside_arrays() -> None:
    for index in ((..., ..., [0]), (..., [0], ...)):
        with pytest.raises(IndexError, match="getitem: an index must have at most one Ellipsis, got 2"):
            np.array(M)[index]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (0, 0)])
def test_a_mask_may_have_extent_0(shape: tuple[int, ...], gate: None) -> None:
    """As in NumPy; and as it has no values, nothing is waited for."""
    x, mask = np.array(M) + 0, np.zeros(shape, dtype=bool)
    want = M[numpy.zeros(shape, bool)]
    assert x[mask].shape == x[numpy.zeros(shape, bool)].shape == want.shape


class Two:
    """Not an integer, but as good as one."""

    def __index__(self) -> int:
        return 2


def test_objects_with_an_index_method() -> None:
    x = np.array(M)
    assert x[Two()].tolist() == M[2].tolist()
    x[Two()] = 5
    x[Two(), 1 : Two()] = 6
    assert x[2].tolist() == [5, 6, 5, 5]


def test_an_empty_axis_has_no_positions(gate: None) -> None:
    """At the call, for any values."""
    x, one = np.zeros((0, 3)) + 0, np.array([0]) * 1
    for index in (one, (one[0], []), one[:, None]):
        with pytest.raises(IndexError, match=r"getitem: index must be in \[0, 0\), got an array of shape"):
            x[index]
        with pytest.raises(IndexError, match=r"setitem: index must be in \[0, 0\), got an array of shape"):
            x[index] = 1
    assert x[one[:0]].shape == np.take(x, one[:0], 0).shape == (0, 3)


ABSENT: list[Any] = [(numpy.array(9), []), numpy.array(9), (UNSIGNED, 0), numpy.array([9])]


@pytest.mark.parametrize("index", ABSENT, ids=repr)
def test_one_fault_is_one_failure(index: Any, ahead: str) -> None:
    """Also where an index is used to read and to write: nothing is left that no read has raised."""
    x, index = np.array(M), to_forerun(index)
    x[index] += 1
    with pytest.raises((IndexError, OverflowError), match="take: index must be in"):
        x.numpy()


def test_error_at_the_call_leaves_no_deferred_failure() -> None:
    """The number is out of range, too: nothing is issued that finds it out later."""
    _core.unseen_failures()
    x, number, known = np.zeros((2, 2, 2)), np.array(9), numpy.array(9)
    for index in ((number, [], known), (number, known, []), (number.astype("uint64"), [7], 0)):
        with pytest.raises(IndexError, match="index must be in"):
            x[index]
    with pytest.raises(ValueError, match="choose: shapes must broadcast"):
        np.choose(number[None] + [0, 0], [np.zeros(3)])
    _core.quiesce()
    assert _core.unseen_failures() == []


def test_bools_are_no_positions_along_an_axis() -> None:
    for bools in (numpy.ones((3, 4), bool), np.ones((3, 4), dtype=bool)):
        with pytest.raises(IndexError, match="take_along_axis: indices must be integers, got bool"):
            np.take_along_axis(M, bools, 1)


# --- positions of any dtype, in each mode ---------------------------------------------------------


@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("n", [3, 300])
def test_positions_out_of_range_are_moved_into_it(mode: str, dtype: str, n: int) -> None:
    x, at = numpy.arange(n), numpy.array([-5, 0, 2, 3, 100, -1, -n % 128], "int64").astype(dtype)
    want = numpy.take(x, at, mode=mode)
    assert np.take(np.array(x), at, mode=mode).tolist() == want.tolist()
    assert np.take(np.array(x), np.array(at), mode=mode).tolist() == want.tolist()


def test_put_without_values_checks_no_position() -> None:
    x = np.zeros(3)
    assert np.put(x, [99], []) is None
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("n", "at"), [(0, [0]), (3, numpy.array([0], "uint64"))], ids=["none", "uint64"])
def test_positions_that_cannot_be_come_before_values_that_cannot(n: int, at: Any) -> None:
    kind = IndexError if n == 0 else TypeError
    with pytest.raises(kind):
        numpy.put(numpy.zeros(n), at, "x")
    with pytest.raises(kind, match=r"put: (index|positions) must be"):
        np.put(np.zeros(n), at, "x")


# --- values ---------------------------------------------------------------------------------------


def test_nested_lists_are_assigned_where_a_bool_picks() -> None:
    x = np.zeros(2)
    x[True] = [[[1, 2]]]
    assert x.tolist() == [1, 2]


def test_shapes_of_values_that_do_not_fit() -> None:
    x = np.array(M)
    for index in (slice(None), [0, 1, 2], ...):
        with pytest.raises(ValueError, match=r"must broadcast to \(3, 4\), got \(2, 3, 4\)"):
            x[index] = np.zeros((2, 3, 4))


@pytest.mark.parametrize("value", [128, -129, 255, -1, 127])
def test_numbers_beside_small_integers_where_a_condition_chooses(value: int) -> None:
    """NumPy before 2.5 wraps them around, or else refuses them; those of `select` wrap around in any version."""
    for dtype in ("int8", "uint8"):
        x, holds = numpy.arange(2, dtype=dtype), numpy.array([True, False])
        calls: list[Callable[[Any, Any, Any], Any]] = [
            lambda m, c, x: m.where(c, value, x),
            lambda m, c, x: m.select([c], [x], value),
        ]
        if dtype == "int8":  # NumPy casts by the rule "same_kind"
            calls.append(lambda m, c, x: m.select([c, ~c], [value, x]))
        for call in calls:
            got, want = (outcome(call, m, m.asarray(holds), m.asarray(x), error=type) for m in (np, numpy))
            assert got == want if isinstance(want, type) else same_bits(got[0], want[0])


def test_an_array_default_of_select_affects_the_dtype() -> None:
    x = numpy.array([1, 2], "int8")
    want = numpy.select([x > 1], [300], numpy.array([5, 6], "int16"))
    assert same_bits(np.select([np.array(x) > 1], [300], np.array([5, 6], dtype="int16")).numpy(), want)
    want = numpy.select([x > 1, x > 0], [x, 300], numpy.array([5, 6], "int16"))
    got = np.select([np.array(x) > 1, np.array(x) > 0], [np.array(x), 300], np.array([5, 6], dtype="int16"))
    assert same_bits(got.numpy(), want)


def test_setitem_of_a_recorded_value_raises() -> None:
    w, x = np.ones(3), np.zeros(3)
    w.attach_grad()
    with autograd.record():
        y = w * 2
        for index in (slice(2), [0, 1]):
            with pytest.raises(RuntimeError, match="on the tape must not be written"):
                x[index] = y[:2]


def test_gradients_of_the_same_element_along_an_axis_add_up() -> None:
    x = np.array([[1.0, 2.0, 3.0]])
    x.attach_grad()
    with autograd.record():
        y = np.take_along_axis(x, np.array([[1, 1, 0, 1]]), 1)
    y.backward(np.array([[1.0, 2.0, 4.0, 8.0]]))
    assert x.grad.tolist() == [[4, 11, 0]]


def test_partial_write_does_not_heal() -> None:
    """Values written before count: also their failure."""
    for index in ([0], 0, numpy.array([True, False])):
        x = np.linalg.inv(np.zeros((2, 2)))
        x[index] = 1.0
        with pytest.raises(np.linalg.LinAlgError):
            x.tolist()
    x[...] = 2.0
    assert x.tolist() == [[2, 2], [2, 2]]


# --- overlapping memory ---------------------------------------------------------------------------

SHIFTS: list[Callable[[Any], tuple[Any, Any]]] = [
    lambda x: (x[1:], x[:-1]),
    lambda x: (x[:-1], x[1:]),
    lambda x: (x[7:], x[:-7]),
    lambda x: (x[2::2], x[:-2:2]),
    lambda x: (x[::-1], x),
    lambda x: (x[: x.shape[0] // 2], x[::2]),
]


@pytest.mark.parametrize("shift", range(len(SHIFTS)))
@pytest.mark.parametrize("n", [10, 400_000])
def test_shifting_reads_before_it_writes(shift: int, n: int, engine: str) -> None:
    """Also where the copy is cut into parts, and where it would be by memcpy."""
    numpy_array = numpy.arange(n, dtype="float32")
    array = np.array(numpy_array)
    for x in (array, numpy_array):
        to, source = SHIFTS[shift](x)
        to[...] = source
    assert same_bits(array.numpy(), numpy_array)


# --- many positions: cut into parts ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_many_single_elements(dtype: str, engine: str) -> None:
    x = numpy.arange(70).reshape(2, 35).astype(dtype)
    at = numpy.arange(300_000).reshape(2, -1) * 7 % 35
    assert same_bits(np.array(x)[:, np.array(at)].numpy(), x[:, at])
    assert same_bits(np.array(x)[1, np.array(at)].numpy(), x[1, at])


# --- devices --------------------------------------------------------------------------------------


def test_indices_and_values_come_from_other_devices(two_devices: list[Any]) -> None:
    here, there = two_devices
    x, at = np.array(M, device=here), np.array([2, 0], device=there)
    number, mask = np.array(1, device=there), np.array([True, False, True], device=there)
    assert x[at].device == np.take(x, at, 0).device == x[mask].device == here
    assert x[at].tolist() == np.take(x, at, 0).tolist() == M[[2, 0]].tolist()
    assert x[number].tolist() == M[1].tolist()
    assert x[mask].tolist() == M[[0, 2]].tolist()
    assert np.take(x, at, 0, mode="clip").tolist() == M[[2, 0]].tolist()
    x[at] = np.ones((2, 4), device=there)
    x[1] = np.zeros(4, device=there)
    assert x.device == here
    assert x.tolist() == [[1] * 4, [0] * 4, [1] * 4]


# --- places under a mask --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("name", ["place", "putmask"])
def test_values_for_a_mask_come_in_turn(name: str, count: int) -> None:
    numpy_array, mask = numpy.arange(8), numpy.array([0, 1, 1, 0, 1, 1, 1, 0], bool)
    array, new = np.array(numpy_array), 10 + numpy.arange(count)
    getattr(numpy, name)(numpy_array, mask, new)
    getattr(np, name)(array, np.array(mask), np.array(new))
    assert array.tolist() == numpy_array.tolist()


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("name", ["place", "putmask"])
def test_a_mask_of_another_size_is_refused(name: str, n: int) -> None:
    with pytest.raises(ValueError, match=f"{name}: mask must have 3 elements like the array, got {n}"):
        getattr(np, name)(np.zeros(3), np.ones(n, dtype=bool), 1)


def test_no_values_for_no_elements() -> None:
    for name in ("place", "putmask"):
        x = np.zeros((0, 2))
        getattr(np, name)(x, np.zeros((0, 2), dtype=bool), [])
        assert x.shape == (0, 2)


def test_the_last_function_is_for_the_rest() -> None:
    x = numpy.array([-2.0, 0.0, 3.0])
    for conditions in ([x < 0], [x < 0, x > 2]):
        functions = [*range(10, 10 + len(conditions)), 99]
        want = numpy.piecewise(x, conditions, functions)
        assert np.piecewise(np.array(x), list(map(np.array, conditions)), functions).tolist() == want.tolist()
