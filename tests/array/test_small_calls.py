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
from tests.support.outcomes import outcome, seen

DTYPES = (
    "bool", "uint8", "int8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
VALUES = numpy.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [0, 0, 7, 1, 9]])


def of(dtype: str) -> dict[str, Any]:
    """Arrays that calls name."""
    x = np.array((VALUES % 2 if dtype == "bool" else VALUES).astype(dtype))
    return {
        "np": np, "A": x, "x": x.reshape(-1), "s": np.array(numpy.sort(VALUES.reshape(-1)).astype(dtype)), "T": x.T,
        "p": np.array([2, 0, -1, 4]), "m": np.array(VALUES.reshape(-1) % 2 == 0), "v": x[:, 1],
        "k": np.array([[1], [0], [2]]),
        "w": np.array([0.5, 1.5, 2.5]),
        "S": np.array((VALUES[:, :3] % 2 + [[5, 0, 0], [0, 5, 0], [0, 0, 5]]).astype(dtype)),
        "Z": np.array((VALUES[:, :3] * 0).astype(dtype)),
    }  # fmt: skip


CALLS = (
    "isin(A, [1, 2, 3])", "isin(x, [1, 2.5])", "isin(w, [1, 2**40])", "isin(x, [])", "isin(x, [True, 2])",
    "isin(x, [2**70])", "diag(x)", "diag(A)", "diag(T)", "diag(x[::2])", "diag(x, 1)", "tri(4)", "tri(3, 5, -1)",
    "tri(3, None, 1)", "tri(0)", "tri(-1)", "tri(2, dtype=int)", "tri(2.5)", "stack([x, x])", "stack((A, A))",
    "stack([T, T])", "stack([A[0], A[1]])", "stack([x, v])", "concatenate([A, A])", "concatenate([T, T])",
    "concatenate([x, x[:2], x[::3]])", "concatenate([x, A])", "array([A[0], A[1]])",
    "tril(A)", "tril(A, -1)", "tril(A, k=1)", "triu(A)", "triu(A, 2)", "triu(T)", "tril(A, 9)", "triu(A, -9)",
    "tril(x)", "triu(A, 2.5)", "tril(A[:0])", "cross(A[:, :3], A[:, 2:5])", "cross(A[:, :2], A[:, :2])",
    "cross(x[:3], A[:, :3])", "cross(x[:3], x[1:4], axis=0)", "cross(x[:4], x[:4])",
    "histogram2d(x, s)", "histogram2d(x, s, 3)", "histogram2d(x, v)", "histogram2d(x, s, bins=0)",
    "polyfit(s, x, 1)", "polyfit(s, x, deg=3)", "polyfit(s, v, 1)", "polyfit(s, A, 1)", "polyfit(s, x, -1)",
    "lexsort((x, x))", "lexsort([v, x[:3]], -1)", "argpartition(x, 3)", "argpartition(A, -1, 0)",
    "searchsorted(s, x)", "searchsorted(s, A, side='right')", "searchsorted(s, x[3])", "bincount(x)",
    "bincount(v, w)", "bincount(x, minlength=20)", "unique(x)", "unique(A, return_counts=True)",
    "unique(T, True, True, True)", "unique(A, axis=0)", "digitize(x, s)", "digitize(A, s, True)",
    "histogram(x)", "histogram(x, 4)", "isin(A, p)", "isin(x, v, invert=True)", "intersect1d(x, s)",
    "intersect1d(x, s, return_indices=True)", "union1d(x, v)", "setdiff1d(x, v)", "setxor1d(x, v)",
    "take(x, p)", "take(A, p)", "take(A, k, 0)", "take(T, p, axis=0, mode='clip')", "take(x, p, mode='wrap')",
    "take_along_axis(A, k, 1)", "take_along_axis(x, p, 0)", "take_along_axis(A, p, None)", "nonzero(x)",
    "nonzero(A)", "argwhere(T)", "flatnonzero(A)", "compress(m, x)", "compress(m[:3], A, axis=0)",
    "extract(m, x)", "choose(k[:, 0], [w, w, v])", "choose(k, [A, A, A])",
    "ravel_multi_index((p % 3, p % 2), (3, 2))", "unravel_index(p % 3, (2, 2))", "unravel_index(p % 3, 4)",
    "convolve(x, v)", "convolve(v, x)", "argsort(x)", "argsort(A, 0)", "argsort(T)", "array(x)", "array(A)",
    "asarray(x)", "array([x, x])", "array([v[0], v[1]])", "array((v, v))", "asarray([v[0], v[1]])",
    "full_like(x, 1)", "full_like(A, 2.5)", "empty_like(A).shape", "repeat(x, 3)", "repeat(A, 2, 1)",
    "repeat(A, 0, 0)", "repeat(T, 2)", "insert(x, 0, 1)", "insert(x, -1, 1)", "insert(A, 1, v[:, None], 1)",
    "insert(A, 3, x[:5], 0)", "insert(x, 15, 1)", "delete(x, 0)", "delete(x, -1)", "delete(A, 1, 0)",
    "delete(T, 1)", "hstack([x, v])", "hstack((A, A))", "hstack([T, T[:, :1]])", "hstack([A, x])", "hstack([w, x])",
    "vstack([x, x])", "vstack([A, A[:1]])", "vstack([A, x[:5]])", "vstack([x, v])", "vstack((T, T))",
    "convolve(x, v, 'same')", "convolve(x, v, mode='valid')", "convolve(x, v, 'none')", "searchsorted(s, 3)",
    "searchsorted(s, 2.5, side='right')", "linalg.inv(S)", "linalg.inv(Z)", "linalg.inv(A)", "linalg.solve(S, x[:3])",
    "linalg.solve(S, A)", "linalg.solve(S, w)", "linalg.solve(S, x)", "linalg.solve(Z, A)", "linalg.det(S)",
    "linalg.det(Z)", "linalg.cholesky(S @ S.T)", "linalg.cholesky(-S)", "linalg.norm(x)", "linalg.norm(A)",
    "linalg.norm(T)", "linalg.norm(v, 1)", "linalg.norm(A, axis=0)", "fft.fft(x)", "fft.fft(A, axis=0)",
    "fft.fft(x, 4)", "fft.fft(x, norm='ortho')", "fft.fft(A, 7, norm='forward')", "fft.fft(T, 9)",
    "fft.ifft(x, None, 0, 'ortho')", "fft.ifft(A, norm='forward')", "fft.rfft(A)",
    "fft.rfft(x, n=20)", "fft.irfft(x)", "fft.irfft(A, 7)", "fft.irfft(v, axis=1)", "fft.fft(x, 0)", "delete(x, 99)",
    "insert(x, 2, 2.5)", "append(x, x)", "append(x, 1)", "append(x, 1.5)", "append(A, x)", "correlate(x, w)",
    "correlate(v, x, 'same')", "correlate(x, x[:3], 'full')", "interp(w, s, x)", "interp(x, s, x)",
    "interp(2.5, s, x)", "median(x)", "median(A, 1)", "percentile(x, 30)", "percentile(x, 2.5)", "gradient(x)",
    "partition(x, 3)", "partition(A, 1, 0)", "polyval(v, x)", "pad(x, 2)", "pad(A, 1, 'edge')",
    "pad(A, 2, mode='wrap')", "pad(T, 3, 'edge')", "tile(x, 3)", "tile(A, 2)", "searchsorted(s, 2)",
    "searchsorted(s, 2.5)", "count_nonzero(x)", "count_nonzero(m)", "count_nonzero(A, 0)", "diag(x)", "diag(v, -1)",
    "diag(A)", "hstack([x, x])", "vstack((A, v[:1]))", "inner(x, s)", "inner(A, A)", "vdot(x, s)", "vdot(A, A)",
    "trace(A)", "trace(T, 1)", "where(m)", "where(m, x, s)", "ascontiguousarray(T)", "ascontiguousarray(x)",
    "linalg.norm(A, axis=1)", "linalg.norm(A, 1)", "linalg.inv(T[:3])", "linalg.inv(A[:, :3])", "linalg.det(A[:, :3])",
    "linalg.solve(A[:, :3], v)", "linalg.solve(A[:, :3], A)", "linalg.cholesky(A[:, :3])", "linalg.eigh(A[:, :3])",
    "linalg.svd(A)", "linalg.svd(A[:, :3])", "linalg.qr(T)", "fft.fft(A, 3, 0)", "fft.rfft(x)", "fft.rfft(v, 4)",
    "fft.fft2(A)", "add.reduce(x)", "multiply.reduce(v)", "maximum.reduce(x)", "add.accumulate(x)",
    "maximum.accumulate(x)", "minimum.accumulate(A)", "maximum.accumulate(A, axis=1)",
    "flip(A[0, 0])", "flip(A[1:2, 1:2].reshape(()))", "atleast_2d(A[1:2, 1:2].reshape(()))",
)  # fmt: skip
VIEWS = (
    "expand_dims(x, 0)", "expand_dims(A, -1)", "expand_dims(x, 3)", "squeeze(A[:, :1])", "squeeze(A[:1], 0)",
    "squeeze(A, 0)", "moveaxis(A, 0, 1)", "moveaxis(A, 0, 2)", "swapaxes(T, 0, -1)", "swapaxes(A, 0, 2)",
    "atleast_1d(x)", "atleast_2d(x)", "atleast_2d(A)", "atleast_3d(x)", "atleast_3d(T)", "flip(x)", "flip(A, 0)",
    "flip(x[::2])", "fliplr(A)", "fliplr(x)", "flipud(T)", "rot90(A)", "rot90(A, -1)", "rot90(T, 2)", "diagonal(A)",
    "diagonal(T, 1)", "diagonal(A, -2, 1, 0)", "real(x)", "real(T)",
)  # fmt: skip
WAITING = ("where(m)", "unique", "nonzero", "argwhere", "bincount", "1d(", "compress", "extract")
OF_NUMBERS = (
    "array([1.0, 2.0])", "array([1, 2])", "array([[1, 2.5], [3, 4]])", "array([True, False])",
    "array([1, 0.1])", "array([2**62, 1])", "array([0.1, 1e300])", "array([0.1, 0.2], 'float64')",
    "array([1, 2], dtype='float32')", "array((0.1, float('nan')))", "array([[1], [2]], int)", "asarray([0.1])",
    "array([])", "array([1, 2**70][:1])", "array([1j, 2])", "array([2**53 + 1, 2], float)", "eye(3)",
    "eye(3, dtype='int8')", "eye(0)", "eye(2, 3)", "identity(4)", "identity(2, dtype='float64')",
    "empty(3).shape", "eye(4, k=1)",
)  # fmt: skip


