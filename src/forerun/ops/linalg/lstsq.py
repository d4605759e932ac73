"""Least squares and pseudo-inverses, with gradients for matrices whose rank does not change.

The formulas are those of Golub and Pereyra (1973).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.linalg import LinAlgError

from .._base.convert import asarray, asarray_like_device, broadcast_shapes
from .._base.primitive import numpy_when_small, primitive
from .._base.promotion import real_of
from ..create.fill import empty
from ..elementwise.arithmetic import not_equal
from ..reduce.reduction import any as any_
from .lapack import adjoint, half_hermitian, inexact, matrices, stacked, work
from .matmul import matmul
from .product import matmul_pair
from .svd_qr import _svdvals_grad

if TYPE_CHECKING:
    from types import EllipsisType

    from ...typing import Array, ArrayLike

__all__ = ["lstsq", "matrix_rank", "pinv"]


def _pinv_grad(g: Array, y: Array, x: Array, symmetric: bool) -> Array:
    """Return the parts of the pseudo-inverse's change: within the range, and on either side out of it."""
    x = half_hermitian(x) if symmetric else x
    turned, back = adjoint(g), adjoint(y)
    left = turned - matmul(x, matmul(y, turned))
    right = turned - matmul(matmul(turned, y), x)
    outside = matmul(left, matmul(y, back)) + matmul(matmul(back, y), right)
    result = outside - matmul(matmul(back, g), back)
    return half_hermitian(result) if symmetric else result


@primitive(_pinv_grad, op="linalg.pinv")
def _pinv(x: Array, rcond: Any, symmetric: bool) -> Array:
    m, n = x.shape[-2:]
    given, known = _given(x, rcond)
    inverse = lambda v, r=known: numpy.linalg.pinv(v, r, hermitian=symmetric)
    outs, work = [((n, m), x.dtype)], 25 * m * n * min(m, n)
    return stacked("pinv", inverse, [x, *given], outs, x.shape[:-2], work, (2, 0))[0]


def _once(op: str, first: str, other: str) -> ValueError:
    return ValueError(f"{op}: {first} or {other} must be given, got both")


def _precision(x: Array) -> float:
    """Return NumPy's relative tolerance in place of None."""
    return float(max(x.shape[-2:]) * numpy.finfo(x.dtype).eps)


def _given(x: Array, tolerance: ArrayLike | None) -> tuple[list[Any], Any]:
    """Return a tolerance as an input of a task, if it is an array; otherwise as it is."""
    if tolerance is None or isinstance(tolerance, (int, float, numpy.number)):
        return [], tolerance
    if not hasattr(tolerance, "dtype"):
        tolerance = numpy.asarray(tolerance, "float64")
    return [asarray(tolerance, device=x.device)], None


def pinv(
    a: ArrayLike,
    rcond: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: ArrayLike | EllipsisType | None = ...,
) -> Array:
    """Return the Moore-Penrose inverse of matrices: of m by n ones, n by m.

    rcond, or rtol: singular values at most this times the largest count as 0, one number or one for each matrix; by
    default 1e-15; if rtol is None, the larger extent times the dtype's machine epsilon.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    rcond : float or array, optional
        The share of the largest singular value up to which others count as zero.
    hermitian : bool, optional
        `a` is symmetric or Hermitian.
    rtol : float or array, optional
        Another name for `rcond`.

    Returns
    -------
    array
        The Moore-Penrose inverse of matrices.

    Raises
    ------
    ValueError
        If both are given.
    LinAlgError
        If a has less than two axes, and where the result is read if it does not converge.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.pinv([[2, 0], [0, 0], [0, 4]]).shape
    (2, 3)
    """
    x = matrices("pinv", asarray_like_device(a, rcond, rtol), square=hermitian)
    if rcond is None:
        rcond = 1e-15 if rtol is ... else _precision(x) if rtol is None else rtol
    elif rtol is not ...:
        raise _once("pinv", "rcond", "rtol")
    for tolerance in _given(x, rcond)[0]:
        if broadcast_shapes("pinv", x.shape[:-2], tolerance.shape) != x.shape[:-2]:
            raise ValueError(f"pinv: tolerances must broadcast to {x.shape[:-2]}, got shape {tolerance.shape}")
    return _pinv(x, rcond, bool(hermitian))


