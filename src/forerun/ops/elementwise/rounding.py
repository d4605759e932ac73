"""Rounding to decimals."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, write_out
from .._base.host_task import host_op
from .arithmetic import round as _round

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Out

__all__ = ["round"]


def round(a: ArrayLike, decimals: int = 0, out: Out = None) -> Array:
    """Return `a` rounded to decimals, in its dtype; halves go to the even digit.

    Parameters
    ----------
    a : array_like
        The values.
    decimals : int, optional
        The number of digits behind the point; negative for digits before it.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        `a` rounded to decimals.

    Examples
    --------
    >>> from forerun import np
    >>> np.round([0.5, 1.5, 2.25]).tolist(), np.round([1.25], 1)
    ([0.0, 2.0, 2.0], array([1.2]))
    """
    x, decimals = asarray(a), operator.index(decimals)
    whole = x.dtype.kind == "c" or (x.dtype.kind in "iu" and decimals < 0)  # as NumPy does it, value by value
    if not whole or decimals == 0:
        return write_out("round", _round(x, decimals), out)
    wide = lambda v: numpy.round(v, decimals)
    return write_out("round", host_op("round", wide, [_core.detach(x)], x.shape, x.dtype), out)
