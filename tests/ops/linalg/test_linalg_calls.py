"""Linear algebra, transforms and einsum: names of results, `out`, refused arguments, and calls that do not wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np
from forerun.np.linalg import LinAlgError
from tests.ops.cases.table import results, to_forerun
from tests.support.engine.waiting import result_without_waiting

RNG = numpy.random.default_rng(1)
SQUARE = RNG.standard_normal((2, 3, 3))
HERMITIAN = SQUARE + 1j * RNG.standard_normal((2, 3, 3))
HERMITIAN = HERMITIAN + HERMITIAN.conj().swapaxes(-1, -2)


@pytest.mark.parametrize("name", ["eig", "eigh", "svd", "qr", "slogdet"])
def test_results_have_numpys_fields(name: str) -> None:
    got, want = getattr(np.linalg, name)(to_forerun(HERMITIAN)), getattr(numpy.linalg, name)(HERMITIAN)
    assert type(got).__name__ == type(want).__name__
    assert got._fields == want._fields
    for field in got._fields:
        numpy.testing.assert_allclose(getattr(got, field).numpy(), getattr(want, field), 1e-12, 1e-12)


HERMITIAN_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "svd": lambda linalg, x: linalg.svd(x, hermitian=True),
    "svd, values": lambda linalg, x: linalg.svd(x, compute_uv=False, hermitian=True),
    "pinv": lambda linalg, x: linalg.pinv(x, hermitian=True),
    "matrix_rank": lambda linalg, x: linalg.matrix_rank(x, hermitian=True),
    "eigh, upper": lambda linalg, x: linalg.eigh(numpy.triu(x) if linalg is numpy.linalg else np.triu(x), "U"),
}


@pytest.mark.parametrize("name", HERMITIAN_CALLS)
def test_hermitian_matrices(name: str) -> None:
    got = results(HERMITIAN_CALLS[name](np.linalg, to_forerun(HERMITIAN)))
    for g, w in zip(got, results(HERMITIAN_CALLS[name](numpy.linalg, HERMITIAN))):
        numpy.testing.assert_allclose(g.numpy(), w, 1e-12, 1e-12)


# --- out ------------------------------------------------------------------------------------------

X = RNG.standard_normal((3, 4))
OUT: dict[str, tuple[Callable[..., Any], tuple[int, ...], str]] = {
    **{f"fft.{name}": (lambda n, x, out, name=name: getattr(n.fft, name)(x, out=out), shape, dtype)
       for name, shape, dtype in [
           ("fft", (3, 4), "c16"), ("ifft", (3, 4), "c16"), ("rfft", (3, 3), "c16"), ("irfft", (3, 6), "f8"),
           ("hfft", (3, 6), "f8"), ("ihfft", (3, 3), "c16"), ("fft2", (3, 4), "c16"), ("ifft2", (3, 4), "c16"),
           ("rfft2", (3, 3), "c16"), ("irfft2", (3, 6), "f8"), ("fftn", (3, 4), "c16"), ("ifftn", (3, 4), "c16"),
           ("rfftn", (3, 3), "c16"), ("irfftn", (3, 6), "f8"),
       ]},
    "outer": (lambda n, x, out: n.outer(x, x[0], out=out), (12, 4), "f8"),
    "einsum": (lambda n, x, out: n.einsum("ij,kj->ik", x, x, out=out), (3, 3), "f8"),
    "multi_dot": (lambda n, x, out: n.linalg.multi_dot([x, x.T, x], out=out), (3, 4), "f8"),
}  # fmt: skip


@pytest.mark.parametrize("name", OUT)
def test_results_are_written_into_out(name: str) -> None:
    function, shape, dtype = OUT[name]
    want = function(numpy, X, numpy.zeros(shape, dtype))
    out = np.zeros(shape, dtype)
    assert function(np, to_forerun(X), out) is out
    numpy.testing.assert_allclose(out.numpy(), want, 1e-12, 1e-12)
    with pytest.raises(ValueError, match="shape"):
        function(np, to_forerun(X), np.zeros((7, 7), dtype))


@pytest.mark.parametrize("name", ["fft.fft", "einsum"])
def test_out_must_be_able_to_hold_the_result(name: str) -> None:
    function, shape, dtype = OUT[name]
    less = {"c16": "float64", "f8": "float32"}[dtype]
    for module, x in ((numpy, X), (np, to_forerun(X))):
        with pytest.raises(TypeError):
            function(module, x, module.zeros(shape, less))


# --- refused arguments ----------------------------------------------------------------------------

HALF = "must be float32/64, complex64/128 or integer, got float16"
REFUSED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    *[
        (lambda x, name=name: getattr(np.linalg, name)(x.astype("float16")), TypeError, f"{name}: dtype {HALF}")
        for name in ("inv", "det", "cholesky", "qr", "svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh", "pinv")
    ],
    (lambda x: np.linalg.norm(x.astype("float16"), 2), TypeError, f"norm: dtype {HALF}"),
    (lambda x: np.linalg.eigh(x, "q"), ValueError, "eigh: UPLO must be one of L, U, got 'Q'"),
    (lambda x: np.linalg.qr(x, "q"), ValueError, "qr: mode must be one of reduced, complete, r, raw, got 'q'"),
    (lambda x: np.linalg.pinv(x, 0.1, rtol=0.1), ValueError, "pinv: rcond or rtol must be given, got both"),
    (lambda x: np.linalg.pinv(x, np.ones(3)), ValueError, "pinv: tolerances must broadcast to (), got shape (3,)"),
    (lambda x: np.linalg.matrix_rank(x, 1, rtol=1), ValueError, "matrix_rank: tol or rtol must be given, got both"),
    (lambda x: np.linalg.cond(x[:0]), LinAlgError, "cond: array must not be empty, got shape (0, 2)"),
    (lambda x: np.linalg.tensorinv(x, 0), ValueError, "tensorinv: ind must be positive, got 0"),
    (lambda x: np.linalg.tensorsolve(x, x), LinAlgError,
     "tensorsolve: axes of a must be those of b and as many elements again, got (2, 2) and (2, 2)"),
    (lambda x: np.linalg.multi_dot([x]), ValueError, "multi_dot: there must be at least two arrays, got 1"),
    (lambda x: np.linalg.multi_dot([x, x[:1]]), ValueError,
     "multi_dot: arrays must be matrices that fit, got shapes [(2, 2), (1, 2)]"),
    (lambda x: np.linalg.outer(x, x), ValueError, "outer: arrays must have one axis, got shapes (2, 2) and (2, 2)"),
    (lambda x: np.linalg.norm(x, axis=(0, 0)), ValueError, "norm: axes must be different, got (0, 0)"),
    (lambda x: np.linalg.norm(x[0], "fro"), ValueError, "norm: ord of vectors must be a number, got 'fro'"),
    (lambda x: np.linalg.norm(x, axis=0.5), TypeError,
     "norm: axis must be None, an integer or a tuple of integers, got 0.5"),
    (lambda x: np.linalg.norm(x, axis=[0, 0]), ValueError, "norm: axes must be different, got (0, 0)"),
    (lambda x: np.einsum("i.j", x), ValueError, "einsum: labels must be letters or one '...' a term, got 'i.j'"),
    (lambda x: np.einsum(x, [0, 52]), ValueError, "einsum: labels must be in [0, 52), got 52"),
    (lambda x: np.einsum(x, [0, "a"]), TypeError, "einsum: labels must be integers or Ellipsis, got 'a'"),
    (lambda x: np.einsum("...i->i", x), ValueError,
     "einsum: labels of the result must be those of operands, once each, got '...i->i'"),
    (lambda x: np.einsum("ij", x, dtype="int32"), TypeError,
     "einsum: casting must be possible by rule 'safe', got float32 to int32"),
    (lambda x: np.einsum("ij", x, order="F"), ValueError, "einsum: order must be one of K, A, C, got 'F'"),
    (lambda x: np.einsum(), ValueError, "einsum: there must be subscripts and operands, got none"),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "kind", "message"), REFUSED, ids=[m for *_, m in REFUSED])
def test_refused_at_the_call(broken: Callable[[Any], Any], kind: type[Exception], message: str) -> None:
    x = np.ones((2, 2))
    with pytest.raises(kind) as caught:
        broken(x)
    assert str(caught.value) == message
    assert not hasattr(caught.value, "__notes__")


# --- calls without a wait -------------------------------------------------------------------------

PROMPT: dict[str, Callable[[Any], Any]] = {
    "least squares without a rest": lambda x: np.linalg.lstsq(x, x[:, 0]),
    "least squares of a wide matrix": lambda x: np.linalg.lstsq(x[:2], x[:2]),
    "a path": lambda x: np.einsum("ij,jk,kl", x, x, x, optimize="optimal"),
    "the text of a path": lambda x: np.einsum_path("ij,jk,kl", x, x, x),
    "a full decomposition": lambda x: np.linalg.svd(x[:2]),
    "a raw one": lambda x: np.linalg.qr(x, "raw"),
    "singular": lambda x: np.linalg.slogdet(x * 0),
}


@pytest.mark.parametrize("name", PROMPT)
def test_returns_while_the_engine_is_held(name: str) -> None:
    x = to_forerun(SQUARE[0])
    result_without_waiting(lambda: PROMPT[name](x * 1))


def test_eigenvalues_are_always_complex() -> None:
    assert np.linalg.eigvals(np.eye(2)).dtype == "complex64"
    assert np.linalg.eig(np.eye(2, dtype="float64"))[1].dtype == "complex128"


def test_eigenvalues_of_nonfinite_matrices_raise_at_the_read() -> None:
    y = np.linalg.eigvals(np.full((2, 2), numpy.nan))
    with pytest.raises(LinAlgError, match="must not contain infs or NaNs"):
        y.numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(7,), (40, 50), (600, 437), (700, 800)])
def test_norms_of_all_elements_have_the_same_bits_in_every_call(shape: tuple[int, ...], dtype: str) -> None:
    """BLAS sums few squares, in the plain call as in the others; and two operations those of many."""
    values = RNG.standard_normal(shape).astype(dtype)
    x = np.array(values)
    plain, named = np.linalg.norm(x).item(), np.linalg.norm(x, None, keepdims=False).item()
    assert plain == named == np.linalg.vector_norm(x).item()
    assert plain == pytest.approx(numpy.linalg.norm(values), rel=1e-6)
    assert np.linalg.norm(x.T).item() == pytest.approx(plain, rel=1e-6)
