"""Decompositions of matrices into factors, with gradients: Cholesky, QR, singular values.

Vectors are determined up to a sign, or a phase if they are complex: gradients are those of functions that do not
depend on it. Likewise the columns of a square factor that the matrix does not need are any basis of the orthogonal
complement: gradients are those of functions that do not depend on which. Where two singular values are equal, vectors
have no gradient (the result is inf or NaN if one is asked for), values have. Formulas: Giles (2008); Murray (2016);
Walter and Lehmann (2012) for QR; Wan and Zhang (2019) for complex singular vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy

from .._base import core as _core
from .._base.convert import check_choice
from .._base.primitive import numpy_when_small, primitive
from .._base.promotion import real_of
from .._base.registry import registered_tuple
from ..create.eye import eye
from ..elementwise.arithmetic import absolute, copysign
from ..index.diagonal import diagonal, tril
from ..index.getitem import take_along_axis
from ..shape.complex_parts import imag
from ..shape.join import concatenate
from ..sort.sort import argsort, sort
from .eig import _gaps, _off_diagonal, _spread, eigh, eigvalsh
from .lapack import adjoint, half_hermitian, matrices, quotient, stacked, work
from .matmul import matmul
from .solve import _solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, ArrayLike

__all__ = ["cholesky", "qr", "svd", "svdvals"]


@registered_tuple("linalg.QRResult")
class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Array
    R: Array


@registered_tuple("linalg.SVDResult")
class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Array
    S: Array
    Vh: Array


def _halved_diagonal(x: Array) -> Array:
    return x * (1 - 0.5 * eye(x.shape[-1], x.shape[-1], dtype=real_of(x.dtype), device=x.device))


def _first(g: Array, x: Array, k: int) -> Array:
    """Return the gradient of a unitary matrix's columns as one of the first k alone.

    To stay orthogonal to these, the others move by -first (d first)^H rest; their further change is not determined.
    """
    first, rest = x[..., :k], x[..., k:]
    return g[..., :k] - matmul(rest, matmul(adjoint(g[..., k:]), first))


# --- Cholesky -------------------------------------------------------------------------------------


def _cholesky_grad(g: Array, y: Array, upper: bool) -> Array:
    """Murray (2016), equation 8: the triangle of L^H g, halved on the diagonal, between inverses of L; Hermitian."""
    lower, g = (adjoint(y), adjoint(g)) if upper else (y, g)
    inner = _halved_diagonal(tril(matmul(adjoint(lower), g)))
    half = _solve(adjoint(lower), inner)
    return half_hermitian(adjoint(_solve(adjoint(lower), adjoint(half))))


@primitive(_cholesky_grad, op="linalg.cholesky")
def _cholesky(x: Array, upper: bool) -> Array:
    factor = lambda v: numpy.linalg.cholesky(v, upper=upper)
    return stacked("cholesky", factor, [x], [(x.shape[-2:], x.dtype)], x.shape[:-2], x.shape[-1] ** 3)[0]


@numpy_when_small(numpy.linalg.cholesky, "a", "m", "Fc")
def cholesky(a: ArrayLike, /, *, upper: bool = False) -> Array:
    """Return the lower triangle L with L @ L.T = a, of symmetric matrices; or with `upper` U with U.T @ U = a.

    Of complex ones, L.T conjugated. Only that triangle of a is read; gradients are symmetric.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    upper : bool, optional
        Whether the upper triangle is used, and not the lower one.

    Returns
    -------
    array
        The lower triangle L with L @ L.T = a.

    Raises
    ------
    LinAlgError
        If matrices are not square, and where the result is read if a is not positive definite.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.cholesky([[4, 2], [2, 10]]).tolist()
    [[2.0, 0.0], [1.0, 3.0]]
    """
    return _cholesky(matrices("cholesky", a, square=True), bool(upper))


# --- QR -------------------------------------------------------------------------------------------


def _qr_back(gq: Array, gr: Array, q: Array, r: Array) -> Array:
    """Return the gradient of tall matrices q @ r: Walter and Lehmann (2012)."""
    m = matmul(r, adjoint(gr)) - matmul(adjoint(gq), q)
    low = _halved_diagonal(tril(m))
    whole = low + adjoint(low)
    return adjoint(_solve(r, adjoint(gq + matmul(q, whole))))


def _qr_grad(g: Sequence[Array], y: Sequence[Array], x: Array) -> Array:
    """Of wide matrices: q and the first columns of r are of the first columns of x; the rest of r is q^H times the
    rest of x."""
    (gq, gr), (q, r) = g, y
    k = x.shape[-2]
    if x.shape[-1] <= k:
        return _qr_back(gq, gr, q, r)
    rest, g_rest = x[..., k:], gr[..., k:]
    first = _qr_back(gq + matmul(rest, adjoint(g_rest)), gr[..., :k], q, r[..., :k])
    return concatenate([first, matmul(q, g_rest)], -1)


def _factors(x: Array, mode: Literal["reduced", "complete"]) -> tuple[Array, ...]:
    m, n = x.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    outs = [((m, k), x.dtype), ((k, n), x.dtype)]
    return tuple(stacked("qr", lambda v: tuple(numpy.linalg.qr(v, mode)), [x], outs, x.shape[:-2], work(x, 2)))


@primitive(_qr_grad, op="linalg.qr")
def _qr(x: Array) -> tuple[Array, ...]:
    return _factors(x, "reduced")


def _qr_complete_grad(g: Sequence[Array], y: Sequence[Array]) -> Array:
    """Of matrices with more rows than columns; below its diagonal r is 0."""
    (gq, gr), (q, r) = g, y
    n = r.shape[-1]
    return _qr_back(_first(gq, q, n), gr[..., :n, :], q[..., :n], r[..., :n, :])


@primitive(_qr_complete_grad, op="linalg.qr.complete")
def _qr_complete(x: Array) -> tuple[Array, ...]:
    return _factors(x, "complete")


def _r_grad(g: Array, x: Array) -> Any:
    q, r = _qr(x)
    return _qr_grad((q * 0, g), (q, r), x)


@primitive(_r_grad, op="linalg.qr.r")
def _qr_r(x: Array) -> Array:
    m, n = x.shape[-2:]
    return stacked("qr", lambda v: numpy.linalg.qr(v, "r"), [x], [((min(m, n), n), x.dtype)], x.shape[:-2], work(x, 1))[
        0
    ]


@primitive(None, op="linalg.qr.raw")
def _qr_raw(x: Array) -> tuple[Array, ...]:
    m, n = x.shape[-2:]
    outs = [((n, m), x.dtype), ((min(m, n),), x.dtype)]
    return tuple(stacked("qr", lambda v: numpy.linalg.qr(v, "raw"), [x], outs, x.shape[:-2], work(x, 1)))


@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete", "raw"] = "reduced") -> QRResult: ...
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> Array: ...
@numpy_when_small(numpy.linalg.qr, "a", "m", "fc", gives=QRResult)
def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """Return orthonormal columns Q and an upper triangle R with Q @ R = a.

    Of m by n matrices Q is m by k and R is k by n, where k is the smaller of m and n.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    mode : str, optional
        "reduced"; "complete", where k is m; "r", R alone; "raw", LAPACK's h (transposed) and tau, which has no gradient
        (NotImplementedError where one is asked for).

    Returns
    -------
    array, or tuple of arrays
                Q and R, or the other results that `mode` selects.

    Raises
    ------
    LinAlgError
        If a has less than two axes.
    ValueError
        For another mode.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[3.0, 0.0], [4.0, 5.0], [0.0, 1.0]])
    >>> q, r = np.linalg.qr(x)
    >>> q.shape, r.shape, np.allclose(q @ r, x, atol=1e-5).item()
    ((3, 2), (2, 2), True)
    """
    check_choice("qr", "mode", mode, ("reduced", "complete", "r", "raw"))
    x = matrices("qr", a)
    if mode == "r":
        return _qr_r(x)
    if mode == "raw":
        return _qr_raw(x)
    whole = mode == "complete" and x.shape[-2] > x.shape[-1]
    return QRResult(*(_qr_complete(x) if whole else _qr(x)))


# --- singular values ------------------------------------------------------------------------------


def _svd_grad(g: Sequence[Array], y: Sequence[Array], x: Array) -> Array:
    (gu, gs, gvh), (u, s, vh) = g, y
    gv, v = adjoint(gvh), adjoint(vh)
    squares = _gaps(s * s)
    rotated_u, rotated_v = matmul(adjoint(u), gu), matmul(vh, gv)
    inner = quotient(_off_diagonal(rotated_u - adjoint(rotated_u)), squares) * s[..., None, :]
    inner = inner + s[..., :, None] * quotient(_off_diagonal(rotated_v - adjoint(rotated_v)), squares) + _spread(gs)
    if x.dtype.kind == "c":
        inner = inner + _spread(1j * quotient(imag(diagonal(rotated_u, 0, -2, -1)), s))
    m, n = x.shape[-2:]
    left = matmul(u, inner)
    if m > n:
        left = left + quotient(gu - matmul(u, rotated_u), s[..., None, :])
    result = matmul(left, vh)
    if n > m:
        result = result + matmul(u, adjoint(quotient(gv - matmul(v, rotated_v), s[..., None, :])))
    return result


def _decomposed(x: Array, full: bool) -> tuple[Array, ...]:
    m, n = x.shape[-2:]
    k = min(m, n)
    rows, columns = (m, n) if full else (k, k)
    outs = [((m, rows), x.dtype), ((k,), real_of(x.dtype)), ((columns, n), x.dtype)]
    return tuple(stacked("svd", lambda v: tuple(numpy.linalg.svd(v, full)), [x], outs, x.shape[:-2], work(x, 20)))


@primitive(_svd_grad, op="linalg.svd")
def _svd(x: Array) -> tuple[Array, ...]:
    return _decomposed(x, False)


def _svd_full_grad(g: Any, y: Any, x: Any) -> Array:
    (gu, gs, gvh), (u, s, vh) = g, y
    k, v = s.shape[-1], adjoint(vh)
    first = _first(gu, u, k), gs, adjoint(_first(adjoint(gvh), v, k))
    return _svd_grad(first, (u[..., :k], s, vh[..., :k, :]), x)


@primitive(_svd_full_grad, op="linalg.svd.full")
def _svd_full(x: Array) -> Any:
    return _decomposed(x, True)


def _svdvals_grad(g: Array, x: Array) -> Array:
    u, _, vh = _svd(x)
    return matmul(u * g[..., None, :], vh)


@primitive(_svdvals_grad, op="linalg.svdvals")
def _svdvals(x: Array) -> Array:
    outs = [((min(x.shape[-2:]),), real_of(x.dtype))]
    return stacked("svdvals", numpy.linalg.svdvals, [x], outs, x.shape[:-2], work(x, 6))[0]


@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False
) -> SVDResult: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False) -> Array: ...
@numpy_when_small(lambda a: numpy.linalg.svd(a, a.shape[-1] != a.shape[-2]), "a", "m", "fc", gives=SVDResult)
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return U, S, Vh with (U * S) @ Vh = a, singular values S from largest to smallest; without `compute_uv` S alone.

    S is real, with min(m, n) elements for m by n matrices. U is m by m and Vh n by n; without `full_matrices` they have
    only the columns and rows that S needs.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    full_matrices : bool, optional
        Whether U and Vh are square.
    compute_uv : bool, optional
        Whether to return U and Vh too.
    hermitian : bool, optional
        `a` is symmetric or Hermitian, which is faster; only its lower triangle is read.

    Returns
    -------
    array, or tuple of arrays
        U, S and Vh, or S alone.

    Raises
    ------
    LinAlgError
        If a has less than two axes, and where results are read if it does not converge.

    Examples
    --------
    >>> from forerun import np
    >>> u, s, vh = np.linalg.svd(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]), full_matrices=False)
    >>> u.shape, np.round(s, 3).tolist(), vh.shape
    ((3, 2), [3.0, 2.0], (2, 2))
    """
    x = matrices("svd", a, square=hermitian)
    if hermitian:
        return _of_hermitian(x, compute_uv)
    if not compute_uv:
        return _svdvals(x)
    whole = full_matrices and x.shape[-1] != x.shape[-2]
    return SVDResult(*(_svd_full(x) if whole else _svd(x)))


def _of_hermitian(x: Array, compute_uv: bool) -> Any:
    """Singular values are magnitudes of eigenvalues; U and V are the eigenvectors, up to signs."""
    if not compute_uv:
        return sort(absolute(eigvalsh(x)), descending=True)
    w, v = eigh(x)
    size, signs = absolute(w), copysign(numpy.ones((), w.dtype), _core.detach(w))
    order = argsort(size, descending=True)
    u = take_along_axis(v, order[..., None, :], -1)
    turned = u * take_along_axis(signs, order, -1)[..., None, :]
    return SVDResult(u, take_along_axis(size, order, -1), adjoint(turned))


def svdvals(x: ArrayLike, /) -> Array:
    """Return the singular values of matrices, from largest to smallest: the S of `svd`.

    Parameters
    ----------
    x : array_like
        The matrices: the last two axes.

    Returns
    -------
    array
        The singular values of matrices.

    Examples
    --------
    >>> from forerun import np
    >>> np.round(np.linalg.svdvals([[0, 2], [3, 0]]), 3).tolist()
    [3.0, 2.0]
    """
    return _svdvals(matrices("svdvals", x))
