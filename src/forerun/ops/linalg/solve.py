"""Systems of linear equations, inverses and determinants, with gradients of any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.linalg import LinAlgError

from .._base.convert import asarray, asarrays, axes_of, broadcast_shapes, copy, is_whole
from .._base.primitive import numpy_when_small, primitive
from .._base.promotion import real_of
from .._base.registry import registered_tuple
from ..create.eye import eye
from ..elementwise.arithmetic import conj_if_complex
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from ..shape.complex_parts import imag
from ..shape.reshape import ravel, reshape
from .lapack import adjoint, inexact, matrices, stacked
from .matmul import matmul
from .product import matmul_pair

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["inv", "solve", "det", "slogdet", "matrix_power", "tensorinv", "tensorsolve"]


@registered_tuple("linalg.SlogdetResult")
class SlogdetResult(NamedTuple):
    """The result of `slogdet`: the sign (of complex matrices the phase) and the logarithm of the magnitude."""

    sign: Array
    logabsdet: Array


@primitive(lambda g, y: -matmul(matmul(adjoint(y), g), adjoint(y)), op="linalg.inv")
def _inv(x: Array) -> Array:
    n = x.shape[-1]
    return stacked("inv", numpy.linalg.inv, [x], [((n, n), x.dtype)], x.shape[:-2], n**3)[0]


@numpy_when_small(numpy.linalg.inv, "a", "m", "Fc")
def inv(a: ArrayLike) -> Array:
    """Return the inverse of square matrices: the last two axes. Of integers in the default float.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.

    Returns
    -------
    array
        The inverse of square matrices.

    Raises
    ------
    LinAlgError
        If they are not square, and where the result is read if one is singular.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.inv([[2, 0], [0, 4]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _inv(matrices("inv", a, square=True))


def _solve_da(g: Array, y: Array, a: Array) -> Array:
    return -matmul(_solve(adjoint(a), g), adjoint(y))


@primitive(_solve_da, lambda g, a: _solve(adjoint(a), g), op="linalg.solve")
def _solve(a: Array, b: Array) -> Array:
    lead, (n, k) = broadcast_shapes("solve", a.shape[:-2], b.shape[:-2]), b.shape[-2:]
    return stacked("solve", numpy.linalg.solve, [a, b], [((n, k), a.dtype)], lead, n**2 * (n + k))[0]


@numpy_when_small(numpy.linalg.solve, "a b", "mm", "Fc")
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """Return x with a @ x = b; b is one vector if it has one axis, and of matrices otherwise, as in NumPy 2.

    Leading axes broadcast.

    Parameters
    ----------
    a : array_like
        The coefficients.
    b : array_like
        The right-hand sides.

    Returns
    -------
    array
        x with a @ x = b.

    Raises
    ------
    LinAlgError
        If a is not of square matrices, and where x is read if a is singular.
    ValueError
        If b has other rows.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.solve([[2, 0], [0, 4]], [2, 2]).tolist()
    [1.0, 0.5]
    """
    a, b = asarrays(a, b, op="solve")
    a = matrices("solve", a, square=True)
    if b.ndim == 0 or b.shape[-2 if b.ndim > 1 else -1] != a.shape[-1]:
        raise ValueError(f"solve: right side must have {a.shape[-1]} rows, got shape {b.shape}")
    a, b = matmul_pair(a, inexact("solve", b), "solve")
    return _solve(a, b[:, None])[..., 0] if b.ndim == 1 else _solve(a, b)


def _det_grad(g: Array, y: Array, x: Array) -> Any:
    return (g * conj_if_complex(y))[..., None, None] * adjoint(_inv(x))


@primitive(_det_grad, op="linalg.det")
def _det(x: Array) -> Array:
    return stacked("det", numpy.linalg.det, [x], [((), x.dtype)], x.shape[:-2], x.shape[-1] ** 3)[0]


@numpy_when_small(numpy.linalg.det, "a", "m", "Fc")
def det(a: ArrayLike) -> Array:
    """Return the determinant of square matrices: an array of the other axes. Of integers in the default float.

    Its gradient uses the inverse: of a singular matrix, reading it raises LinAlgError.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.

    Returns
    -------
    array
        The determinant of square matrices.

    Raises
    ------
    LinAlgError
        If matrices are not square.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.det([[1, 2], [3, 4]])
    array(-2.)
    """
    return _det(matrices("det", a, square=True))


def _slogdet_grad(g: Array, y: Array, x: Array) -> Array:
    """Return the gradient: the slope of log(det); its real part is the magnitude's, its imaginary part the phase's."""
    scale = g[1]
    if x.dtype.kind == "c":
        scale = scale - 1j * imag(conj_if_complex(g[0]) * y[0])
    return scale[..., None, None] * adjoint(_inv(x))


@primitive(_slogdet_grad, op="linalg.slogdet")
def _slogdet(x: Array) -> tuple[Array, ...]:
    outs = [((), x.dtype), ((), real_of(x.dtype))]
    return tuple(stacked("slogdet", _parts_of_det, [x], outs, x.shape[:-2], x.shape[-1] ** 3))


def _parts_of_det(x: numpy.ndarray) -> tuple[Any, ...]:
    return tuple(numpy.linalg.slogdet(x))


@numpy_when_small(numpy.linalg.slogdet, "a", "m", "Fc", gives=SlogdetResult)
def slogdet(a: ArrayLike) -> SlogdetResult:
    """Return the sign of the determinant of square matrices, and the logarithm of its magnitude.

    Both are arrays of the other axes. Of complex matrices the sign is a number of magnitude 1. Of a singular matrix: 0
    and -inf.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.

    Returns
    -------
    SlogdetResult
        The sign of the determinant of square matrices.

    Raises
    ------
    LinAlgError
        If matrices are not square.

    Examples
    --------
    >>> from forerun import np
    >>> [x.item() for x in np.linalg.slogdet([[2, 0], [0, -0.5]])]
    [-1.0, 0.0]
    """
    return SlogdetResult(*_slogdet(matrices("slogdet", a, square=True)))


def matrix_power(a: ArrayLike, n: int) -> Array:
    """Raise square matrices to the integer power n: inverses for negative n, the identity for 0.

    In a's dtype; inverses of integers in the default float.

    Parameters
    ----------
    a : array_like
        The matrices: the last two axes.
    n : int
        The exponent.

    Returns
    -------
    array
        The power.

    Raises
    ------
    TypeError
        If n is not an integer.
    LinAlgError
        If matrices are not square.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.matrix_power([[1, 1], [0, 1]], 3).tolist()
    [[1, 3], [0, 1]]
    """
    x = asarray(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"matrix_power: array must be of square matrices, got shape {x.shape}")
    if not is_whole(n):
        raise TypeError(f"matrix_power: n must be an integer, got {n!r}")
    n = int(n)
    if n == 0:
        return copy(broadcast_to(eye(x.shape[-1], dtype=x.dtype, device=x.device), x.shape))
    if n < 0:
        x, n = _inv(inexact("matrix_power", x)), -n
    result: Array | None = None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        x = matmul(x, x) if n else x
    assert result is not None
    return result


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """Return the inverse of a for `tensordot` over its first `ind` axes: the inverse has the other axes first.

    Parameters
    ----------
    a : array_like
        The array to invert.
    ind : int, optional
        The number of axes that come first.

    Returns
    -------
    array
        The inverse of a for `tensordot` over its first `ind` axes.

    Raises
    ------
    ValueError
        If ind is not positive.
    LinAlgError
        If the first axes have not as many elements as the others, and where the result is read if there is no inverse.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.tensorinv(np.eye(6).reshape(6, 2, 3), 1).shape
    (2, 3, 6)
    """
    x = inexact("tensorinv", a)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind must be positive, got {ind}")
    rows, columns = x.shape[:ind], x.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise LinAlgError(f"tensorinv: the first {ind} axes must have as many elements as the others, got {x.shape}")
    square = reshape(x, (math.prod(rows), math.prod(columns)))
    return reshape(_inv(square), (*columns, *rows))


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Return x with tensordot(a, x, x.ndim) = b: x has the axes of a after the first b.ndim ones.

    Parameters
    ----------
    a : array_like
        The coefficients.
    b : array_like
        The right-hand sides.
    axes : tuple of ints, optional
        Axes of a that are moved to the end before.

    Returns
    -------
    array
        x with tensordot(a, x, x.ndim) = b.

    Raises
    ------
    LinAlgError
        If x has not as many elements as b, and where it is read if there is no unique x.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.ones((2, 3))).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    a, b = (inexact("tensorsolve", x) for x in asarrays(a, b))
    if axes is not None:
        last = axes_of("tensorsolve", tuple(axes), a.ndim)
        a = transpose(a, [*(i for i in range(a.ndim) if i not in last), *last])
    shape = a.shape[b.ndim :]
    n = math.prod(shape)
    if n != math.prod(a.shape[: b.ndim]) or n != b.size:
        raise LinAlgError(
            f"tensorsolve: axes of a must be those of b and as many elements again, got {a.shape} and {b.shape}"
        )
    return reshape(solve(reshape(a, (n, n)), ravel(b)), shape)
