"""Eigenvalues and eigenvectors, with gradients.

Vectors are determined up to a sign, or a phase if they are complex: gradients are those of functions that do not
depend on it. Where two eigenvalues are equal, vectors have no gradient (the result is inf or NaN if one is asked for),
values have. Formulas: Giles (2008); Boeddeker et al. (2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy

from .._base.convert import check_choice
from .._base.primitive import numpy_when_small, primitive
from .._base.promotion import real_of
from .._base.registry import registered_tuple
from ..create.eye import eye
from ..elementwise.arithmetic import conj_if_complex
from ..index.diagonal import diagonal
from ..shape.complex_parts import real
from .lapack import adjoint, half_hermitian, matrices, quotient, stacked, work
from .matmul import matmul
from .solve import _solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, ArrayLike

__all__ = ["eig", "eigh", "eigvals", "eigvalsh"]


@registered_tuple("linalg.EigResult")
class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


@registered_tuple("linalg.EighResult")
class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


def _spread(x: Array) -> Array:
    """Return matrices with the elements of x, of its last axis, on their diagonals."""
    return x[..., None] * eye(x.shape[-1], dtype=real_of(x.dtype), device=x.device)


# --- eigenvalues of Hermitian matrices ------------------------------------------------------------


def _gaps(w: Array) -> Array:
    """Return w[j] - w[i] at row i and column j."""
    return w[..., None, :] - w[..., :, None]


def _eigh_grad(g: Sequence[Array], y: Sequence[Array]) -> Array:
    (gw, gv), (w, v) = g, y
    inner = quotient(_off_diagonal(matmul(adjoint(v), gv)), _gaps(w))
    return half_hermitian(matmul(matmul(v, inner + _spread(gw)), adjoint(v)))


def _off_diagonal(x: Array) -> Array:
    return x * (1 - eye(x.shape[-1], dtype=real_of(x.dtype), device=x.device))


@primitive(_eigh_grad, op="linalg.eigh")
def _eigh(x: Array, uplo: Literal["L", "U"]) -> tuple[Array, ...]:
    outs = [(x.shape[-1:], real_of(x.dtype)), (x.shape[-2:], x.dtype)]
    return tuple(stacked("eigh", lambda v: tuple(numpy.linalg.eigh(v, uplo)), [x], outs, x.shape[:-2], work(x, 9)))


def _eigvalsh_grad(g: Array, x: Array, uplo: Literal["L", "U"]) -> Array:
    v = _eigh(x, uplo)[1]
    return half_hermitian(matmul(v * g[..., None, :], adjoint(v)))


@primitive(_eigvalsh_grad, op="linalg.eigvalsh")
def _eigvalsh(x: Array, uplo: Literal["L", "U"]) -> Array:
    values = lambda v: numpy.linalg.eigvalsh(v, uplo)
    return stacked("eigvalsh", values, [x], [(x.shape[-1:], real_of(x.dtype))], x.shape[:-2], work(x, 3))[0]


def _triangle(op: str, uplo: str, upper: bool | None) -> Literal["L", "U"]:
    if upper is not None:
        return "U" if upper else "L"
    check_choice(op, "UPLO", uplo.upper(), ("L", "U"))
    return "U" if uplo.upper() == "U" else "L"


@numpy_when_small(numpy.linalg.eigh, "a", "m", "fc", gives=EighResult)
def eigh(a: ArrayLike, UPLO: str = "L", *, upper: bool | None = None) -> EighResult:
    """Return eigenvalues in ascending order and eigenvectors (columns) of symmetric or Hermitian matrices.

    Eigenvalues are real.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    UPLO : str, optional
        The triangle that is read, "L" for the lower or "U" for the upper, which upper (True or False) also says;
        gradients are symmetric.
    upper : bool, optional
        Whether the upper triangle is read; another form of `UPLO`.

    Returns
    -------
    EighResult
        Eigenvalues in ascending order and eigenvectors (columns) of symmetric or Hermitian matrices.

    Raises
    ------
    LinAlgError
        If matrices are not square, and where results are read if it does not converge.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> values, vectors = np.linalg.eigh(x)
    >>> np.round(values, 3).tolist(), np.allclose(x @ vectors, vectors * values, atol=1e-5).item()
    ([1.0, 3.0], True)
    """
    return EighResult(*_eigh(matrices("eigh", a, square=True), _triangle("eigh", UPLO, upper)))


def eigvalsh(a: ArrayLike, UPLO: str = "L", *, upper: bool | None = None) -> Array:
    """Return eigenvalues of symmetric or Hermitian matrices in ascending order: the first result of `eigh`.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    UPLO : str, optional
        The triangle that is read: "L" or "U".
    upper : bool, optional
        Whether the upper triangle is read; another form of `UPLO`.

    Returns
    -------
    array
        Eigenvalues of symmetric or Hermitian matrices in ascending order.

    Examples
    --------
    >>> from forerun import np
    >>> np.round(np.linalg.eigvalsh([[2, 1], [1, 2]]), 3).tolist()
    [1.0, 3.0]
    """
    return _eigvalsh(matrices("eigvalsh", a, square=True), _triangle("eigvalsh", UPLO, upper))


# --- eigenvalues of any matrices ------------------------------------------------------------------


def _eig_grad(g: Sequence[Array], y: Sequence[Array], dtype: numpy.dtype) -> Array:
    """Return the gradient for vectors of length 1 and any phase: Boeddeker et al. (2017)."""
    (gw, gv), (w, v) = g, y
    inner = matmul(adjoint(v), gv)
    inner = inner - matmul(adjoint(v), v * real(diagonal(inner, 0, -2, -1))[..., None, :])
    inner = quotient(_off_diagonal(inner), conj_if_complex(_gaps(w))) + _spread(gw)
    return _as_input(_solve(adjoint(v), matmul(inner, adjoint(v))), dtype)


def _as_input(g: Array, dtype: numpy.dtype) -> Array:
    return g if dtype.kind == "c" else real(g)


def _complex(dtype: numpy.dtype) -> numpy.dtype:
    return numpy.result_type(dtype, numpy.complex64)


@primitive(_eig_grad, op="linalg.eig")
def _eig(x: Array) -> tuple[Array, ...]:
    outs = [(x.shape[-1:], _complex(x.dtype)), (x.shape[-2:], _complex(x.dtype))]
    return tuple(stacked("eig", lambda v: tuple(numpy.linalg.eig(v)), [x], outs, x.shape[:-2], work(x, 25)))


def _eigvals_grad(g: Array, x: Array, dtype: numpy.dtype) -> Array:
    v = _eig(x)[1]
    return _as_input(_solve(adjoint(v), g[..., None] * adjoint(v)), dtype)


@primitive(_eigvals_grad, op="linalg.eigvals")
def _eigvals(x: Array) -> Array:
    outs = [(x.shape[-1:], _complex(x.dtype))]
    return stacked("eigvals", numpy.linalg.eigvals, [x], outs, x.shape[:-2], work(x, 10))[0]


def eig(a: ArrayLike) -> EigResult:
    """Return eigenvalues, in no order, and eigenvectors (columns, of length 1) of square matrices. Always complex.

    (NumPy before 2.5 gives real ones if all happen to be real.) LinAlgError (a ValueError) if matrices are not square,
    and where results are read if values are not finite.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.

    Returns
    -------
    EigResult
        Eigenvalues.

    Raises
    ------
    LinAlgError
        If matrices are not square; where results are read, if values are not finite.

    Examples
    --------
    >>> from forerun import np
    >>> values, vectors = np.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> np.sort(np.round(values, 3)).tolist()
    [-1j, 1j]
    """
    return EigResult(*_eig(matrices("eig", a, square=True)))


def eigvals(a: ArrayLike) -> Array:
    """Return eigenvalues of square matrices, in no order: the first result of `eig`. Always complex.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.

    Returns
    -------
    array
        Eigenvalues of square matrices.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.eigvals([[2, 0], [0, 3]]).tolist()
    [(2+0j), (3+0j)]
    """
    return _eigvals(matrices("eigvals", a, square=True))
