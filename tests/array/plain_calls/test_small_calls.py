"""Plain calls on small arrays run in the call, by NumPy's function or the core's, with the Python function's bits."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np
from forerun.testing import closed_gate
from tests.support.comparison.call_tables import CALLS, OF_NUMBERS, VIEWS
from tests.support.comparison.outcomes import comparable, outcome

DTYPES = (
    "bool", "uint8", "int8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
VALUES = numpy.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [0, 0, 7, 1, 9]])


def operands(dtype: str) -> dict[str, Any]:
    """Arrays that calls name."""
    x = np.array((VALUES % 2 if dtype == "bool" else VALUES).astype(dtype))
    return {
        "np": np, "float64": numpy.float64,
        "A": x, "x": x.reshape(-1), "s": np.array(numpy.sort(VALUES.reshape(-1)).astype(dtype)), "T": x.T,
        "p": np.array([2, 0, -1, 4]), "m": np.array(VALUES.reshape(-1) % 2 == 0), "v": x[:, 1],
        "k": np.array([[1], [0], [2]]),
        "w": np.array([0.5, 1.5, 2.5]),
        "S": np.array((VALUES[:, :3] % 2 + [[5, 0, 0], [0, 5, 0], [0, 0, 5]]).astype(dtype)),
        "Z": np.array((VALUES[:, :3] * 0).astype(dtype)),
    }  # fmt: skip


class Functions:
    """`np`, or a module of it, with the Python functions in place of the core's entries."""

    def __init__(self, module: ModuleType = np) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.module, name)
        return Functions(found) if isinstance(found, ModuleType) else getattr(found, "__wrapped__", found)


def outcome_of(code: str, space: dict[str, Any], read: Callable[[Any], Any] = comparable) -> Any:
    """Return the result of a call, or the type of the error of the call or of reading."""
    return outcome(eval, code, space, read=read, error=type)


def assert_same_outcomes(calls: tuple[str, ...], space: dict[str, Any]) -> None:
    """Each call gives the same by its entry, by its Python function, and behind a closed gate."""
    for call in calls:
        entry, function = outcome_of("np." + call, space), outcome_of("np." + call, {**space, "np": Functions()})
        assert entry == function, call


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_equal_python_function(dtype):
    assert_same_outcomes(CALLS, operands(dtype))


