"""Linear algebra by NumPy's LAPACK, as host tasks; gradients where they have a closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .arithmetic import _value, absolute, multiply
from .base import primitive
from .convert import asarray, axes_of, cast, default_float, is_inexact, together
from .creation import eye
from .diagonals import tril
from .host import host, host_op
from .linear import matmul, matmul_pair
from .reduction import max as max_
from .reduction import sum as sum_
from .shape import matrix_transpose

__all__ = [
    "inv", "solve", "det", "slogdet", "cholesky", "qr", "svd", "svdvals", "eigh", "eigvalsh", "norm",
    "matrix_power", "lstsq", "pinv", "matrix_rank",
]  # fmt: skip


def _matrices(op: str, x: Any, square: bool = True) -> Any:
    x = asarray(x)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square matrices" if square else "matrices"
        raise ValueError(f"{op}: array must be of {what}, got shape {x.shape}")
    if not is_inexact(x.dtype) or x.dtype.itemsize == 2:
        x = cast(x, default_float())
    return x


def _adjoint(x: Any) -> Any:
    return matrix_transpose(_value(x))


def _real(dtype: numpy.dtype) -> numpy.dtype:
    return numpy.zeros((), dtype).real.dtype


def _same(op: str, fn: Callable[..., Any], x: Any) -> Any:
    return host_op(op, fn, [x], x.shape, x.dtype)


@primitive(lambda g, y: -matmul(matmul(_adjoint(y), g), _adjoint(y)))
def _inv(x: Any) -> Any:
    return _same("inv", numpy.linalg.inv, x)


def inv(x: Any) -> Any:
    """The inverse of square matrices: the last two axes. Of integers in the default float.

    ValueError if they are not square; LinAlgError where the result is read if one is singular.

    >>> from forerun import np
    >>> np.linalg.inv([[2, 0], [0, 4]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _inv(_matrices("inv", x))


def _solve_da(g: Any, y: Any, a: Any) -> Any:
    back = _solve(_adjoint(a), g)
    return -matmul(back, _adjoint(y))


@primitive(_solve_da, lambda g, a: _solve(_adjoint(a), g))
def _solve(a: Any, b: Any) -> Any:
    shape = (*together("solve", a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
    return host_op("solve", numpy.linalg.solve, [a, b], shape, a.dtype)


def solve(a: Any, b: Any) -> Any:
    """x with a @ x = b; b of vectors if it has one axis, of matrices otherwise.

    ValueError if a is not of square matrices or b has other rows; LinAlgError where x is read if a is
    singular.

    >>> from forerun import np
    >>> np.linalg.solve([[2, 0], [0, 4]], [2, 2]).tolist()
    [1.0, 0.5]
    """
    a, b = matmul_pair(_matrices("solve", a), b, "solve")
    if b.ndim == 0 or b.shape[-2 if b.ndim > 1 else -1] != a.shape[-1]:
        raise ValueError(f"solve: right side must have {a.shape[-1]} rows, got shape {b.shape}")
    return _solve(a, b[:, None])[..., 0] if b.ndim == 1 else _solve(a, b)


@primitive(lambda g, y, x: (g * _value(y))[..., None, None] * _adjoint(inv(x)))
def _det(x: Any) -> Any:
    return host_op("det", numpy.linalg.det, [x], x.shape[:-2], x.dtype)


def det(x: Any) -> Any:
    """The determinant of square matrices: an array of the other axes. Of integers in the default float.

    ValueError if they are not square.

    >>> from forerun import np
    >>> np.linalg.det([[1, 2], [3, 4]])
    array(-2.)
    """
    return _det(_matrices("det", x))


@primitive(lambda g, x: g[..., None, None] * _adjoint(inv(x)))
def _logdet(x: Any) -> Any:
    return host_op("slogdet", lambda v: numpy.linalg.slogdet(v)[1], [x], x.shape[:-2], _real(x.dtype))


def slogdet(x: Any) -> tuple[Any, Any]:
    """The sign of the determinant of square matrices, and the logarithm of its magnitude.

    Both are arrays of the other axes. Of a singular matrix: 0 and -inf. ValueError if they are not square.

    >>> from forerun import np
    >>> [x.item() for x in np.linalg.slogdet([[2, 0], [0, -0.5]])]
    [-1.0, 0.0]
    """
    x = _matrices("slogdet", x)
    known = x if x.dtype.kind == "c" else _core.detach(x)  # a real sign is constant; the phase of a complex one is not
    sign = host_op("slogdet", lambda v: numpy.linalg.slogdet(v)[0], [known], x.shape[:-2], x.dtype)
    return sign, _logdet(x)


def _cholesky_grad(g: Any, y: Any) -> Any:
    """Murray (2016), equation 8: the triangle of L^T g, halved on the diagonal, between inverses of L;
    symmetric."""
    inner = tril(matmul(_adjoint(y), g))
    inner = inner - 0.5 * (inner * eye(y.shape[-1], dtype=y.dtype, device=y.device))
    inverse = inv(y)
    half = matmul(matmul(_adjoint(inverse), inner), inverse)
    return 0.5 * (half + _adjoint(half))


@primitive(_cholesky_grad)
def _cholesky(x: Any) -> Any:
    return _same("cholesky", numpy.linalg.cholesky, x)


def cholesky(x: Any) -> Any:
    """The lower triangle L with L @ L.T = x, of symmetric matrices.

    Of complex ones, L.T conjugated. ValueError if they are not square; LinAlgError where it is read if x is
    not positive definite. Its gradient is equation 8 of Murray (2016).

    >>> from forerun import np
    >>> np.linalg.cholesky([[4, 2], [2, 10]]).tolist()
    [[2.0, 0.0], [1.0, 3.0]]
    """
    return _cholesky(_matrices("cholesky", x))


def qr(x: Any) -> tuple[Any, Any]:
    """Orthonormal columns q and an upper triangle r with q @ r = x. No gradient.

    Of m by n matrices q is m by k and r is k by n, where k is the smaller of m and n.

    >>> from forerun import np
    >>> x = np.array([[3.0, 0.0], [4.0, 5.0], [0.0, 1.0]])
    >>> q, r = np.linalg.qr(x)
    >>> q.shape, r.shape, np.allclose(q @ r, x, atol=1e-5).item()
    ((3, 2), (2, 2), True)
    """
    x = _matrices("qr", x, square=False)
    *lead, m, n = x.shape
    k = min(m, n)
    return tuple(
        host(
            lambda v: tuple(numpy.linalg.qr(v)),
            [x],
            [((*lead, m, k), x.dtype), ((*lead, k, n), x.dtype)],
            name="qr",
        )
    )  # type: ignore[return-value]


def svd(x: Any, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    """u, s, vh with (u * s) @ vh = x, singular values s from largest to smallest. No gradient.

    s is real, with min(m, n) elements for m by n matrices. u is m by m and vh n by n; without `full_matrices`
    they have only the columns and rows that s needs. LinAlgError where it is read if it does not converge.

    >>> from forerun import np
    >>> u, s, vh = np.linalg.svd(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]), full_matrices=False)
    >>> u.shape, np.round(s, 3).tolist(), vh.shape
    ((3, 2), [3.0, 2.0], (2, 2))
    """
    x = _matrices("svd", x, square=False)
    *lead, m, n = x.shape
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    outs = [((*lead, m, rows), x.dtype), ((*lead, k), _real(x.dtype)), ((*lead, columns, n), x.dtype)]
    return tuple(host(lambda v: tuple(numpy.linalg.svd(v, full_matrices)), [x], outs, name="svd"))  # type: ignore[return-value]


def svdvals(x: Any) -> Any:
    """The singular values of matrices, from largest to smallest: the s of `svd`. No gradient.

    >>> from forerun import np
    >>> np.round(np.linalg.svdvals([[0, 2], [3, 0]]), 3).tolist()
    [3.0, 2.0]
    """
    return svd(x, False)[1]


def eigh(x: Any) -> tuple[Any, Any]:
    """Eigenvalues in ascending order and eigenvectors (columns) of symmetric matrices. No gradient.

    Only the lower triangle is looked at. Eigenvalues are real. ValueError if matrices are not square.

    >>> from forerun import np
    >>> x = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> values, vectors = np.linalg.eigh(x)
    >>> np.round(values, 3).tolist(), np.allclose(x @ vectors, vectors * values, atol=1e-5).item()
    ([1.0, 3.0], True)
    """
    x = _matrices("eigh", x)
    outs = [(x.shape[:-1], _real(x.dtype)), (x.shape, x.dtype)]
    return tuple(host(lambda v: tuple(numpy.linalg.eigh(v)), [x], outs, name="eigh"))  # type: ignore[return-value]


def eigvalsh(x: Any) -> Any:
    """Eigenvalues of symmetric matrices in ascending order: the first result of `eigh`. No gradient.

    >>> from forerun import np
    >>> np.round(np.linalg.eigvalsh([[2, 1], [1, 2]]), 3).tolist()
    [1.0, 3.0]
    """
    x = _matrices("eigvalsh", x)
    return host_op("eigvalsh", numpy.linalg.eigvalsh, [x], x.shape[:-1], _real(x.dtype))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """x that makes the norm of a @ x - b least; b is a vector or a matrix. No gradient.

    rcond: singular values below rcond times the largest count as 0. NumPy's other results are not given.
    ValueError if a is no matrix or b has other rows.

    >>> from forerun import np
    >>> np.round(np.linalg.lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5]), 3).tolist()
    [1.0, 2.0]
    """
    a, b = matmul_pair(_matrices("lstsq", a, square=False), b, "lstsq")
    if b.ndim not in (1, 2) or a.ndim != 2 or b.shape[0] != a.shape[0]:
        raise ValueError(f"lstsq: both sides must have the same rows, got {a.shape} and {b.shape}")
    return host_op(
        "lstsq", lambda v, w: numpy.linalg.lstsq(v, w, rcond)[0], [a, b], (a.shape[1], *b.shape[1:]), a.dtype
    )


def pinv(x: Any, rcond: float = 1e-15) -> Any:
    """The Moore-Penrose inverse of matrices: of m by n ones, n by m. No gradient.

    rcond: singular values below rcond times the largest count as 0.

    >>> from forerun import np
    >>> np.linalg.pinv([[2, 0], [0, 0], [0, 4]]).shape
    (2, 3)
    """
    x = _matrices("pinv", x, square=False)
    return host_op(
        "pinv", lambda v: numpy.linalg.pinv(v, rcond), [x], (*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype
    )


def matrix_rank(x: Any, tol: float | None = None) -> Any:
    """How many singular values of matrices are greater than tol. int64, an array of the other axes.

    tol: by default the largest one times the larger extent times the precision of the dtype.

    >>> from forerun import np
    >>> np.linalg.matrix_rank([[1, 2], [2, 4]]).item()
    1
    """
    x = _matrices("matrix_rank", x, square=False)
    return host_op(
        "matrix_rank", lambda v: numpy.asarray(numpy.linalg.matrix_rank(v, tol)), [x], x.shape[:-2], "int64"
    )


def matrix_power(x: Any, n: int) -> Any:
    """The product of n times the same square matrices; of inverses for negative n, the identity for 0.

    Of integers in the default float. TypeError if n is no integer, ValueError if matrices are not square.

    >>> from forerun import np
    >>> np.linalg.matrix_power([[1, 1], [0, 1]], 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """
    x = _matrices("matrix_power", x)
    if not isinstance(n, (int, numpy.integer)):
        raise TypeError(f"matrix_power: n must be an integer, got {n!r}")
    if n < 0:
        return matrix_power(inv(x), -n)
    result = None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        x = matmul(x, x) if n else x
    if result is not None:
        return result
    return multiply(x, 0) + eye(x.shape[-1], dtype=x.dtype, device=x.device)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors, over all elements or along one axis, or of matrices, along two. Real, at least 0.

    ord of vectors: 2 (the default), 1, inf, -inf, 0 (how many are not 0) or any p; of matrices: "fro" (the
    default), 1 or inf, ValueError if another. Of integers in the default float.

    >>> from forerun import np
    >>> np.linalg.norm([3, -4]).item(), np.linalg.norm([[3, 4], [6, 8]], 1, axis=1).tolist()
    (5.0, [7.0, 14.0])
    """
    x = asarray(x)
    x = x if is_inexact(x.dtype) else cast(x, default_float())
    axes = axes_of("norm", axis, x.ndim)
    size = absolute(x)
    if ord is None or (ord == 2 and len(axes) != 2) or ord in ("fro", "f"):
        return sum_(size * size, axes, keepdims=keepdims) ** 0.5
    if len(axes) == 2 and ord in (1, numpy.inf):
        summed, taken = axes if ord == 1 else axes[::-1]
        result = max_(sum_(size, summed, keepdims=True), taken, keepdims=True)
        return (
            result if keepdims else result.reshape(tuple(n for i, n in enumerate(x.shape) if i not in axes))
        )
    if len(axes) == 2:
        raise ValueError(f'norm: ord of matrices must be "fro", 1 or inf, got {ord!r}')
    if ord in (numpy.inf, -numpy.inf):
        return max_(size, axes, keepdims=keepdims) if ord > 0 else -max_(-size, axes, keepdims=keepdims)
    if ord == 0:
        return sum_(cast(size != 0, size.dtype), axes, keepdims=keepdims)
    return sum_(size**ord, axes, keepdims=keepdims) ** (1 / ord)
