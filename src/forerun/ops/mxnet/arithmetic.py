"""Sums and products of arrays, and scores of attention divided by the root of their width."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._base.convert import asarray, asarrays, axis_of
from ..elementwise.arithmetic import multiply
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["add_n", "div_sqrt_dim", "khatri_rao"]


def add_n(*args: Array | Sequence[Array]) -> Array:
    """Return the sum of arrays of one shape.

    The arrays are given as several arguments, or as one list or tuple.

    Parameters
    ----------
    *args : array_like, or one list or tuple of array_like
        The arrays to be added, all of one shape.

    Returns
    -------
    array
        The sum, in the shape of the arrays; their dtypes are promoted. A single array is returned itself.

    Raises
    ------
    ValueError
        If shapes differ, or there is no array.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.add_n(np.ones(2), np.ones(2), np.arange(2)).tolist()
    [2.0, 3.0]
    """
    given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    arrays = asarrays(*given)
    shapes = {x.shape for x in arrays}
    if len(shapes) != 1:
        raise ValueError(f"add_n: arrays must have one shape, got {', '.join(map(str, sorted(shapes))) or 'none'}")
    return functools.reduce(operator.add, arrays)


def khatri_rao(*args: ArrayLike) -> Array:
    """Return the Khatri-Rao product of matrices: the Kronecker products of their columns.

    Parameters
    ----------
    *args : array_like
        The matrices, at least one, all with the same number of columns.

    Returns
    -------
    array
        A matrix with that number of columns, whose number of rows is the product of those of the matrices.

    Raises
    ------
    ValueError
        If arrays are of other shapes, or none is given.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.khatri_rao([[1, 2]], [[3, 4], [5, 6]]).tolist()
    [[3, 8], [5, 12]]
    """
    matrices = asarrays(*args)
    if not matrices or any(m.ndim != 2 or m.shape[1] != matrices[0].shape[1] for m in matrices):
        shapes = ", ".join(str(m.shape) for m in matrices) or "none"
        raise ValueError(f"khatri_rao: matrices must have as many columns, got shapes {shapes}")
    columns = matrices[0].shape[1]
    pair = lambda a, b: reshape(multiply(a[:, None, :], b[None]), (a.shape[0] * b.shape[0], columns))
    return functools.reduce(pair, matrices)


def div_sqrt_dim(data: ArrayLike) -> Array:
    """Divide an array by the square root of the extent of its last axis, as attention scales its scores.

    Parameters
    ----------
    data : array_like
        The values, with at least one axis.

    Returns
    -------
    array
        The quotients, in the shape of `data`; of integers in the default float.

    Raises
    ------
    IndexError
        If `data` is an array without axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.div_sqrt_dim(np.ones(4)).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    x = asarray(data)
    return x / math.sqrt(x.shape[axis_of("div_sqrt_dim", -1, x.ndim)])
