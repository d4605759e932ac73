"""Plain calls with arrays of NumPy: they have NumPy's meaning, and the arrays are copied in the call."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from scipy import special

import forerun
from forerun import _core, autograd, np, npx
from forerun.testing import closed_gate
from tests.support.comparison.bits import assert_all_same_bits
from tests.support.many_cases import for_each

X = numpy.linspace(-3, 3, 12).reshape(3, 4)
GIVEN: dict[str, numpy.ndarray] = {
    "float64": X,
    "float32": X.astype("float32"),
    "int64": X.astype("int64"),
    "uint8": numpy.arange(12, dtype="uint8").reshape(3, 4),
    "complex128": X + 1j * X[::-1],
    "bool": X > 0,
    "transposed": X.reshape(4, 3).T,
    "every other": numpy.linspace(-3, 3, 24).reshape(3, 8)[:, ::2],
    "bytes swapped": X.astype(">f8"),
    "read-only": numpy.broadcast_to(X[0], (3, 4)),
    "large": numpy.linspace(0, 1, 3 * 4000).reshape(3, 4000),
    "empty": numpy.ones((0, 4)),
}
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {  # of a module, forerun's array, NumPy's
    "array": lambda xp, s, a: xp.array(a),
    "asarray": lambda xp, s, a: xp.asarray(a),
    "sum": lambda xp, s, a: xp.sum(a),
    "max of columns": lambda xp, s, a: xp.max(a, axis=0) if a.size else xp.sum(a, axis=0),
    "mean": lambda xp, s, a: xp.mean(a, axis=-1),
    "sort": lambda xp, s, a: xp.sort(a),
    "argsort": lambda xp, s, a: xp.argsort(a, kind="stable"),
    "concatenate": lambda xp, s, a: xp.concatenate((a, s, a)),
    "dot": lambda xp, s, a: xp.dot(s, a.T),
    "s @ a": lambda xp, s, a: s @ a.T,
    "a @ s": lambda xp, s, a: a @ s.T,
    "numpy.matmul": lambda xp, s, a: numpy.matmul(a, s.T),
}


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_numpys(name: str, kind: str) -> None:
    a, call = GIVEN[kind], CALLS[name]
    with numpy.errstate(all="ignore"):
        want = numpy.asarray(call(numpy, a.copy(), a))
        found = call(np, np.array(a.tolist(), dtype=a.dtype.newbyteorder("=")).reshape(a.shape), a)
    assert isinstance(found, np.ndarray)
    if name != "mean":  # of integers, a float of 32 bits
        assert found.dtype == want.dtype.newbyteorder("=")
    assert found.shape == want.shape
    numpy.testing.assert_allclose(found.numpy(), want, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("call", [np.array, np.asarray, lambda a: np.concatenate((a, a))])
def test_a_later_write_is_not_seen(call: Callable[..., Any]) -> None:
    a = numpy.ones(5)
    x = call(a)
    a[:] = 7
    assert set(x.tolist()) == {1.0}
    x[0] = 3
    assert set(a.tolist()) == {7.0}


def test_behind_a_closed_gate_and_on_the_tape_results_are_the_same() -> None:
    a, v = X.copy(), numpy.arange(4.0)
    with closed_gate():
        x = np.array(X) * 2
        products = x @ v, v @ x.T, np.concatenate((x, a))
    assert_all_same_bits(products[0].numpy(), (X * 2) @ v)
    assert products[1].tolist() == products[0].tolist()
    assert products[2].shape == (6, 4)
    w = np.array(X)
    w.attach_grad()
    with autograd.record():
        y = (w @ v).sum() + (a @ w.T).sum()
    y.backward()
    assert_all_same_bits(w.grad.numpy(), numpy.tile(v, (3, 1)) + a.sum(axis=0))


def test_mxnets_rules_hold() -> None:
    npx.set_np()
    try:
        assert np.array(numpy.ones(3)).dtype == "float32"
    finally:
        npx.reset_np()


ODD = numpy.array([2, 0, 255, 1], dtype="uint8").view(bool)  # bytes that NumPy takes for True
MASK, WHOLE = numpy.array([True, False, True, True]), X > 0
READS: dict[str, Callable[[Any], Any]] = {
    "mask of rows": lambda x: x[:, MASK],
    "mask of all": lambda x: x[WHOLE],
    "odd bytes": lambda x: x[1][ODD],
    "no element": lambda x: x[WHOLE & False],
    "mask and number": lambda x: x[0, MASK],
    "mask and None": lambda x: x[None, 1, MASK],
    "mask in part": lambda x: x[numpy.array([False, True, True])],
    "too long": lambda x: x[numpy.ones(5, bool)],
    "without axes": lambda x: x[numpy.array(True)],
    "large": lambda x: numpy.resize(WHOLE, (20_000,)),
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "row": lambda x: x.__setitem__(1, X[0] + 1),
    "broadcast": lambda x: x.__setitem__(slice(None), X[:1]),
    "column": lambda x: x.__setitem__((slice(None), 0), X[:, 1].astype("float32")),
    "integers": lambda x: x.__setitem__(0, numpy.arange(4)),
    "more axes": lambda x: x.__setitem__(0, X[None, 2]),
    "wrong shape": lambda x: x.__setitem__(0, X[:, 0]),
    "complex": lambda x: x.__setitem__(0, X[0] * 1j),
    "float64": lambda x: x.__setitem__((1, 2), numpy.float64(0.1)),
    "float32": lambda x: x.__setitem__((1, 2), numpy.float32(0.1)),
    "float16": lambda x: x.__setitem__((1, 2), numpy.float16(0.1)),
    "int64": lambda x: x.__setitem__((1, 2), numpy.int64(2**53 + 1)),
    "uint8": lambda x: x.__setitem__((1, 2), numpy.uint8(200)),
    "bool": lambda x: x.__setitem__((1, 2), numpy.bool_(True)),
    "complex128": lambda x: x.__setitem__((1, 2), numpy.complex128(1j)),
    "datetime64": lambda x: x.__setitem__((1, 2), numpy.datetime64("2020")),
    "scalar in a slice": lambda x: x.__setitem__((slice(None), 1), numpy.float64(7)),
    "under a mask": lambda x: x.__setitem__(WHOLE, 0.5),
    "under a mask, a scalar": lambda x: x.__setitem__(WHOLE, numpy.float64(0.25)),
    "under a mask, an array": lambda x: x.__setitem__(WHOLE, X[WHOLE] * 2),
    "under a mask of rows": lambda x: x.__setitem__((slice(None), MASK), 9),
    "too few under a mask": lambda x: x.__setitem__(WHOLE, X[0, :3]),
    "sum under a mask": lambda x: x.__setitem__(MASK[:3], x[MASK[:3]] + numpy.float64(1)),
}


def outcome_and_array(call: Callable[[Any], Any], x: Any) -> tuple[Any, ...]:
    """Return the result of a call, or its error, and the array after it."""
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        try:
            found = call(x)
        except (IndexError, TypeError, ValueError) as error:
            return type(error), x.tolist()
    got = () if found is None else (found.shape, found.dtype, found.tolist())
    return *got, x.dtype, x.tolist()


@for_each("name, dtype", itertools.product([*READS, *WRITES], ["float64", "float32", "int64", "complex128", "bool"]))
def test_indices_and_values_are_numpys(name: str, dtype: str, engine: str) -> None:
    call = (READS | WRITES)[name]
    assert outcome_and_array(call, np.array(X).astype(dtype)) == outcome_and_array(call, X.astype(dtype))


def test_masks_and_values_are_copied_in_the_call() -> None:
    a, mask, x = X[0].copy(), WHOLE.copy(), np.array(X)
    with closed_gate():
        x[1] = a
        later = x[mask]
        x[mask] = -1
        a[:], mask[:] = 9, False
    want = numpy.array([X[0], X[0], X[2]])
    assert later.tolist() == want[WHOLE].tolist()
    assert x.tolist() == numpy.where(WHOLE, -1, want).tolist()


@pytest.mark.parametrize(
    "statement",
    [
        "x[1]", "x[whole]", "x[:, mask]", "x[whole] = 1.0", "x[:, mask] = 1.0", "x[1] = row", "x[1, 2] = one",
        "x[1, 2] = numpy.float64(3)", "x[1, 2] = numpy.int64(3)", "np.array([whole, whole])",
        "expit(x)", "expit(x[0, 0])", "x[1, 2] = k", "x[[k, 1]]", "x[[True, False, True]]", "x[..., p]", "x[[k]] = 1.0",
    ],
)  # fmt: skip
def test_plain_calls_with_arrays_of_numpy_need_no_python_function(statement: str) -> None:
    x = np.array(X)
    space = {"x": x, "mask": MASK, "whole": WHOLE, "row": X[0], "one": X[0, 0], "np": np, "numpy": numpy}
    space |= {"expit": special.expit, "p": np.array([0, 1]), "k": np.array([1])[0]}
    code = compile(statement, "<statement>", "exec")
    exec(code, space)  # an operation is made of a ufunc of another library when it is first met
    calls: list[Any] = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == "call" else None)
    try:
        exec(code, space)
    finally:
        sys.setprofile(None)
    assert calls == [code]


@pytest.mark.parametrize("index", [[1, 2], numpy.array([1, 2]), np.array([1, 2])], ids=["list", "NumPy", "forerun"])
def test_take_from_a_large_array_does_not_copy(index: Any) -> None:
    x = numpy.arange(1_000_000.0).reshape(1000, 1000)
    before = forerun.memory()["live"]
    _core.reset_peak()
    found = np.take(x, index, axis=0)
    assert forerun.memory()["peak"] - before < x.nbytes / 10
    x[:] = 0
    assert found.tolist() == numpy.arange(1000.0, 3000.0).reshape(2, 1000).tolist()