def matrix_rank(
    A: ArrayLike, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Array:
    """Return the rank of matrices: the number of singular values greater than tol. int64, over the other axes.

    The rank of an array with less than two axes is 1, or 0 if all elements are 0.

    Parameters
    ----------
    A : array_like
        The matrices: the last two axes.
    tol : array_like, optional
        One number or one for each matrix, or rtol: the same, times the largest singular value; by default the larger
        extent times the precision of the dtype.
    hermitian : bool, optional
        `A` is symmetric or Hermitian.
    rtol : float or array, optional
        The tolerance as a share of the largest singular value.

    Returns
    -------
    array
        The rank of matrices.

    Raises
    ------
    ValueError
        If both are given.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.matrix_rank([[1, 2], [2, 4]]).item()
    1
    """
    if tol is not None and rtol is not None:
        raise _once("matrix_rank", "tol", "rtol")
    x = asarray_like_device(A, tol, rtol)
    if x.ndim < 2:
        return any_(not_equal(x, 0)).astype("int64")
    x = matrices("matrix_rank", x, square=hermitian)
    given, known = _given(x, rtol if tol is None else tol)

    def count(v: numpy.ndarray, t: ArrayLike | None = known) -> numpy.ndarray:
        tolerance: Any = {"rtol": t} if tol is None else {"tol": t}
        return numpy.asarray(numpy.linalg.matrix_rank(v, hermitian=hermitian, **tolerance))

    m, n = x.shape[-2:]
    lead = broadcast_shapes("matrix_rank", x.shape[:-2], *(t.shape for t in given))
    return stacked("matrix_rank", count, [x, *given], [((), "int64")], lead, 6 * m * n * min(m, n), (2, 0))[0]


def _lstsq_parts(g: Array, y: Array, a: Array, b: Array, rcond: float) -> tuple[Array, Array, Array]:
    """Return the parts of both gradients: the pseudo-inverse, the residual b - a @ x, and the residual's gradient."""
    rest = b - matmul(a, y[0])
    return _pinv(a, rcond, False), rest, 2 * rest * g[1]


def _lstsq_da(g: Array, y: Array, a: Array, b: Array, rcond: float) -> Array:
    inverse, rest, pull = _lstsq_parts(g, y, a, b, rcond)
    gx, x, back = g[0], y[0], adjoint(inverse)
    within = matmul(back, gx)
    outside = gx - matmul(inverse, matmul(a, gx))
    found = matmul(rest, adjoint(matmul(inverse, within))) - matmul(within + pull, adjoint(x))
    return found + matmul(matmul(back, x), adjoint(outside)) + _svdvals_grad(g[2], a)


def _lstsq_db(g: Array, y: Array, a: Array, b: Array, rcond: float) -> Array:
    inverse, _, pull = _lstsq_parts(g, y, a, b, rcond)
    return matmul(adjoint(inverse), g[0]) + pull


@primitive(_lstsq_da, _lstsq_db, op="linalg.lstsq")
def _lstsq(a: Array, b: Array, rcond: float) -> tuple[Array, ...]:
    (m, n), k, real = a.shape, b.shape[1], real_of(a.dtype)

    def task(a: numpy.ndarray, b: numpy.ndarray) -> tuple[Any, ...]:
        x, rest, rank, s = numpy.linalg.lstsq(a, b, rcond)
        return x, rest if len(rest) == k else numpy.zeros(k, real), s, rank

    outs = [((n, k), a.dtype), ((k,), real), ((min(m, n),), real), ((), "int64")]
    return tuple(stacked("lstsq", task, [a, b], outs, (), work(a, 4)))


def _of_small(a: numpy.ndarray, b: numpy.ndarray, rcond: float | None = None) -> tuple[Any, ...]:
    """Call NumPy's for small matrices."""
    x, squares, rank, s = numpy.linalg.lstsq(a, b, rcond)
    return x, squares, numpy.array(rank, "int64"), s


@numpy_when_small(_of_small, "a b rcond", "mmi", "D")
def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> tuple[Any, Any, Any, Any]:
    """Return x that minimizes the norm of a @ x - b; the sums of squared residuals; a's rank; its singular values.

    Of m by n matrices with m > n, this waits: the sums (one for each column of b) are returned only if the rank is n.
    With m <= n their array is empty. The rank is an int64 array without axes. Gradients hold where the rank does not
    change.

    Parameters
    ----------
    a : array_like
        The coefficients.
    b : array_like
        A vector or the columns of a matrix.
    rcond : float or array, optional
        Singular values at most rcond times the largest count as 0; by default max(m, n) times the precision of float64.

    Returns
    -------
    tuple of arrays
        The solution, the sums of squares, the rank, and the singular values.

    Raises
    ------
    LinAlgError
        If a is not a matrix or b has other rows or more than two axes, and where results are read (with m > n: at once)
        if it does not converge.

    Examples
    --------
    >>> from forerun import np
    >>> x, squares, rank, s = np.linalg.lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5])
    >>> np.round(x, 3).tolist(), squares.shape, rank.item()
    ([1.0, 2.0], (1,), 2)
    """
    a = matrices("lstsq", asarray_like_device(a, b))
    b = inexact("lstsq", asarray_like_device(b, a))
    if b.ndim not in (1, 2) or a.ndim != 2 or b.shape[0] != a.shape[0]:
        raise LinAlgError(f"lstsq: both sides must have the same rows, got {a.shape} and {b.shape}")
    a, b = matmul_pair(a, b, "lstsq")
    m, n = a.shape
    if rcond is None:
        rcond = float(max(m, n) * numpy.finfo("float64").eps)
    x, rest, s, rank = _lstsq(a, b[:, None] if b.ndim == 1 else b, rcond)
    if m <= n or rank.item() != n:
        rest = empty((0,), rest.dtype, device=a.device)
    return x[:, 0] if b.ndim == 1 else x, rest, rank, s