class Functions:
    """`np`, or a module of it, with the Python functions in place of the core's entries."""

    def __init__(self, module: ModuleType = np) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.module, name)
        return Functions(found) if isinstance(found, ModuleType) else getattr(found, "__wrapped__", found)


def outcome_of(code: str, space: dict[str, Any], read: Callable[[Any], Any] = seen) -> Any:
    """What a call gives, or of which type the error is that it or reading raises."""
    return outcome(eval, code, space, read=read, error=type)


def compared(calls: tuple[str, ...], space: dict[str, Any]) -> None:
    """Each call gives the same by its entry, by its Python function, and behind a closed gate."""
    for call in calls:
        entry, function = outcome_of("np." + call, space), outcome_of("np." + call, {**space, "np": Functions()})
        assert entry == function, call


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_entry_gives_what_its_python_function_gives(dtype):
    compared(CALLS, of(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_view_lies_as_that_of_its_python_function(dtype):
    space = of(dtype)
    compared(VIEWS, space)
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


def test_a_view_can_be_made_of_values_that_are_not_there():
    with closed_gate():
        x = np.arange(6.0).reshape(2, 3) + 1
        views = np.flip(x, 0), np.diagonal(x), x.swapaxes(0, 1), np.rot90(x)
    values = numpy.arange(6.0).reshape(2, 3) + 1
    wanted = numpy.flip(values, 0), numpy.diagonal(values), values.T, numpy.rot90(values)
    assert [v.tolist() for v in views] == [w.tolist() for w in wanted]


def test_an_entry_gives_what_its_python_function_gives_of_numbers():
    compared(OF_NUMBERS, {"np": np})


def issued_behind_a_gate(call: str, space: dict[str, Any]) -> Any:
    """The outcome of a call that was issued while nothing could run."""
    try:
        with closed_gate():
            result = eval("np." + call, space)
        return seen(result)
    except Exception as error:
        return type(error)


WAITING = ("where(m)", "unique", "nonzero", "argwhere", "bincount", "1d(", "compress", "extract")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_behind_a_closed_gate_results_are_the_same(dtype):
    space = of(dtype)
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
        "linalg.norm(x)", "fft.fft(x)", "fft.ifft(x)", "fft.rfft(A)", "fft.irfft(x)",
    ],
)  # fmt: skip
def test_a_plain_call_of_settled_arrays_needs_no_python_function(call):
    space = of("float64")
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
        theirs = numpy.zeros(shape, dtype)
        mine = np.array(theirs)
        numpy.fill_diagonal(theirs, value, wrap)
        np.fill_diagonal(mine, value, wrap)
        assert (mine.numpy() == theirs).all()
    turned = np.array(numpy.zeros((3, 4))).T
    np.fill_diagonal(turned, 5)
    assert turned.sum().item() == 15
