"""Diagonals of arrays, and the triangles below and above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, axes_of
from .._base.primitive import direct, numpy_when_small, primitive, view_of_numpy
from ..elementwise.select import where
from ..reduce.reduction import sum
from ..shape.axis_order import transpose

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike, Out

__all__ = ["diagonal", "diag", "trace", "tril", "triu"]


@primitive(lambda g, shape, offset: _on_diagonal(g, shape, offset), op="diagonal")
def _diagonal(x: Array, offset: int) -> Array:
    """Return a view of diagonal `offset` of the last two axes."""
    *_, rows, columns = x.shape
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    *lead, down, right = x.strides
    start = max(offset, 0) * right - min(offset, 0) * down if n else 0
    return _core.view(x, (*x.shape[:-2], n), (*lead, down + right), start)


@primitive(lambda g, offset: _diagonal(g, offset), op="diagonal.backward")
def _on_diagonal(g: Array, shape: tuple[int, ...], offset: int) -> Array:
    """Return zeros of a shape with g on diagonal `offset` of the last two axes."""
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.assign(_diagonal(full, offset), g)
    return full


@direct("diagonal")
@view_of_numpy(numpy.ndarray.diagonal, "a offset axis1 axis2", "akkk")
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return a view of diagonal `offset` of two axes, along a new last axis.

    Writing to it writes to the array; by NumPy's rules the view is read-only.

    Parameters
    ----------
    a : array_like
        The values.
    offset : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    axis1 : int, optional
        The first of the two axes.
    axis2 : int, optional
        The second of the two axes.

    Returns
    -------
    array
        A view of diagonal `offset` of two axes, along a new last axis.

    Raises
    ------
    IndexError
        If there are not two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.diagonal([[1, 2], [3, 4]]).tolist()
    [1, 4]
    """
    x = asarray(a)
    a, b = axes_of("diagonal", (axis1, axis2), x.ndim)
    found = _diagonal(transpose(x, [i for i in range(x.ndim) if i not in (a, b)] + [a, b]), offset)
    return _core.read_only(found) if _core.numpy_rules() and not _core.recording() else found


@direct("diag")
@numpy_when_small(numpy.diag, "v k", "dk", "biufc")
def diag(v: ArrayLike, k: int = 0) -> Array:
    """Return a view of diagonal k of a matrix, or a new matrix with a vector on its diagonal k.

    Parameters
    ----------
    v : array_like
        A vector, or a matrix.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    array
        a view of diagonal k of a matrix.

    Raises
    ------
    ValueError
        If `v` has neither one axis nor two.

    Examples
    --------
    >>> from forerun import np
    >>> np.diag([[1, 2], [3, 4]]).tolist(), np.diag([1, 2]).tolist()
    ([1, 4], [[1, 0], [0, 2]])
    """
    x = asarray(v)
    if x.ndim not in (1, 2):
        raise ValueError(f"diag: array must be a vector or a matrix, got shape {x.shape}")
    if x.ndim == 2:
        return diagonal(x, k)
    n = x.shape[0] + abs(k)
    return _on_diagonal(x, (n, n), k)


@direct("trace")
def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: Out = None
) -> Array:
    """Return the sum of the diagonal `offset` of two axes. dtype and out are as in `sum`.

    Parameters
    ----------
    a : array_like
        The values.
    offset : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    axis1 : int, optional
        The first of the two axes.
    axis2 : int, optional
        The second of the two axes.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The sum of the diagonal `offset` of two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.trace([[1, 2], [3, 4]]).item()
    5
    """
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


def _triangle(x: ArrayLike, k: int, lower: bool) -> Array:
    x = asarray(x)
    if x.ndim == 0:
        name = "tril" if lower else "triu"
        raise ValueError(f"{name}: array must have at least one axis, got shape ()")
    rows = x.shape[-2] if x.ndim > 1 else x.shape[-1]
    mask = numpy.tri(rows, x.shape[-1], k if lower else k - 1, dtype=bool)
    return where(_core.from_numpy(mask if lower else ~mask, x.device), x, x.dtype.kind != "b" and 0)


@direct("tril")
def tril(m: ArrayLike, k: int = 0) -> Array:
    """Return the lower triangle of the last two axes, or of a matrix with the vector m as each row.

    Zeros above diagonal k.

    Parameters
    ----------
    m : array_like
        The matrices, or a vector.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    array
        The lower triangle of the last two axes.

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.tril([[1, 2], [3, 4]]).tolist()
    [[1, 0], [3, 4]]
    """
    return _triangle(m, k, True)


@direct("triu")
def triu(m: ArrayLike, k: int = 0) -> Array:
    """Return the upper triangle of the last two axes, or of a matrix with the vector m as each row.

    Zeros below diagonal k.

    Parameters
    ----------
    m : array_like
        The matrices, or a vector.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    array
        The upper triangle of the last two axes.

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.triu([[1, 2], [3, 4]]).tolist()
    [[1, 2], [0, 4]]
    """
    return _triangle(m, k, False)
