"""Gradients of decompositions as far as the table of cases cannot try them: functions that do not depend on the phase
of complex vectors, second order of complex numbers, least squares, edges; functions without a gradient raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, np
from forerun.np.linalg import LinAlgError
from tests.ops.cases.table import Draw, to_forerun
from tests.support.comparison.gradients import (
    assert_gradient_close,
    central_differences,
    gradients,
    leaves,
    symmetrized,
    weighted_sum,
    zero_of,
)

WEIGHTS = numpy.array([1.0, -2.0, 0.5, 3.0])

Made = Callable[[Draw], list[numpy.ndarray]]
Function = Callable[..., Any]


def adjoint(x: Any) -> Any:
    return np.conj(np.matrix_transpose(x))


def outer(x: Any, y: Any) -> Any:
    """x times y, with a weight for each column of x: the phase of a column goes out with that of y's row."""
    return (x * to_forerun(WEIGHTS[: x.shape[-1]])) @ y


def of_eigh(x: Any, uplo: str = "L") -> Any:
    w, v = np.linalg.eigh(x, uplo)
    return w, outer(v, adjoint(v))


def of_svd(x: Any, **options: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False, **options)
    return s, outer(u, adjoint(u)), outer(u, vh), outer(adjoint(vh), vh)


def of_full_svd(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x)
    k = s.shape[-1]
    rest = u[..., k:], adjoint(vh[..., k:, :])
    return s, outer(u[..., :k], vh[..., :k, :]), *(r @ adjoint(r) for r in rest)


def of_complete_qr(x: Any) -> Any:
    q, r = np.linalg.qr(x, "complete")
    n = x.shape[-1]
    return q[..., :n], r, q[..., n:] @ adjoint(q[..., n:])


def of_eig(x: Any) -> Any:
    w, v = np.linalg.eig(x)
    return w, outer(v, np.linalg.inv(v)), outer(v, adjoint(v))


def distinct_eigenvalues(x: Draw, *lead: int) -> numpy.ndarray:
    """Matrices whose eigenvalues are far from one another, in one order."""
    return (0.2 * x(*lead, 3, 3) + numpy.diag([1, 4, 9])).astype(x.dtype)


def of_lstsq(a: Any, b: Any) -> Any:
    x, squares, _, s = np.linalg.lstsq(a, b)
    return x, squares, s


SYMMETRIC: dict[str, tuple[Function, Made]] = {
    "eigh": (of_eigh, lambda x: [x.positive(3)]),
    "eigh, stacked": (of_eigh, lambda x: [x.positive(2, 2)]),
    "eigh, upper": (lambda a: of_eigh(a, "U"), lambda x: [x.positive(3)]),
    "svd, hermitian": (lambda a: of_svd(a, hermitian=True), lambda x: [x.positive(3) - 9 * numpy.eye(3)]),
    "pinv, hermitian": (lambda a: np.linalg.pinv(a, hermitian=True), lambda x: [x.positive(3)]),
    "svdvals, hermitian": (
        lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True),
        lambda x: [x.positive(3)],
    ),
}
FREE: dict[str, tuple[Function, Made]] = {
    "svd": (of_svd, lambda x: [x(3, 3)]),
    "svd, tall": (of_svd, lambda x: [x(4, 3)]),
    "svd, wide and stacked": (of_svd, lambda x: [x(2, 2, 3)]),
    "svd, full and tall": (of_full_svd, lambda x: [x(5, 3)]),
    "svd, full, wide and stacked": (of_full_svd, lambda x: [x(2, 2, 4)]),
    "eig": (of_eig, lambda x: [distinct_eigenvalues(x)]),
    "eig, stacked": (of_eig, lambda x: [distinct_eigenvalues(x, 2)]),
    "eig of a rotation": (
        of_eig,
        lambda x: [(numpy.array([[0.5, 2], [-1, 0.3]]) + 0.1 * x(2, 2)).astype(x.dtype)],
    ),
    "lstsq": (of_lstsq, lambda x: [x(5, 3), x(5)]),
    "lstsq, columns": (of_lstsq, lambda x: [x(4, 2), x(4, 3)]),
    "lstsq, wide": (of_lstsq, lambda x: [x(2, 4), x(2, 2)]),
    "pinv": (np.linalg.pinv, lambda x: [x(4, 2)]),
    "slogdet": (lambda x: tuple(np.linalg.slogdet(x)), lambda x: [x.regular(3)]),
    "solve": (np.linalg.solve, lambda x: [x.regular(2, 2), x(2)]),
    "qr": (lambda x: tuple(np.linalg.qr(x)), lambda x: [x(3, 2)]),
    "qr, wide": (lambda x: tuple(np.linalg.qr(x)), lambda x: [x(2, 3)]),
    "qr, complete": (of_complete_qr, lambda x: [x(5, 3)]),
    "qr, complete and stacked": (of_complete_qr, lambda x: [x(2, 3, 1)]),
    "rfft": (lambda x: np.fft.rfft(np.real(x), 6, norm="ortho"), lambda x: [x(2, 5)]),
    "hfft": (lambda x: np.fft.hfft(x, 5), lambda x: [x(3)]),
    "fft twice along an axis": (lambda x: np.fft.fftn(x, (2, 4), (0, 0)), lambda x: [x(3, 2)]),
}
ALL = SYMMETRIC | FREE


