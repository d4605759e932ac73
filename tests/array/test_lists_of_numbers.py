"""Lists of numbers, of scalars, and of both in place of arrays: they are converted as by NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.testing import assert_array_equal

from forerun import autograd, np, npx
from forerun.ops._base import convert
from forerun.ops._base.primitive import plain_calls
from forerun.testing import closed_gate
from tests.support.engine.settings import running
from tests.support.many_cases import for_each

# Functions whose plain calls take lists, each called with a namespace and a list.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda xp, x, name=name: getattr(xp, name)(x)  # type: ignore[misc]
        for name in (
            "sum", "prod", "max", "min", "any", "all", "mean", "argmax", "argmin", "sort", "argsort", "cumsum", "diff",
            "unique", "count_nonzero", "asarray", "flatnonzero", "abs",
        )
    },
    "sum(axis=0)": lambda xp, x: xp.sum(x, axis=0),
    "max(0)": lambda xp, x: xp.max(x, 0),
    "argmax(axis=-1)": lambda xp, x: xp.argmax(x, axis=-1),
    "sum(keepdims)": lambda xp, x: xp.sum(x, keepdims=True),
    "dot": lambda xp, x: xp.dot(x, x),
    "searchsorted": lambda xp, x: xp.searchsorted(xp.sort(x), x),
    "convolve": lambda xp, x: xp.convolve(x, x),
}  # fmt: skip
SCALARS = [2.5, -1.0, 4.0]
LISTS: dict[str, Callable[[Any], Any]] = {
    "floats": lambda of: [2.5, -1.0, 4.0, 0.5],
    "ints": lambda of: [3, 1, 2],
    "bools": lambda of: [True, False, True],
    "ints and floats": lambda of: [3, 0.5, True],
    "a tuple": lambda of: (3.0, 1.0),
    "rows": lambda of: [[1.0, 5.0], [4.0, 2.0]],
    "scalars": lambda of: [of(v, "float64") for v in SCALARS],
    "scalars of float32": lambda of: [of(v, "float32") for v in SCALARS],
    "scalars of int64": lambda of: [of(v, "int64") for v in (3, 1, 2)],
    "an int first": lambda of: [-1, of(2.5, "float64"), 7, of(1.5, "float64")],
    "a float last": lambda of: [of(2.5, "float64"), 0.1],
    "int64 and ints": lambda of: [of(4, "int64"), -(2**40), 3],
    "int64 and floats": lambda of: [of(4, "int64"), 0.5],
    "NumPy's and forerun's": lambda of: [numpy.float64(0.5), of(2.5, "float64"), numpy.int64(3)],
    "forerun's and wider ones of NumPy": lambda of: [of(2.5, "float32"), numpy.float64(0.1)],
    "bools of both": lambda of: [of(True, "bool"), numpy.bool_(False)],
    "scalars of two dtypes": lambda of: [of(4, "int64"), of(0.5, "float64")],
}


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda s: [s, 0.1], [2.5, 0.1]),
        (lambda s: [[0.1, s], [0.3, 0.7]], [[0.1, 2.5], [0.3, 0.7]]),
        (lambda s: [s, 0.1j], [2.5, 0.1j]),
        (lambda s: [s, 3], [2.5, 3.0]),
    ],
)
def test_numbers_in_a_list_with_a_recorded_array_keep_its_dtype(make: Callable[[Any], Any], want: list[Any]) -> None:
    s = np.array(2.5, "float64")
    s.attach_grad()
    with autograd.record():
        found = np.array(make(s))
    assert found.tolist() == want
    with autograd.record():
        assert np.array([s.astype("float32"), 0.1]).dtype == "float32"


def scalar_of(value: float, dtype: str) -> Any:
    """A scalar as elements of arrays are."""
    return np.array([value], dtype)[0]


def numpy_result(function: Callable[[Any, Any], Any], values: Any) -> Any:
    """NumPy's result where Python's floats are of 32 bits, as forerun's are, beside none of 64."""
    array = numpy.array(values)
    wide = any(isinstance(v, numpy.float64) for v in values)
    return function(numpy, array.astype("float32") if array.dtype == "float64" and not wide else array)


