"""Gradients, and central differences to compare them with.

`forerun.testing.check_grads` does it for a function of real arrays; these are for complex ones, and for functions that
read arrays or parameters from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from forerun import autograd, np
from tests.ops.cases.table import results, to_forerun
from tests.support.comparison.tolerances import assert_close

STEP = 1e-5

Function = Callable[[list[Any]], Any]


def central_differences(f: Callable[[], float], x: Any) -> numpy.ndarray:
    """The gradient of f, which reads x, element by element, and for both parts of complex ones; x is put back.

    x: an array of NumPy's, or of forerun's.
    """
    before = numpy.array(x.numpy() if isinstance(x, np.ndarray) else x)
    slopes = numpy.zeros_like(before)
    for i in numpy.ndindex(before.shape):
        for direction in (1, 1j) if before.dtype.kind == "c" else (1,):
            values = []
            for sign in (1, -1):
                moved = before.copy()
                moved[i] += sign * STEP * direction
                x[...] = moved
                values.append(f())
            slopes[i] += (values[0] - values[1]) / (2 * STEP) * direction
    x[...] = before
    return slopes


def symmetrized(slope: numpy.ndarray, condition: bool = True) -> numpy.ndarray:
    """Ops on symmetric matrices have symmetric gradients: two elements that are one share their slope.

    condition: without it the gradient is returned as it is.
    """
    return (slope + slope.conj().swapaxes(-1, -2)) / 2 if condition else slope


def weighted_sum(outputs: Any) -> Any:
    """One number from all inexact results: their sum with weights that tell elements apart."""
    parts = [r for r in results(outputs) if getattr(r, "dtype", numpy.dtype(int)).kind in "fc"]
    total = np.zeros((), parts[0].dtype if parts else "float64")
    for k, part in enumerate(parts):
        weights = numpy.cos(numpy.arange(part.size) + k).reshape(part.shape)
        if part.dtype.kind == "c":
            weights = weights + 1j * numpy.sin(1 + weights)
        total = total + (part * to_forerun(weights)).sum()
    return total.real if total.dtype.kind == "c" else total


def leaves(arrays: Sequence[numpy.ndarray], argnums: Iterable[int] | None = None) -> list[Any]:
    """forerun's arrays, with gradients for the arguments `argnums`; for all of them by default."""
    made = [to_forerun(a) for a in arrays]
    for i in range(len(made)) if argnums is None else argnums:
        made[i].attach_grad()
    return made


def leaves_of(*values: Any, dtype: str = "float64") -> list[Any]:
    """Return arrays of these values, with gradients."""
    return leaves([numpy.array(v, dtype) for v in values])


def zero_of(made: list[Any]) -> Any:
    """Zero, computed from all leaves: a sum with it is on the tape."""
    return sum(((x * 0).sum().real for x in made if x.grad is not None), start=np.zeros((), "float64"))


def gradients(function: Function, arrays: list[numpy.ndarray], argnums: list[int], create_graph: bool) -> Any:
    """The leaves of these arguments, and the gradients of `weighted_sum` with respect to them."""
    made = leaves(arrays, argnums)
    with autograd.record(train_mode=False):
        loss = weighted_sum(function(made)) + zero_of(made)
        found = autograd.grad(loss, [made[i] for i in argnums], create_graph=create_graph)
    return [made[i] for i in argnums], found


def assert_gradient_close(got: Any, want: numpy.ndarray, what: str) -> None:
    """Assert that a gradient has the shape, the dtype and nearly the values of central differences."""
    assert got.shape == want.shape, what
    assert got.dtype == want.dtype, what
    assert_close(got, want, 1e-6, 2e-7, what)


def check_gradients(f: Callable[..., Any], *leaves: Any) -> None:
    """Compares gradients of a weighted sum of f() with differences."""
    rates = np.array(numpy.random.default_rng(2).normal(size=f().shape), dtype="float64")
    with autograd.record():
        y = (f() * rates).sum()
    y.backward()
    found = [leaf.grad.asnumpy().copy() for leaf in leaves]
    for leaf, g in zip(leaves, found):
        with autograd.train_mode():
            numpy.testing.assert_allclose(g, central_differences(lambda: (f() * rates).sum().item(), leaf), 1e-5, 1e-5)
