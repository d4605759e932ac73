"""Gradients against central differences, of first and second order; and ops without a gradient raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, np
from tests.ops.cases import CASES
from tests.ops.cases.compare import by_name
from tests.ops.cases.table import NONE, ZERO, Case, call_with_sample, mapped, results, to_forerun
from tests.support.comparison.gradients import (
    Function,
    assert_gradient_close,
    central_differences,
    gradients,
    leaves,
    symmetrized,
    weighted_sum,
    zero_of,
)

DIFFERENTIABLE = [c for c in CASES if isinstance(c.grad, tuple)]
# Of symmetric matrices one triangle is looked at; complex vectors have any phase (see test_linalg_gradient.py).
SYMMETRIC = {"np.linalg.cholesky", "np.linalg.eigh", "np.linalg.eigvalsh"}
ANY_PHASE = {"np.linalg.eig", "np.linalg.eigh", "np.linalg.svd"}
COMPLEX = [c for c in DIFFERENTIABLE if "c" in c.dtypes and c.name not in ANY_PHASE]


def samples_and_functions(case: Case, dtype: str) -> list[tuple[list[numpy.ndarray], Callable[[list[Any]], Any]]]:
    """For each sample: its arrays, and the op as a function of a list of arrays in their places."""
    found = []
    for args in case.arguments(dtype):
        arrays: list[numpy.ndarray] = []
        mapped(lambda a, into=arrays: into.append(a), args)

        def function(values: list[Any], args: Any = args) -> Any:
            rest = iter(values)
            return call_with_sample(case.op, mapped(lambda _: next(rest), args))

        found.append((arrays, function))
    return found


def wanted(case: Case, arrays: list[numpy.ndarray]) -> list[int]:
    """Places of the arrays that are differentiated: those of the row that this sample has."""
    return [i for i in case.grad if i < len(arrays) and arrays[i].dtype.kind in "fc"]


def check_first_order(case: Case, dtype: str) -> None:
    for k, (arrays, function) in enumerate(samples_and_functions(case, dtype)):
        places = wanted(case, arrays)
        _, found = gradients(function, arrays, places, create_graph=False)
        for i, g in zip(places, found):
            want = central_differences(
                lambda f=function, a=arrays: weighted_sum(f([to_forerun(x) for x in a])).item(), arrays[i]
            )
            assert_gradient_close(g, symmetrized(want, case.name in SYMMETRIC), f"{case.name}, sample {k}, operand {i}")


@by_name(DIFFERENTIABLE)
def test_first_order(case: Case) -> None:
    check_first_order(case, "float64")


@by_name(DIFFERENTIABLE)
def test_second_order(case: Case) -> None:
    """The gradient of the gradient's weighted sum, where it is on the tape; otherwise that must not change."""
    for k, (arrays, function) in enumerate(samples_and_functions(case, "float64")):
        places = wanted(case, arrays)

        def inner(function: Function = function, arrays: Any = arrays, places: Any = places) -> float:
            return weighted_sum(gradients(function, arrays, places, create_graph=False)[1]).item()

        made = leaves(arrays, places)
        variables = [made[i] for i in places]
        with autograd.record(train_mode=False):
            loss = weighted_sum(function(made)) + zero_of(made)
            first = autograd.grad(loss, variables, create_graph=True)
            total = weighted_sum(first)
        found = [np.zeros_like(x) for x in variables] if total.node is None else autograd.grad(total, variables)
        for i, g in zip(places, found):
            assert_gradient_close(
                g,
                symmetrized(central_differences(inner, arrays[i]), case.name in SYMMETRIC),
                f"{case.name}, sample {k}, operand {i}",
            )


@by_name(COMPLEX)
def test_complex(case: Case) -> None:
    """The gradient of a real number with respect to complex x + iy is its slope in x plus i times that in y."""
    check_first_order(case, "complex128")


@by_name([c for c in CASES if c.grad == ZERO])
def test_piecewise_constant_ops_give_zeros(case: Case) -> None:
    for arrays, function in samples_and_functions(case, "float64"):
        places = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
        made = leaves(arrays, places)
        with autograd.record(train_mode=False):
            total = sum(((made[i] * 3).sum() for i in places), start=np.zeros((), "float64"))
            for r in results(function(made)):
                total = total + r.astype("float64").sum()
        total.backward()
        assert all(set(made[i].grad.ravel().tolist()) <= {3.0} for i in places)


