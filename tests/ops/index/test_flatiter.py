"""`x.flat`, grids and rows written as indices, iterators: as NumPy's."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy
import pytest

from forerun import autograd, np, npx
from tests.support.comparison.bits import same_bits
from tests.support.comparison.outcomes import outcome
from tests.support.comparison.random_indices import assert_same_outcome
from tests.support.many_cases import for_each

M = numpy.arange(6, dtype="int32").reshape(2, 3)
SIX = numpy.array([True, False, True, True, False, False])

GOOD: list[Any] = [
    0, -1, numpy.int64(4), slice(1, 4), slice(None, None, -2), slice(4, 4), ..., (), (2,), (slice(2),), [0, 5, 0],
    [[0, -1], [1, 2]], [], numpy.array([3], "uint8"), numpy.array(2), SIX,
]  # fmt: skip
BAD: list[Any] = [
    6, -7, [6], (1, 2), None, "a",
    numpy.ones(7, bool), numpy.ones((2, 3), bool), numpy.array([1.5]),
]  # fmt: skip


@pytest.mark.parametrize("index", GOOD + BAD, ids=repr)
@pytest.mark.parametrize("turned", [False, True])
def test_reading_flat(index: Any, turned: bool) -> None:
    numpy_array, array = (M.T, np.array(M).T) if turned else (M, np.array(M))
    assert_same_outcome(outcome(lambda: array.flat[index]), outcome(lambda: numpy_array.flat[index]))
    if isinstance(index, numpy.ndarray) and index.dtype.kind in "ib":
        assert_same_outcome(outcome(lambda: array.flat[np.array(index)]), outcome(lambda: numpy_array.flat[index]))


VALUES: list[Any] = [7, [8, 9], range(9), numpy.array([[1.5], [2.5]]), [], 3.7, 2**40]


@pytest.mark.parametrize("turned", [False, True])
@for_each("index, value", itertools.product([i for i in GOOD if not isinstance(i, tuple) or i], VALUES))
def test_writing_flat(index: Any, value: Any, turned: bool) -> None:
    def written(x: Any) -> Any:
        (x.T if turned else x).flat[index] = value
        return x

    assert_same_outcome(outcome(lambda: written(np.array(M))), outcome(lambda: written(M.copy())))


@pytest.mark.parametrize("index", BAD, ids=repr)
def test_writing_flat_of_an_empty_array(index: Any) -> None:
    assert_same_outcome(
        outcome(lambda: np.array(M).flat.__setitem__(index, 7)), outcome(lambda: M.copy().flat.__setitem__(index, 7))
    )


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("other", [2, 2.5, M.ravel()[::-1], M, [0, 1, 9, 3, 4, 5], "flat"], ids=repr)
def test_comparing_each_element(compare: Any, other: Any) -> None:
    def compared(x: Any) -> Any:
        return compare(x.T.flat, x.flat if isinstance(other, str) else other), any(x.flat != 0)

    assert_same_outcome(outcome(lambda: compared(np.array(M))), outcome(lambda: compared(M)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(np.array(M).flat)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_assigning_all(value: Any) -> None:
    def written(x: Any) -> Any:
        x.T.flat = value
        return x

    assert_same_outcome(outcome(lambda: written(np.array(M))), outcome(lambda: written(M.copy())))


def test_flat_goes_through_the_elements_in_c_order() -> None:
    x, numpy_flat = np.array(M).T, M.T.flat
    flat = x.flat
    assert len(flat) == 6
    assert flat.base is x
    while flat.index < 6:
        assert (flat.index, flat.coords) == (numpy_flat.index, numpy_flat.coords)
        assert next(flat).item() == next(numpy_flat)
    with pytest.raises(StopIteration):
        next(flat)
    assert same_bits(flat.copy().numpy(), M.T.flatten())
    assert same_bits(numpy.asarray(x.flat), M.T.flatten())
    copied = x.flat.copy()
    copied[:] = 0
    assert same_bits(x.numpy(), M.T)


KEYS: list[Any] = [
    (slice(0, 2), slice(0, 3)), slice(0, 4), slice(4), slice(1, 6, 2), slice(0, 1, 3j), (slice(0, 1, 3j), slice(2)),
    (slice(0, 2.5), slice(-1, 1)), slice(5, 0, -2), 3, ..., (slice(2), 1), "a",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_grids(key: Any, name: str) -> None:
    result, expected = outcome(lambda: getattr(np, name)[key]), outcome(lambda: getattr(numpy, name)[key])
    if not isinstance(expected, Exception):  # NumPy's floats are float64
        expected = [x.astype("float32") if x.dtype.kind == "f" else x for x in expected]
    assert_same_outcome(result, expected)


I8, F4 = numpy.array([1, 2], "int8"), numpy.array([[1.5, 2.5]], "float32")
ROWS: list[Any] = [
    I8, (I8, 3), (I8, I8, [5, 6]), (F4, [[1, 2]]), (1, 2), (slice(1, 4), 0, I8), (True, I8), (F4, F4, F4), (I8, 200),
    ("0,2", I8, I8), ("0,2,0", I8, I8), ("-1", F4, F4), ("0,3,-1", I8, F4), ("0,3,1", F4, I8), ("1,2", I8, I8),
    (F4, I8), (), ("x", I8), (I8, "0"), ("0,2,5", I8), (numpy.array([1j], "complex64"), F4[0]), ("0,3,0", I8, F4),
]  # fmt: skip


@pytest.mark.parametrize("key", ROWS, ids=repr)
@pytest.mark.parametrize("name", ["r_", "c_"])
def test_rows(key: Any, name: str) -> None:
    entries = key if isinstance(key, tuple) else (key,)
    forerun_key = tuple(np.array(e) if isinstance(e, numpy.ndarray) else e for e in entries)
    expected = outcome(lambda: getattr(numpy, name)[key])
    if isinstance(expected, list) and expected[0].dtype == "float64":  # an integer with a float gives that float
        expected = [expected[0].astype("float32")]
    assert_same_outcome(outcome(lambda: getattr(np, name)[forerun_key]), expected)


def test_rows_count_numbers_of_a_higher_kind() -> None:
    assert np.r_[np.array(I8), 2.5].dtype == "float32"
    assert np.r_[np.array(I8), 2j].dtype == "complex64"
    assert np.r_[np.array(F4[0]), 2j].dtype == "complex64"
    assert np.r_[np.array([True]), 2].dtype == "int64"
    assert np.r_[1, 2.5].dtype == "float32"


@pytest.mark.parametrize("dtype", ["bool", *"bBhHiIlL", *"efdFD"])
@pytest.mark.parametrize("number", [True, 1, -1, 300, 2**40, 2.5, float("nan"), 1j], ids=repr)
def test_numbers_beside_a_vector(dtype: str, number: Any) -> None:
    npx.set_np(dtype=True)
    vector = numpy.array([1, 0, 1], dtype)
    expected = outcome(lambda: numpy.r_[0, vector, number])
    assert_same_outcome(outcome(lambda: np.r_[0, np.array(vector), number]), expected)


def test_slices_as_objects() -> None:
    assert np.s_[1:2, ..., None] == (slice(1, 2), ..., None)
    assert np.index_exp[3] == (3,)


def test_ndenumerate_and_ndindex() -> None:
    assert [(i, int(v)) for i, v in np.ndenumerate(np.array(M))] == [(i, int(v)) for i, v in numpy.ndenumerate(M)]
    assert list(np.ndindex(2, 3)) == list(numpy.ndindex(2, 3))


def test_broadcast() -> None:
    a, b = numpy.array([[1], [2]]), numpy.array([3, 4, 5])
    result, expected = np.broadcast(np.array(a), b), numpy.broadcast(a, b)
    for name in ("shape", "size", "ndim", "nd", "numiter", "index"):
        assert getattr(result, name) == getattr(expected, name)
    assert [tuple(v.item() for v in pair) for pair in result] == [(int(p), int(q)) for p, q in expected]
    assert result.index == 6
    result.reset()
    assert next(result)[1].item() == 3
    with pytest.raises(ValueError, match=r"broadcast: shapes must broadcast together, got \(2,\) and \(3,\)"):
        np.broadcast(np.ones(2), np.ones(3))


def test_nditer_reads() -> None:
    pairs = np.nditer([np.array(M), numpy.array([1, 2, 3], "int32")])
    assert [int(a * b) for a, b in pairs] == (M * [1, 2, 3]).ravel().tolist()
    with pytest.raises(ValueError, match="read-only"):
        np.nditer(np.array(M), op_flags=["readwrite"])


class TestVectorize:
    """Each way of calling it has NumPy's results."""

    def test_with_dtypes(self) -> None:
        found = np.vectorize(operator.sub, otypes=["int64"])(np.array(M), [1, 2, 3])
        assert same_bits(found.numpy(), numpy.vectorize(operator.sub, otypes=["int64"])(M, [1, 2, 3]))

    def test_several_results(self) -> None:
        quotient, rest = np.vectorize(divmod, otypes=["int64", "float64"])(np.array([7, 8]), 3)
        assert (quotient.tolist(), rest.tolist(), str(rest.dtype)) == ([2, 2], [1.0, 2.0], "float64")

    def test_without_dtypes(self) -> None:
        assert np.vectorize(lambda v: v > 2)(np.array(M)).tolist() == (M > 2).tolist()

    def test_with_a_signature(self) -> None:
        rows = np.vectorize(numpy.cumsum, signature="(n)->(n)", otypes=["int64"])
        assert rows(np.array(M)).tolist() == numpy.cumsum(M, 1).tolist()

    def test_error_of_the_function_is_raised_by_reads(self) -> None:
        found = np.vectorize(lambda v: 1 // v, otypes=["int64"])(np.array([1, 0]))
        with pytest.raises(ZeroDivisionError):
            found.tolist()


def test_piecewise_calls_functions_with_all_elements() -> None:
    shapes: list[Any] = []
    np.piecewise(np.ones(4), [np.arange(4) > 2], [lambda v: shapes.append(v.shape) or v, 0])
    assert shapes == [(4,)]


def test_elements_of_flat_are_read_and_written_where_they_lie() -> None:
    numpy_array, array = numpy.arange(24.0).reshape(2, 3, 4), np.arange(24.0).reshape(2, 3, 4)
    for turn in (lambda x: x, lambda x: x.T, lambda x: x[:, ::-1, ::2], lambda x: x[1]):
        a, b = turn(array), turn(numpy_array)
        for i in (0, 1, -1, b.size - 1, -b.size, 3):
            a.flat[i] = b.flat[i] = i + 0.5
            assert a.flat[i].item() == b.flat[i]
        assert array.tolist() == numpy_array.tolist()
        assert [e.item() for e in a.flat] == list(b.flat)
    with pytest.raises(IndexError):
        array.flat[24] = 1
    with pytest.raises(TypeError):
        del array.flat[0]
    with pytest.raises(TypeError, match="base must be a forerun array"):
        np.flatiter([1])


def test_flat_of_arrays_that_must_not_be_written() -> None:
    view = np.broadcast_to(np.arange(3), (2, 3))
    with pytest.raises(ValueError, match="destination must"):
        view.flat[0] = 1
    view.flat[0]
    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with pytest.raises(RuntimeError, match="must not be written in place"):
            y.flat[0] = 1
        z = y.flat[1] * 3
    z.backward()
    assert x.grad.tolist() == [0, 6, 0]
