"""Indexing where it is easy to get wrong: overlaps, errors that come later, large extents, gradients."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np
from tests.ops.cases.table import to_forerun

M = numpy.arange(12.0).reshape(3, 4)


# --- source and target share memory -----------------------------------------------------------------


def shift_by_one(x: Any) -> None:
    x[1:] = x[:-1]


def reversed_in_place(x: Any) -> None:
    x[::-1] = x


def crossed(x: Any) -> None:
    x[:3, :3] = x.T[:3, :3]


def row_to_column(x: Any) -> None:
    x[:, 0] = x[0, :3]


def rows_to_positions(x: Any) -> None:
    x[[1, 2]] = x[:2]


def beside(x: Any) -> None:
    x[0] = x[2]
    x[:, 3] = x[:, 0]


def under_a_mask(x: Any) -> None:
    x[x > 3] = x[::-1][x < 8]


def by_itself(x: Any) -> None:
    x[...] = x


def in_place(x: Any) -> None:
    x[1:] += x[:-1]
    x[:, ::2] *= 2


@pytest.mark.parametrize(
    "write",
    [
        shift_by_one,
        reversed_in_place,
        crossed,
        row_to_column,
        rows_to_positions,
        beside,
        under_a_mask,
        by_itself,
        in_place,
    ],
    ids=lambda f: f.__name__,
)
def test_overlapping_reads_precede_writes(write: Any, engine: str) -> None:
    array, numpy_array = np.array(M), M.copy()
    write(array), write(numpy_array)
    assert array.tolist() == numpy_array.tolist()


def test_positions_from_the_array_that_is_written() -> None:
    array, numpy_array = np.array([2, 0, 1]), numpy.array([2, 0, 1])
    array[array] = np.array([10, 20, 30])
    numpy_array[numpy_array] = [10, 20, 30]
    assert array.tolist() == numpy_array.tolist()


def test_writing_in_place_through_a_slice_is_one_operation() -> None:
    x = np.ones((100, 100))
    x.wait()
    before = _core.stats()["issued"]
    x[10:] += 1
    assert _core.stats()["issued"] == before + 1


def test_the_last_of_several_values_for_one_place_stays() -> None:
    x = np.zeros(4)
    x[[1, 2, 1]] = np.array([5.0, 6.0, 7.0])
    assert x.tolist() == [0, 7, 6, 0]
    x[np.array([1, 1])] += 1
    assert x.tolist() == [0, 8, 6, 0]


# --- errors -----------------------------------------------------------------------------------------


def raises_at_each_read(x: Any, kind: type[Exception], message: str) -> None:
    for _ in range(2):
        with pytest.raises(kind, match=message) as caught:
            x.tolist()
        assert __file__ in caught.value.__notes__[0]


def test_an_index_out_of_range_poisons_its_target() -> None:
    x, other = np.zeros(3), np.ones(3)
    x[np.array([0, 3])] = other[:2]
    y = x + other
    raises_at_each_read(x, IndexError, r"put: index must be in \[-3, 3\), got 3")
    raises_at_each_read(y, IndexError, r"put: index must be in \[-3, 3\), got 3")
    assert other.tolist() == [1, 1, 1]


@pytest.mark.parametrize("n", [0, 2, 4])
def test_a_wrong_number_of_values_under_a_mask_poisons(n: int) -> None:
    x = np.arange(5)
    x[x > 1] = np.zeros(n)
    raises_at_each_read(x, ValueError, f"a value for each of 3 elements under the mask, got {n}")


@pytest.mark.parametrize("n", [1, 3])
def test_the_right_number_of_values_does_not(n: int, engine: str) -> None:
    x = np.arange(5)
    x[x > 1] = np.arange(n)
    assert x.tolist() == [0, 1, *(range(3) if n == 3 else [0, 0, 0])]


def test_choose_out_of_range_raises_at_the_read() -> None:
    raises_at_each_read(np.choose(np.array([0, 2]), [1, 2]), ValueError, r"numbers must be in \[0, 2\), got 2")


def test_no_values_for_a_mask_that_holds_raise_where_the_array_is_read() -> None:
    x, y = np.zeros(3), np.zeros(3)
    np.place(x, np.array([False, True, True]), [])
    np.place(y, np.array([False, False, False]), [])
    raises_at_each_read(x, ValueError, "at least one value, got none for 2 elements")
    assert y.tolist() == [0, 0, 0]


# --- extents beyond 32 bits, or beyond any memory ---------------------------------------------------

HUGE = 2**33


def test_positions_beyond_2_to_the_31() -> None:
    x = np.broadcast_to(np.array([7.0]), (HUGE,))
    far = numpy.array([2**32 + 1, -(2**33), HUGE - 1])
    assert [x[i].item() for i in (2**32, -HUGE, HUGE - 1, numpy.int64(2**32))] == [7] * 4
    assert x[far].tolist() == x[np.array(far)].tolist() == np.take(x, far).tolist() == [7] * 3
    assert x[2**32 :: 2**31].shape == (2,)
    assert x[:: -(2**40)].shape == (1,)
    for wrong in (HUGE, -HUGE - 1, 2**64, -(2**64)):
        with pytest.raises(IndexError):
            x[wrong]
    with pytest.raises(IndexError):
        x[[HUGE]]
    with pytest.raises(IndexError):
        x[np.array([HUGE])].wait()


def test_one_element_of_a_view_repeated_may_be_written_far_behind() -> None:
    base = np.zeros(2)
    x = np.lib.stride_tricks.as_strided(base, (2**32, 2), (0, base.itemsize))
    x[2**31 + 1, 1] = 5
    x[2**32 - 1][0] = 3
    assert base.tolist() == [3, 5]


def test_more_elements_than_can_be_counted_are_refused_at_the_call() -> None:
    one = np.ones(1)
    for shape in [(2**62,), (2**31, 2**31, 2), (2**40, 2**40)]:
        with pytest.raises(ValueError, match=r"array must have fewer than 2\*\*63 bytes, got shape"):
            np.broadcast_to(one, shape)
    rows = np.broadcast_to(np.zeros((1, 1), "int8"), (2**31, 1))
    columns = np.broadcast_to(np.zeros((1, 1), "int8"), (1, 2**31))
    with pytest.raises(ValueError, match=r"array must have fewer than 2\*\*63 bytes"):
        np.zeros((2, 2))[rows, columns]
    assert np.broadcast_to(np.ones((1, 0)), (2**62, 0)).size == 0


# --- gradients --------------------------------------------------------------------------------------

DIFFERENTIATED: list[Any] = [
    numpy.int64(1), -1, True, False, [0, 0, 2], ([0, 0], [1, 1]), (slice(None), [3, 0, 3]), M > 4,
    (M[:, 0] > 0, [1, 1]),
    (0, ..., [1, 1]), (None, [2, 2], None), ([0], slice(None, None, -1)), numpy.array(2), (M[:, 0] > 0, slice(1, 3)),
]  # fmt: skip


@pytest.mark.parametrize("index", DIFFERENTIATED, ids=repr)
def test_gradients_of_reads_by_index(index: Any) -> None:
    x = np.array(M)
    x.attach_grad()
    with autograd.record():
        y = x[index]
        loss = (y * np.arange(y.size).reshape(y.shape)).sum()
    loss.backward()
    want = numpy.zeros_like(M)
    part = numpy.arange(y.size).reshape(y.shape)
    numpy.add.at(want, index, part)
    assert x.grad.tolist() == want.tolist()


def test_gradients_of_choices() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([10.0])
    a.attach_grad(), b.attach_grad()
    with autograd.record():
        y = np.choose(np.array([0, 1, 0]), [a, b])
    y.backward(np.array([1.0, 2.0, 4.0]))
    assert (a.grad.tolist(), b.grad.tolist()) == ([1, 0, 4], [2])


def test_an_array_on_the_tape_is_not_written() -> None:
    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for index in (0, [0], x > 0):
            with pytest.raises(RuntimeError, match="on the tape must not be written"):
                y[index] = 1


# --- empty axes, numbers beyond int64 -----------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_take_from_an_empty_axis_raises(mode: str) -> None:
    """For "wrap" NumPy never comes back."""
    assert np.take(np.zeros((0, 0)), np.array([1, -1]), 0, mode=mode).shape == (2, 0)


def test_positions_are_checked_where_their_selection_is_empty() -> None:
    x = np.zeros((2, 0))
    for at in ([5], numpy.array([5]), np.array([5], dtype="int64")):
        with pytest.raises(IndexError, match=r"index must be in \[-2, 2\), got 5"):
            np.take(x, at, 0).numpy()
    assert np.take(x, [5], 0, mode="clip").shape == (1, 0)


@pytest.mark.parametrize("at", [(1, numpy.array(0)), (1, numpy.uint8(0)), (numpy.array(1), numpy.array(0))])
def test_one_element_gets_one_number(at: Any) -> None:
    x = np.zeros((2, 2))
    with pytest.raises(ValueError, match="setitem: an element must get one number, got shape"):
        x[at] = numpy.array([3.0, 4.0])
    assert x.tolist() == [[0, 0], [0, 0]]


def test_nesting_is_checked_before_the_range_of_numbers() -> None:
    with pytest.raises(ValueError, match="setitem: lists must be at most 1 deep"):
        np.zeros(3)[:] = [[1j, 2j, 3j]]


@pytest.mark.parametrize("number", [1, numpy.array(1), np.array(1)], ids=repr)
def test_setitem_of_too_deeply_nested_lists_raises(number: Any) -> None:
    x = np.zeros((2, 2))
    with pytest.raises(ValueError, match="setitem: lists must be at most 1 deep"):
        x[number] = [[1, 2]]
    with pytest.raises(ValueError, match="setitem: lists must be at most 0 deep"):
        x[..., number, number] = [[3]]
    x[[0, 1], number] = [[[5, 6]]]  # into positions they do
    assert x.tolist() == [[0, 5], [0, 6]]


def test_a_number_that_does_not_fit_is_refused_under_a_mask() -> None:
    x = np.arange(3, dtype="uint8")
    for wrong in (-1, 256):
        with pytest.raises(OverflowError, match=f"setitem: values must fit uint8, got {wrong}"):
            x[x > 0] = wrong
    assert x.tolist() == [0, 1, 2]


UNSIGNED = numpy.array(2**63, "uint64")
BEYOND: list[Any] = [
    2**63, 2**64 - 1, numpy.uint64(2**63), UNSIGNED, ([0], 2**63), ([0, 1], UNSIGNED), (True, UNSIGNED),
    (numpy.zeros(0, int), UNSIGNED), (0, 2**63), (slice(1), numpy.uint64(2**64 - 1)),
]  # fmt: skip


def written_zeros(index: Any) -> Any:
    x = np.zeros((2, 2))
    x[index] = 1
    return x


@pytest.mark.parametrize("index", BEYOND, ids=repr)
def test_a_single_number_that_only_uint64_holds_overflows(index: Any, engine: str) -> None:
    x = np.zeros((2, 2))
    for i in (index, to_forerun(index)):
        with pytest.raises(OverflowError):
            M[index]
        with pytest.raises(OverflowError, match=r"index must be in \[-2, 2\), got (9223|18446)"):
            x[i].numpy()
        with pytest.raises(OverflowError, match=r"index must be in \[-2, 2\), got (9223|18446)"):
            written_zeros(i).numpy()


def test_several_numbers_of_uint64_wrap() -> None:
    last = numpy.array([2**64 - 1], "uint64")
    for at in (last, np.array(last, dtype="uint64")):
        assert np.arange(4)[at].tolist() == np.take(np.arange(4), at).tolist() == [3]
    assert np.take(np.arange(4), np.array(last[0], dtype="uint64")).item() == 3


def test_positions_beyond_int64_raise_as_in_numpy() -> None:
    array, numpy_array = np.arange(4), numpy.arange(4)
    for wrong in (2**63, 2**64, -(2**63) - 1, [0, 2**64]):
        for name, *values in (("take",), ("put", 1)):
            with pytest.raises(OverflowError):
                getattr(numpy, name)(numpy_array, wrong, *values)
            with pytest.raises(OverflowError, match=r"must fit int64, got"):
                getattr(np, name)(array, wrong, *values)
    with pytest.raises(IndexError, match=r"put: index must be in \[-4, 4\), got -9223372036854775808"):
        np.put(array, numpy.uint64(2**63), 1)
    with pytest.raises(TypeError, match="positions must be integers, got object"):
        np.take(array, None)


@pytest.mark.parametrize("nothing", [numpy.zeros(0, int), False, numpy.array([False, False])], ids=repr)
@pytest.mark.parametrize("number", [2, -3, UNSIGNED], ids=repr)
def test_a_number_is_checked_for_an_empty_selection(nothing: Any, number: Any, engine: str) -> None:
    """As in NumPy: a number is not an array, of which there would be no element to look at."""
    want = OverflowError if number is UNSIGNED else IndexError
    number = numpy.array(number)
    with pytest.raises(want):
        M[:2, :2][number, nothing]
    with pytest.raises(want, match=r"getitem: index must be in \[-2, 2\), got"):
        np.array(M)[:2, :2][number, nothing]
    with pytest.raises(want, match=r"take: index must be in \[-2, 2\), got"):
        np.array(M)[:2, :2][np.array(number, dtype=number.dtype), nothing].numpy()


def test_arrays_for_an_empty_selection_are_not_checked() -> None:
    x = np.array(M)
    assert x[[9], numpy.zeros((0, 1), int)].shape == M[[9], numpy.zeros((0, 1), int)].shape == (0, 1)


@pytest.mark.parametrize("wrong", [3, -4])
def test_known_positions_are_checked_at_the_call(wrong: int, gate: None) -> None:
    x = np.array(M) + 0
    for index in ([wrong], [0, wrong], ([0, wrong], slice(2)), ([wrong], [0])):
        with pytest.raises(IndexError, match=rf"getitem: index must be in \[-3, 3\), got {wrong}"):
            x[index]
        with pytest.raises(IndexError, match=rf"setitem: index must be in \[-3, 3\), got {wrong}"):
            x[index] = 1
    with pytest.raises(IndexError, match=r"take: index must be in \[-3, 3\)"):
        np.take(x, [wrong], 0)
    with pytest.raises(IndexError, match=r"take_along_axis: index must be in \[-3, 3\)"):
        np.take_along_axis(x, numpy.full((1, 4), wrong), 0)


class Second:
    """A number of the program's own."""

    def __index__(self) -> int:
        return 1


def test_objects_with_an_index_name_elements(engine: str) -> None:
    x = np.zeros((2, 2))
    x[Second(), Second()] = 5
    x[0][Second()] += 7
    element = x[Second(), Second()]
    np.add.at(x, (Second(), Second()), 1)
    assert (x.tolist(), element.item()) == ([[0, 7], [0, 6]], 5)
