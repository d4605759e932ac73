"""Products of arrays that are computed as matrix products."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarrays, axes_of, cast, extents_of, is_whole, promote, write_out
from .._base.primitive import direct
from ..elementwise.arithmetic import conj_if_complex
from ..shape.reshape import reshape
from .contraction import Contraction
from .product import matmul_pair, matrix_product

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Out

__all__ = ["dot", "vdot", "inner", "outer", "tensordot", "kron", "multi_dot"]

Extents = tuple[int, ...]


@direct("dot")
def dot(a: ArrayLike, b: ArrayLike, out: Out = None) -> Array:
    """Return the product over a's last axis and b's second to last (or only) one; with a scalar, a * b.

    As in `numpy.dot`, the result has the other axes of a, then those of b; nothing broadcasts.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The product over a's last axis and b's second to last (or only) one.

    Raises
    ------
    ValueError
        If extents differ.

    Examples
    --------
    >>> from forerun import np
    >>> np.dot([1, 2], [3, 4]).item(), np.dot(np.ones((2, 3)), np.ones((4, 3, 5))).shape
    (11, (2, 4, 5))
    """
    a, b = matmul_pair(a, b, "dot")
    if a.ndim == 0 or b.ndim == 0:
        result = a * b
    elif b.ndim <= 2:
        result = matrix_product(a, b)
    else:
        result = tensordot(a, b, ((-1,), (-2,)))
    return write_out("dot", result, out)


@direct("inner")
def vdot(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the sum of conj(a) * b over the flat arrays: without axes.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    array
        The sum of conj(a) * b over the flat arrays.

    Raises
    ------
    ValueError
        If sizes differ.

    Examples
    --------
    >>> from forerun import np
    >>> np.vdot([1 + 1j, 2], [1, 1j]).item()
    (1+1j)
    """
    a, b = matmul_pair(a, b, "vdot")
    a, b = (x if x.ndim == 1 else reshape(x, -1) for x in (a, b))
    return matrix_product(conj_if_complex(a), b)


@direct("inner")
def inner(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the sum of products over the last axis of both; the result has the other axes of a, then those of b.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    array
        The sum of products over the last axis of both.

    Raises
    ------
    ValueError
        If the last axes differ in extent.

    Examples
    --------
    >>> from forerun import np
    >>> np.inner([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    a, b = matmul_pair(a, b, "inner")
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim > 2 or b.ndim > 2:
        return tensordot(a, b, ((-1,), (-1,)))
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"inner: the last axes must have one extent, got shapes {a.shape} and {b.shape}")
    if a.ndim == b.ndim == 2:
        return matrix_product(a, b, False, True)
    return matrix_product(b, a) if b.ndim == 2 else matrix_product(a, b)


def outer(a: ArrayLike, b: ArrayLike, out: Out = None) -> Array:
    """Return the matrix of all products of an element of a and one of b, both flat.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The matrix of all products of an element of a and one of b.

    Examples
    --------
    >>> from forerun import np
    >>> np.outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    a, b = matmul_pair(a, b, "outer")
    return write_out("outer", reshape(a, -1)[:, None] * reshape(b, -1), out)


def _contracted(a: Extents, b: Extents, axes: Any) -> tuple[Extents, Extents]:
    least = min(len(a), len(b))
    if is_whole(axes):
        n = int(axes)
        if not 0 <= n <= least:
            raise numpy.exceptions.AxisError(f"tensordot: axes must be between 0 and {least}, got {n}")
        left, right = tuple(range(len(a) - n, len(a))), tuple(range(n))
    else:
        one, other = (extents_of("tensordot", "axes", x) for x in axes)
        left, right = axes_of("tensordot", one, len(a)), axes_of("tensordot", other, len(b))
    if len(left) != len(right) or any(a[i] != b[j] for i, j in zip(left, right)):
        raise ValueError(f"tensordot: summed axes must have one extent, got {a} and {b} over {axes}")
    return left, right


@functools.lru_cache(1024)
def _plan(a: Extents, b: Extents, axes: Any) -> Contraction:
    """Return how operands of some shapes become matrices, and their product the result."""
    left, right = _contracted(a, b, axes)
    keep_a, keep_b = [i for i in range(len(a)) if i not in left], [i for i in range(len(b)) if i not in right]
    rows, columns = tuple(a[i] for i in keep_a), tuple(b[i] for i in keep_b)
    p, summed = Contraction((a, b)), math.prod(a[i] for i in left)
    x = p.reshaped(p.transposed(0, (*keep_a, *left)), (math.prod(rows), summed))
    y = p.reshaped(p.transposed(1, (*right, *keep_b)), (summed, math.prod(columns)))
    p.reshaped(p.matmul(x, y), (*rows, *columns))
    return p


def _constant(axes: Any) -> Any:
    """Return the axes of `tensordot` as ints and tuples of ints, or None if there is anything else."""
    if type(axes) is int:
        return axes
    if not isinstance(axes, (list, tuple)):
        return None
    found = tuple((x,) if type(x) is int else tuple(x) if isinstance(x, (list, tuple)) else (None,) for x in axes)
    return found if all(type(i) is int for x in found for i in x) else None


def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[Any] = 2) -> Array:
    """Return the sum of products over axes of both; the result has the other axes of a, then those of b.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.
    axes : tuple of ints, optional
        N for the last n of a with the first n of b, or a pair of lists of axes.

    Returns
    -------
    array
        The sum of products over axes of both.

    Raises
    ------
    ValueError
        If extents differ.

    Examples
    --------
    >>> from forerun import np
    >>> np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), axes=((1, 2), (1, 0))).shape
    (2, 5)
    """
    a, b = matmul_pair(a, b, "tensordot")
    constant = _constant(axes)  # others, such as arrays, are not kept
    plan = _plan.__wrapped__(a.shape, b.shape, axes) if constant is None else _plan(a.shape, b.shape, constant)
    product: Array = plan.run((a, b))
    return product


def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the Kronecker product: a with each element replaced by its product with b. Extents are multiplied.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    array
        The Kronecker product.

    Examples
    --------
    >>> from forerun import np
    >>> np.kron([1, 10], [1, 2]).tolist()
    [1, 2, 10, 20]
    """
    a, b = matmul_pair(a, b, "kron")
    n = max(a.ndim, b.ndim)
    sa, sb = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    wide = reshape(a, tuple(v for s in sa for v in (s, 1))) * reshape(b, tuple(v for s in sb for v in (1, s)))
    return reshape(wide, tuple(x * y for x, y in zip(sa, sb)))


