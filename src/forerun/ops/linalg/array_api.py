"""Functions of `np.linalg` that `np` has under the same name, with the parameters of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.convert import asarray, axis_of
from ..index.diagonal import diagonal as _diagonal
from ..reduce.reduction import sum as sum_
from ..shape.axis_order import matrix_transpose
from .cross import cross as _cross
from .matmul import matmul, vecdot
from .product import matmul_pair
from .tensordot import multi_dot, tensordot

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_transpose",
    "multi_dot",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
]


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the matrix of all products of an element of x1 and one of x2, which are vectors.

    Parameters
    ----------
    x1 : array_like
        The first vector.
    x2 : array_like
        The second vector.

    Returns
    -------
    array
        The matrix of all products of an element of x1 and one of x2.

    Raises
    ------
    ValueError
        If `x1` or `x2` is not a vector.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    a, b = matmul_pair(x1, x2, "outer")
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer: arrays must have one axis, got shapes {a.shape} and {b.shape}")
    return a[:, None] * b


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Return the cross product of vectors of three elements along an axis; the others broadcast.

    Parameters
    ----------
    x1 : array_like
        The first vectors.
    x2 : array_like
        The second vectors.
    axis : int, optional
        The axis of vectors in all three.

    Returns
    -------
    array
        The cross products.

    Raises
    ------
    ValueError
        If vectors have not three elements.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    a, b = matmul_pair(x1, x2, "cross")
    if {x.shape[axis_of("cross", axis, x.ndim)] for x in (a, b)} != {3}:
        raise ValueError(f"cross: vectors must have three elements, got shapes {a.shape} and {b.shape}")
    return _cross(a, b, axis=axis)


def _two_axes(op: str, x: ArrayLike) -> Array:
    x = asarray(x, op=op)
    if x.ndim < 2:
        raise ValueError(f"{op}: array must have at least two axes, got shape {x.shape}")
    return x


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Return elements on diagonal `offset` of matrices, the last two axes.

    Parameters
    ----------
    x : array_like
        The matrices: the last two axes.
    offset : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    array
        Elements on diagonal `offset` of matrices.

    Raises
    ------
    ValueError
        If there are not two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.diagonal([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]).tolist()
    [[1, 4], [5, 8]]
    """
    return _diagonal(_two_axes("diagonal", x), offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """Return the sums of diagonal `offset` of matrices, the last two axes; dtype as `sum`.

    Parameters
    ----------
    x : array_like
        The matrices: the last two axes.
    offset : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    dtype : dtype, optional
        The dtype to compute in, and of the result.

    Returns
    -------
    array
        The sums of diagonal `offset` of matrices.

    Raises
    ------
    ValueError
        If there are not two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.trace([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]).tolist()
    [5, 13]
    """
    return sum_(_diagonal(_two_axes("trace", x), offset, -2, -1), -1, dtype=dtype)