@for_each("name, kind", itertools.product(FUNCTIONS, LISTS))
def test_a_list_is_used_as_the_array_of_its_elements(name: str, kind: str) -> None:
    function = FUNCTIONS[name]
    given = LISTS[kind](lambda value, dtype: numpy.dtype(dtype).type(value))
    if kind == "rows" and name in ("dot", "searchsorted", "convolve"):
        given = given[0]
        found = function(np, given)
    else:
        found = function(np, LISTS[kind](scalar_of))
    want = numpy_result(function, given)
    if name == "mean" and found.dtype == "float32":
        want = numpy.float32(want)  # of integers and bools
    assert_array_equal(found.numpy(), want, strict=True)


def test_lists_of_pending_scalars_do_not_wait() -> None:
    x = np.ones(3, "float64")
    with closed_gate():
        found = np.max([x[0] + 1, -5, x[1]])
    assert found.item() == 2.0


@pytest.mark.parametrize("how", ["sync", "1 worker", "4 workers"])
def test_lists_mean_the_same_in_every_mode(how: str) -> None:
    with running(how):
        assert np.argmax([-1, scalar_of(2.0, "float64"), 1]).item() == 1
        assert np.sum([scalar_of(2.0, "float32"), scalar_of(1.0, "float32")]).dtype == "float32"


