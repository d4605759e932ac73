"""Plain calls with arrays of NumPy: they mean what NumPy means by them, and are copied in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, np, npx
from forerun.testing import closed_gate
from tests.support.comparison.bits import assert_all_same_bits

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
