"""Names that NumPy once had, and MXNet has: for programs that were written for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ..ops._base.convert import asarrays
from ..ops.reduce.product import prod
from ..ops.reduce.reduction import all as all_
from ..ops.reduce.reduction import any as any_
from ..ops.shape.reshape import ravel
from ..ops.signal.convolve import trapezoid
from ..ops.sort.sets import isin
from ..ops.sort.sort import sort

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike

__all__ = [
    "NAN", "NINF", "NZERO", "NaN", "PINF", "PZERO", "alltrue", "in1d", "msort", "product", "sometrue",
    "trapz",
]  # fmt: skip

NAN = NaN = numpy.nan
PINF, NINF = numpy.inf, -numpy.inf
PZERO, NZERO = 0.0, -0.0

alltrue, sometrue, product, trapz = all_, any_, prod, trapezoid


def msort(a: ArrayLike) -> Array:
    """Return a copy of `a` with its elements in ascending order along the first axis.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    array
        A copy of `a` with its elements in ascending order along the first axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.msort([[3, 1], [0, 2]]).tolist()
    [[0, 1], [3, 2]]
    """
    return sort(a, 0)


def in1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False) -> Array:
    """Test whether each element of the flat ar1 is in ar2. Parameters as for `isin`.

    Parameters
    ----------
    ar1 : array_like
        The values to test.
    ar2 : array_like
        The values to look for.
    assume_unique : bool, optional
        Whether both arrays hold distinct values, which saves time.
    invert : bool, optional
        Whether to test the opposite.

    Returns
    -------
    array
        Whether each element of the flat ar1 is in ar2.

    Examples
    --------
    >>> from forerun import np
    >>> np.in1d([[1, 2], [3, 4]], [2, 3]).tolist()
    [False, True, True, False]
    """
    x, y = asarrays(ar1, ar2)
    return isin(ravel(x), y, assume_unique, invert)