@by_name([c for c in CASES if c.grad == NONE])
def test_ops_without_gradient_raise(case: Case) -> None:
    for arrays, function in samples_and_functions(case, "float64"):
        made = leaves(arrays, [i for i, a in enumerate(arrays) if a.dtype.kind == "f"])
        with autograd.record(train_mode=False):
            found = results(function(made))
            total = sum((r.astype("float64").sum() for r in found), start=np.zeros((), "float64"))
            total = total + zero_of(made)
        with pytest.raises(NotImplementedError, match=r"gradient of operand . must be defined, got"):
            total.backward()


@pytest.mark.parametrize("zeros", [[0], [1, 4], [0, 1, 2]])
@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_products_of_zeros(name: str, zeros: list[int]) -> None:
    """No element may be divided by."""
    x = numpy.linspace(0.5, 2, 6)
    x[zeros] = 0
    x = x.reshape(2, 3)

    def function(values: list[Any]) -> Any:
        return getattr(np, name)(values[0], 1)

    _, (g,) = gradients(function, [x], [0], create_graph=False)
    assert_gradient_close(g, central_differences(lambda: weighted_sum(function([to_forerun(x)])).item(), x), name)


@pytest.mark.parametrize(
    ("function", "at", "slope"),
    [
        (lambda x: x**2, 0.0, 0.0),
        (lambda x: x**1, 0.0, 1.0),
        (lambda x: x**0, 0.0, 0.0),
        (lambda x: x ** np.zeros(()), 0.0, 0.0),
        (lambda x: 2.0**x, 0.0, float(numpy.log(2))),
        (lambda x: np.power(np.zeros(()), x), 2.0, 0.0),
        (np.absolute, 0.0, 0.0),
        (np.square, 0.0, 0.0),
        (lambda x: np.maximum(x, x), 1.0, 1.0),
        (lambda x: np.maximum(x, 1.0), 1.0, 0.5),
        (lambda x: np.minimum(1.0, x), 1.0, 0.5),
        (lambda x: np.max(np.stack([x, x, x - 1])), 1.0, 1.0),
        (lambda x: np.clip(x, -1, 1), 3.0, 0.0),
        (lambda x: np.where(x > 1, x, x * x), 0.5, 1.0),
        (lambda x: x + x + x, 1.0, 3.0),
        (lambda x: np.sort(np.stack([x, -x]))[1], -2.0, -1.0),
    ],
)
def test_slopes_at_edges(function: Any, at: float, slope: float) -> None:
    x = np.array(at)
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    assert x.grad.item() == pytest.approx(slope, abs=1e-6)


def test_broadcast_operands_get_the_sum(engine: str) -> None:
    a, b, c = np.ones((2, 1, 3)), np.ones((4, 1)), np.ones(())
    for x in (a, b, c):
        x.attach_grad()
    with autograd.record(train_mode=False):
        y = a * b + c * a - b
    y.backward()
    assert a.grad.numpy().tolist() == numpy.full((2, 1, 3), 8.0).tolist()
    assert b.grad.numpy().tolist() == numpy.zeros((4, 1)).tolist()
    assert c.grad.item() == 24


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_row_is_differentiated_in_every_mode_alike(create_graph: bool, engine: str) -> None:
    case = next(c for c in CASES if c.name == "npx.layer_norm")
    arrays, function = samples_and_functions(case, "float32")[0]
    again = [gradients(function, arrays, [0, 1, 2], create_graph)[1] for _ in range(2)]
    assert [g.numpy().tobytes() for g in again[0]] == [g.numpy().tobytes() for g in again[1]]


def test_complex_factors_that_are_python_numbers() -> None:
    """The gradient of Re(c z) is the conjugate of c, whether c is an array or a number; that of Im(c b) is Im(c)."""
    z, b = np.array([1 + 1j]), np.array([1.0])
    for c in (2 + 3j, np.array(2 + 3j)):
        for x, function, want in ((z, np.real, 2 - 3j), (b, np.real, 2.0), (b, np.imag, 3.0)):
            x.attach_grad()
            with autograd.record():
                loss = function(c * x).sum()
            loss.backward()
            assert x.grad.item() == want
