"""What the tests of gluon share: samples, and gradients against differences."""

from collections.abc import Callable
from typing import Any

import numpy

from forerun import autograd, np

RNG = numpy.random.default_rng(1)
PRED = RNG.normal(size=(4, 3))
LABEL = RNG.normal(size=(4, 3))
CLASSES = numpy.array([0, 2, 1, 1])
SHARES = numpy.abs(LABEL) / numpy.abs(LABEL).sum(1, keepdims=True)
WEIGHTS = numpy.array([[0.5], [2.0], [0.0], [1.0]])


def array(values: Any, dtype: str | None = "float64") -> Any:
    return np.array(values, dtype=dtype)


def close(x: Any, expected: Any, tolerance: float = 1e-6) -> None:
    numpy.testing.assert_allclose(numpy.asarray(x), expected, rtol=tolerance, atol=tolerance)


def differences(f: Callable[[], float], x: Any, h: float = 1e-5) -> numpy.ndarray:
    """The gradient of f with regard to x, element by element, by central differences; x is put back."""
    before = x.asnumpy().copy()
    slopes = numpy.zeros(before.shape)
    for i in numpy.ndindex(*before.shape):
        for sign in (1, -1):
            moved = before.copy()
            moved[i] += sign * h
            x[...] = moved
            slopes[i] += sign * f() / (2 * h)
    x[...] = before
    return slopes


def check_gradients(f: Callable[..., Any], *leaves: Any) -> None:
    """Compares gradients of a weighted sum of f() with differences."""
    rates = array(numpy.random.default_rng(2).normal(size=f().shape))
    with autograd.record():
        y = (f() * rates).sum()
    y.backward()
    found = [leaf.grad.asnumpy().copy() for leaf in leaves]
    for leaf, g in zip(leaves, found):
        with autograd.train_mode():
            close(g, differences(lambda: (f() * rates).sum().item(), leaf), 1e-5)


def check_gradients_of_gradients(f: Callable[..., Any], *leaves: Any) -> None:
    """Compares gradients with differences: those of the squares of all gradients of a weighted sum of f()**2."""
    rates = array(numpy.random.default_rng(3).normal(size=f().shape))

    def steepness() -> Any:
        with autograd.record():
            loss = (f() ** 2 * rates).sum()
            found = autograd.grad(loss, list(leaves), create_graph=True, retain_graph=True)
            return sum((g**2).sum() for g in found)

    steepness().backward()
    for leaf in leaves:
        g = leaf.grad.asnumpy().copy()
        close(g, differences(lambda: steepness().item(), leaf), 1e-4)