@pytest.mark.parametrize(
    ("values", "error"), [([[1.0], [1.0, 2.0]], ValueError), (["a", 1.0], TypeError), ([2**70, 1], TypeError)]
)
def test_ragged_or_invalid_lists_raise_in_the_call(values: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        np.sum(values)


def test_an_int_that_float64_does_not_hold_is_refused_or_rounded_as_by_numpy() -> None:
    big = 2**53 + 1
    assert np.array([scalar_of(1.0, "float64"), big]).numpy().tolist() == numpy.array([1.0, big]).tolist()


NESTED = [
    [1, 2.5, True],
    [[1, 2], [3, 4.5], [True, False]],
    [[[1], [2]], [[3], [2**53 + 1]]],
    ([True, 0], (2, 3)),
    [[True], [False]],
    (1.0, 2**53 + 1, numpy.float64(0.1)),
    [[-0.0, float("nan")], [float("inf"), 1e308]],
    range(3, 9, 2),
    [range(3)],
    [1, [2]],
    [[1], [2, 3]],
    [[], [1]],
    [2**63, 0.5],
    ["1", 2],
    [1, None],
    [1e39, 0],
    [numpy.float32(0.1), numpy.float32(2)],
    [[numpy.int16(3)], [numpy.uint8(200)]],
    [numpy.float32(0.1), 2.5],
    [numpy.float64(0.1), 1j],
    [numpy.complex64(1j)],
    [numpy.float16(0.1), 300],
    [numpy.bool_(True), 2],
    [numpy.int64(2**60), 0.5],
    [numpy.float64(1e39)],
    [numpy.float64("nan"), numpy.int8(3)],
    [numpy.longdouble(1)],
    [numpy.datetime64("2020-01-01")],
    [numpy.str_("a")],
    [1j, 2],
    3,
    2.5,
    True,
    1j,
    2**63,
    -(2**31) - 1,
    300,
    1e39,
    float("nan"),
    numpy.float32(0.1),
    numpy.float64(0.1),
    numpy.float64(1e39),
    numpy.float16(2),
    numpy.int16(-3),
    numpy.uint8(200),
    numpy.uint64(2**63),
    numpy.complex64(1 + 2j),
    numpy.complex128(1),
    numpy.bool_(True),
    numpy.longdouble(0.1),
    numpy.str_("a"),
    None,
    "1",
]
DTYPES = [None, float, "float32", "float16", "int64", "int8", "uint8", "u8", bool, complex, "complex64", "bfloat16"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rules", ["forerun", "numpy", "mxnet"])
@for_each("values, dtype", itertools.product(NESTED, DTYPES))
def test_numbers_are_read_as_by_the_function_behind_the_plain_call(values: Any, dtype: Any, rules: str) -> None:
    def outcome(make: Callable[..., Any]) -> Any:
        try:
            x = make(values) if dtype is None else make(values, dtype)
        except Exception as error:
            return type(error), str(error)
        return x.dtype, x.shape, x.asnumpy().tobytes()

    if rules != "forerun":
        npx.set_np(dtype=rules == "numpy")
    try:
        found = [outcome(make) for make in (np.array, np.asarray, lambda x, *dtype: np.array(x, *dtype, copy=None))]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(convert, "array_of_list", lambda *_: None)
            expected = [outcome(np.array.__wrapped__), outcome(np.asarray.__wrapped__)]
    finally:
        npx.reset_np()
    assert found == [*expected, expected[0]]


@pytest.mark.filterwarnings("error")
@for_each("values, dtype", itertools.product(NESTED, DTYPES))
def test_numbers_are_read_without_warnings(values: Any, dtype: Any) -> None:
    """Other than those of the function behind the plain call."""

    def warned(make: Callable[..., Any]) -> bool:
        try:
            make(values, dtype)
        except Warning:
            return True
        except Exception:
            pass
        return False

    found = warned(np.array)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convert, "array_of_list", lambda *_: None)
        expected = warned(np.array.__wrapped__)
    assert found == expected


@pytest.mark.parametrize("values", [3, [1, 2], [[1.0, 2.0]], numpy.float32(2), numpy.arange(3)], ids=repr)
@pytest.mark.parametrize("ndmin", [0, 1, 2, 3, 4, 5])
def test_new_axes_come_in_front(values: Any, ndmin: int) -> None:
    x, expected = np.array(values, ndmin=ndmin), numpy.array(values, ndmin=ndmin)
    assert (x.shape, x.numpy().tolist()) == (expected.shape, expected.tolist())
    x += 1
    assert x.numpy().tolist() == (expected + 1).tolist()
    again = np.array(x, ndmin=3)
    again *= 2
    assert (again.shape, x.numpy().tolist()) == (numpy.array(expected, ndmin=3).shape, (expected + 1).tolist())


def test_copies_are_made_as_asked_for() -> None:
    x = np.arange(4.0)
    assert np.array(x, copy=None) is x
    assert np.array(x, copy=False) is x
    assert np.array(x, x.dtype, copy=False) is x
    assert np.asarray(x, x.dtype) is x
    assert np.asarray(x, "int32").dtype == "int32"
    assert not np.may_share_memory(np.array(x, copy=True), x)
    with pytest.raises(ValueError, match="copy must not be False"):
        np.array(x, "int32", copy=False)
    with pytest.raises(ValueError, match="copy must not be False"):
        np.array([1, 2], copy=False)
    with pytest.raises(TypeError):
        np.array(x, "float32", True)  # copy is a keyword


@pytest.mark.parametrize("values", [[1, 2.5, True], [[1, 2], [3, 4.5]], ((True, 0),), range(5), [[1], [2]]], ids=str)
def test_nested_lists_of_numbers_are_plain_calls(values: Any) -> None:
    assert plain_calls("array")(values) is not None
    assert plain_calls("asarray")(values, "float64") is not None


@pytest.mark.parametrize("args", [(4,), (1, 4), (0, 9, 2), (9, 2, -3)])
def test_ranges_are_bounded_by_scalars_as_by_numbers(args: tuple[int, ...]) -> None:
    given = [scalar_of(n, "int64") for n in args]
    assert_array_equal(np.arange(*given).numpy(), numpy.arange(*args), strict=True)
    assert_array_equal(np.arange(given[0], 20, 3).numpy(), numpy.arange(args[0], 20, 3), strict=True)
    wide = [scalar_of(n, "float64") for n in args]
    assert np.arange(*wide).dtype == np.arange.__wrapped__(*wide).dtype
    assert np.arange(*wide).tolist() == np.arange.__wrapped__(*wide).tolist()


def test_gradients_flow_through_lists_of_arrays() -> None:
    x = np.array([2.0, -3.0])
    x.attach_grad()
    with autograd.record():
        y = np.abs([x[0], x[1]]).sum() + np.minimum(x, [x[1], 5.0]).sum() + np.add([[x[0]], [x[1]]], 1).sum()
    y.backward()
    assert x.grad.tolist() == [1.0 + 0.0 + 1.0, -1.0 + 2.0 + 1.0]