def first_order(name: str, arrays: list[numpy.ndarray]) -> Any:
    return gradients(lambda values: ALL[name][0](*values), arrays, list(range(len(arrays))), create_graph=False)[1]


def second_order(name: str, arrays: list[numpy.ndarray]) -> Any:
    made = leaves(arrays, list(range(len(arrays))))
    with autograd.record(train_mode=False):
        loss = weighted_sum(ALL[name][0](*made)) + zero_of(made)
        total = weighted_sum(autograd.grad(loss, made, create_graph=True))
        total = total + zero_of(made)
    return autograd.grad(total, made)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", ALL)
def test_first_order(name: str, dtype: str) -> None:
    arrays = ALL[name][1](Draw(numpy.random.default_rng(5), numpy.dtype(dtype)))
    loss = lambda: weighted_sum(ALL[name][0](*map(to_forerun, arrays))).item()
    for x, g in zip(arrays, first_order(name, arrays)):
        assert_gradient_close(g, symmetrized(central_differences(loss, x), name in SYMMETRIC), name)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", ALL)
def test_second_order(name: str, dtype: str) -> None:
    arrays = ALL[name][1](Draw(numpy.random.default_rng(5), numpy.dtype(dtype)))
    loss = lambda: weighted_sum(first_order(name, arrays)).item()
    for x, g in zip(arrays, second_order(name, arrays)):
        want = symmetrized(central_differences(loss, x), name in SYMMETRIC)
        scale = max(1.0, float(numpy.abs(want).max()))
        assert_gradient_close(g / scale, want / scale, name)


# --- edges ----------------------------------------------------------------------------------------


def slope(function: Function, x: numpy.ndarray) -> numpy.ndarray:
    return gradients(lambda values: function(*values), [x], [0], create_graph=False)[1][0].numpy()


@pytest.mark.parametrize("function", [np.linalg.eigvalsh, lambda x: np.linalg.eigh(x)[0], np.linalg.svdvals])
def test_equal_values_have_gradients(function: Function) -> None:
    found = slope(lambda x: function(x).sum(), numpy.eye(3))
    numpy.testing.assert_allclose(found, numpy.eye(3), atol=1e-12)


def test_vectors_of_equal_values_have_none() -> None:
    assert not numpy.isfinite(slope(lambda x: np.linalg.eigh(x)[1], numpy.eye(2))).all()


@pytest.mark.parametrize("ord", [None, "fro", 2])
def test_the_slope_of_a_length_at_zero_is_zero(ord: Any) -> None:
    x = numpy.zeros((2, 2)) if ord == "fro" else numpy.zeros(3)
    assert (slope(lambda v: np.linalg.norm(v, ord), x) == 0).all()


def test_missing_gradient_raises() -> None:
    with pytest.raises(NotImplementedError, match=r"^linalg.qr.raw: gradient of operand 0 must be defined, got none"):
        slope(lambda x: np.linalg.qr(x, "raw")[0], numpy.arange(6.0).reshape(3, 2))


def test_the_gradient_of_a_zero_determinant_raises_at_the_read() -> None:
    x = np.zeros((2, 2))
    x.attach_grad()
    with autograd.record():
        y = np.linalg.det(x)
    y.backward()
    assert y.item() == 0
    with pytest.raises(LinAlgError, match="Singular matrix"):
        x.grad.numpy()