@functools.lru_cache(256)
def _order(sizes: Extents) -> list[list[int]]:
    """Return the cheapest order of a product of matrices: for each i <= j, the matrix after which the last cut is.

    Matrix i is sizes[i] by sizes[i + 1]; the cost is the number of multiplications.
    """
    n = len(sizes) - 1
    cost, cut = [[0] * n for _ in range(n)], [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            ways = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], cut[i][j] = min(ways)
    return cut


def multi_dot(arrays: Sequence[ArrayLike], *, out: Out = None) -> Array:
    """Return the product of several matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors: a row, a column.

    Parameters
    ----------
    arrays : sequence of arrays
        The matrices.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The product of several matrices.

    Raises
    ------
    ValueError
        If there are less than two arrays, those between the first and the last are not matrices, or extents differ.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.multi_dot([np.ones((2, 30)), np.ones((30, 4)), np.ones(4)]).tolist()
    [120.0, 120.0]
    """
    found = asarrays(*arrays, op="multi_dot")
    if len(found) < 2:
        raise ValueError(f"multi_dot: there must be at least two arrays, got {len(found)}")
    if any(a.dtype != found[0].dtype for a in found):
        dtype = promote(*(a.dtype for a in found))
        found = [a if a.dtype == dtype else cast(a, dtype) for a in found]
    row, column = found[0].ndim == 1, found[-1].ndim == 1
    found[0] = found[0][None, :] if row else found[0]
    found[-1] = found[-1][:, None] if column else found[-1]
    shapes = [a.shape for a in found]
    if any(len(s) != 2 for s in shapes) or any(s[1] != t[0] for s, t in itertools.pairwise(shapes)):
        raise ValueError(f"multi_dot: arrays must be matrices that fit, got shapes {shapes}")
    cut = _order((*(s[0] for s in shapes), shapes[-1][1]))

    def product(i: int, j: int) -> Array:
        return found[i] if i == j else matrix_product(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    result = product(0, len(found) - 1)
    result = result[0] if row else result
    if column:
        result = result[0] if row else result[..., 0]
    return write_out("multi_dot", result, out)
