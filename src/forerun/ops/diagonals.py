"""Diagonals of arrays, and the triangles below and above them."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .convert import asarray, axes_of
from .indexing import _gather, _scatter_zeros, where
from .reduction import sum
from .shape import transpose

__all__ = ["diagonal", "diag", "trace", "tril", "triu"]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Elements on diagonal `offset` of two axes, along a new last axis. IndexError if there are not two axes.

    >>> from forerun import np
    >>> np.diagonal([[1, 2], [3, 4]]).tolist()
    [1, 4]
    """
    x = asarray(a)
    a, b = axes_of("diagonal", (axis1, axis2), x.ndim)
    x = transpose(x, [i for i in range(x.ndim) if i not in (a, b)] + [a, b])
    rows, columns = x.shape[-2:]
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    i = numpy.arange(n)
    first = _core.from_numpy(i - min(offset, 0), x.device)
    return _gather(x, [first, _core.from_numpy(i + max(offset, 0), x.device)], x.ndim - 2)


def diag(v: Any, k: int = 0) -> Any:
    """Diagonal k of a matrix, or a matrix with a vector on its diagonal k.

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
    i = numpy.arange(x.shape[0])
    index = [_core.from_numpy(i - min(k, 0), x.device), _core.from_numpy(i + max(k, 0), x.device)]
    return _scatter_zeros(x, (n, n), index, 0)


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """The sum of diagonal `offset` of two axes; dtype and out as for `sum`.

    >>> from forerun import np
    >>> np.trace([[1, 2], [3, 4]]).item()
    5
    """
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


def _triangle(x: Any, k: int, lower: bool) -> Any:
    x = asarray(x)
    if x.ndim == 0:
        name = "tril" if lower else "triu"
        raise ValueError(f"{name}: array must have at least one axis, got shape ()")
    rows = x.shape[-2] if x.ndim > 1 else x.shape[-1]
    mask = numpy.tri(rows, x.shape[-1], k if lower else k - 1, dtype=bool)
    return where(_core.from_numpy(mask if lower else ~mask, x.device), x, x.dtype.kind != "b" and 0)


def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes, or of a matrix with the vector m as each row.

    Zeros above diagonal k. ValueError of an array without axes.

    >>> from forerun import np
    >>> np.tril([[1, 2], [3, 4]]).tolist()
    [[1, 0], [3, 4]]
    """
    return _triangle(m, k, True)


def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes, or of a matrix with the vector m as each row.

    Zeros below diagonal k. ValueError of an array without axes.

    >>> from forerun import np
    >>> np.triu([[1, 2], [3, 4]]).tolist()
    [[1, 2], [0, 4]]
    """
    return _triangle(m, k, False)