@pytest.mark.parametrize("call", ["append(x, 3)", "append(x, 2.5)", "append(p, 2)", "append([], 3)", "append(x, p)"])
def test_a_program_that_appends_number_after_number_needs_no_python_function(call):
    space, calls = operands("float64"), []
    code = compile("np." + call, "call", "eval")
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        eval(code, space)
    finally:
        sys.setprofile(None)
    assert calls == ["<module>"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_view_strides_equal_python_function(dtype):
    space = operands(dtype)
    assert_same_outcomes(VIEWS, space)
    for call in VIEWS:
        view = outcome_of("np." + call, space, read=lambda view: view)
        if isinstance(view, type):
            continue
        assert view is space["x"] or view.size == 1 or np.shares_memory(view, space["x"]), call
        before = space["x"].numpy().copy()
        view[...] = 1 - view
        assert view.tolist() != before.tolist()
        view[...] = 1 - view
        assert (space["x"].numpy() == before).all() or dtype in ("bool", "float16"), call


def test_views_of_pending_arrays():
    with closed_gate():
        x = np.arange(6.0).reshape(2, 3) + 1
        views = np.flip(x, 0), np.diagonal(x), x.swapaxes(0, 1), np.rot90(x)
    values = numpy.arange(6.0).reshape(2, 3) + 1
    wanted = numpy.flip(values, 0), numpy.diagonal(values), values.T, numpy.rot90(values)
    assert [v.tolist() for v in views] == [w.tolist() for w in wanted]


def test_results_for_numbers_equal_python_function():
    assert_same_outcomes(OF_NUMBERS, {"np": np})


def issued_behind_a_gate(call: str, space: dict[str, Any]) -> Any:
    """The outcome of a call that was issued while nothing could run."""

    def issue() -> Any:
        with closed_gate():
            return eval("np." + call, space)

    return outcome(issue, read=comparable, error=type)


WAITING = ("where(m)", "unique", "nonzero", "argwhere", "bincount", "1d(", "compress", "extract")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_behind_a_closed_gate_results_are_the_same(dtype):
    space = operands(dtype)
    for call in CALLS:
        if any(name in call for name in WAITING):
            continue
        now = outcome_of("np." + call, space)
        assert issued_behind_a_gate(call, space) == now, call


def calls_of(function: Any, work: Callable[[], Any]) -> int:
    """How often work runs the Python function behind an entry."""
    count = 0

    def seen(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is function.__wrapped__.__code__

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "call",
    [
        "lexsort((x, x))", "argpartition(x, 3)", "searchsorted(s, x)", "bincount(p % 3)", "unique(x)",
        "digitize(x, s)", "histogram(x)", "isin(x, x)", "take(x, p)", "take_along_axis(x, p, 0)", "nonzero(x)",
        "compress(m, x)", "convolve(x, v)", "array([1.0, 2.0])", "array([x, x])", "asarray(x)", "eye(3)",
        "identity(3)", "full_like(x, 2)", "empty_like(x)", "ravel_multi_index((p % 3, p % 2), (3, 2))",
        "unravel_index(p % 3, (2, 2))", "hstack([x, v])", "vstack([x, x])", "convolve(x, v, 'same')",
        "searchsorted(s, 3)", "linalg.inv(S)", "linalg.solve(S, A)", "linalg.det(S)", "linalg.cholesky(S @ S.T)",
        "quantile(x, 0.5)", "percentile(x, [50, 90])", "linalg.norm(x)", "fft.fft(x)", "fft.ifft(x)",
        "fft.rfft(A)", "fft.irfft(x)",
        # lists of numbers
        "argmax([x[0], x[1]])", "argmax([-1, x[0], 2.5])", "sum([1.0, 2.0])", "max((x[0], x[1]))", "mean([x, x])",
        "sort([3, 1, 2])", "linalg.norm([3.0, 4.0])", "convolve([1.0, 2.0], [3.0])", "array([-1, x[0]])",
        "array([float64(2.5), 1.0, 3], dtype=float64)", "array([[float64(2.5)], [1.0]], float64)",
        "array([])", "concatenate([x, p])", "concatenate(([1], x))", "stack([x[0], x[1]])", "imag(x * 1j)",
        "real(x[0])",
    ],
)  # fmt: skip
def test_a_plain_call_of_settled_arrays_needs_no_python_function(call):
    space = operands("float64")
    forerun.waitall()
    function = operator.attrgetter(call.split("(")[0])(np)
    assert calls_of(function, lambda: eval("np." + call, space)) == 0
    with autograd.record():
        assert calls_of(np.take, lambda: np.take(space["x"], space["p"])) == 1


def test_argsort_keeps_the_order_of_equal_elements():
    values = numpy.random.default_rng(3).integers(0, 9, 4000)
    for dtype in ("int8", "int32", "int64", "uint64", "float16", "float32", "float64"):
        v = values.astype(dtype)
        if v.dtype.kind == "f":
            v[::7], v[::5] = numpy.nan, -0.0
        assert (np.argsort(np.array(v)).numpy() == numpy.argsort(v, kind="stable")).all(), dtype


def test_a_list_of_positions_picks_as_an_array_of_them_does(engine):
    x = np.array(VALUES)
    assert x[[0, -1, 0]].tolist() == VALUES[[0, -1, 0]].tolist()
    for index in ([3], [-4], [2**70]):
        with pytest.raises((IndexError, OverflowError)):
            x[index]
    assert x[[True, False, True]].tolist() == VALUES[[True, False, True]].tolist()


def test_a_task_that_fails_in_the_call_keeps_no_frames_of_the_program():
    x, bins = np.array([1.0, 2.0]), np.array([3.0, 1.0, 2.0])
    y = np.digitize(x, bins)  # which holds its failure, in a frame that the failure must not hold
    with pytest.raises(ValueError, match="monoton"):
        y.numpy()


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 2, 2)])
def test_numbers_on_the_diagonal_are_numpys(engine, shape):
    for value, dtype, wrap in ((7, "int64", False), (2.5, "float32", True), (1, "uint8", True)):
        expected = numpy.zeros(shape, dtype)
        array = np.array(expected)
        numpy.fill_diagonal(expected, value, wrap)
        np.fill_diagonal(array, value, wrap)
        assert (array.numpy() == expected).all()
    turned = np.array(numpy.zeros((3, 4))).T
    np.fill_diagonal(turned, 5)
    assert turned.sum().item() == 15
