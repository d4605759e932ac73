"""Statistics of several variables together."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import numpy

from .._base.convert import (
    asarray,
    asarrays,
    cast,
    is_inexact,
)
from .._base.host_task import checked
from .._base.promotion import real_of
from ..elementwise.arithmetic import conjugate, maximum, sqrt
from ..elementwise.select import clip
from ..index.diagonal import diagonal
from ..linalg.matmul import matmul
from ..reduce.reduction import _floating, sum
from ..shape.axis_order import transpose
from ..shape.complex_parts import imag, real
from ..shape.join import concatenate
from ..shape.reshape import atleast_2d, expand_dims

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = ["corrcoef", "cov"]


# --- several variables together -------------------------------------------------------------------


def _observations(m: Array, y: Array, rowvar: bool) -> Array:
    """Floats with a row for each variable and a column for each observation."""
    found = _floating(m, None, "cov")
    if found.ndim > 2:
        raise ValueError(f"cov: observations must be a vector or a matrix, got shape {found.shape}")
    turned = not rowvar and found.ndim == 2
    rows = transpose(found) if turned else atleast_2d(found)
    if y is None:
        return rows
    more = atleast_2d(_floating(y, None, "cov"))
    if more.ndim > 2:
        raise ValueError(f"cov: observations must be a vector or a matrix, got shape {more.shape}")
    return concatenate([rows, transpose(more) if not rowvar and more.shape[0] != 1 else more], 0)


def _conjugate(x: Array) -> Array:
    """Return x itself, if it is real: there is nothing to copy."""
    return conjugate(x) if x.dtype.kind == "c" else x


def _per_observation(name: str, weights: Array, n: int) -> Array:
    """Return weights whose values are checked once they are computed."""
    w = weights
    if w.shape != (n,):
        raise RuntimeError(f"cov: {name} must be one for each of {n} observations, got shape {w.shape}")

    def check(v: numpy.ndarray) -> None:
        if name == "fweights" and not (v == numpy.around(v)).all():
            raise TypeError(f"cov: fweights must be whole numbers, got {v}")
        if (v < 0).any():
            raise ValueError(f"cov: {name} must not be negative, got {v.min()}")

    return checked(w, "cov", check)


def cov(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None,
    fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, *, dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """Return the covariance matrix of variables, with an observation in each column; of one variable without axes.

    Variables are rows of m (columns, unless `rowvar`) and of y. Sums are divided by n - ddof; ddof is 1, or 0 with
    `bias`, unless given. ValueError if m has more than two axes or ddof is not a whole number, RuntimeError if weights
    are not one for each observation; where the result is read, ValueError if one is negative, TypeError if a frequency
    is not a whole number.

    Parameters
    ----------
    m : array_like
        The variables.
    y : array_like, optional
        Further variables.
    rowvar : bool, optional
        Whether variables are rows; otherwise they are columns.
    bias : bool, optional
        Whether to divide by the number of observations, without a correction.
    ddof : float, optional
        The number that is subtracted from the count before the division.
    fweights : array_like, optional
        How often each observation occurs.
    aweights : array_like, optional
        How much each observation counts.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    array
        The covariance matrix of variables.

    Raises
    ------
    ValueError
        If `m` has more than two axes, or `ddof` is not a whole number; where the result is read, if a weight is
        negative.
    RuntimeError
        If there is not one weight for each observation.
    TypeError
        Where the result is read, if a frequency is not a whole number.

    Examples
    --------
    >>> from forerun import np
    >>> np.cov(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    m, y, fweights, aweights = asarrays(m, y, fweights, aweights)
    x = _observations(m, y, rowvar)
    x = x if dtype is None else asarray(x, dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    if not is_inexact(x.dtype):
        raise TypeError(f"cov: dtype must be of floats, got {x.dtype}")
    if less != int(less):
        raise ValueError(f"cov: ddof must be a whole number, got {ddof}")
    given = (("fweights", fweights), ("aweights", aweights))
    weights = [_per_observation(name, w, x.shape[1]) for name, w in given if w is not None]
    if not weights:
        n = builtins.max(x.shape[1] - less, 0)
        x = x - sum(x, 1, keepdims=True) / (x.shape[1] or numpy.nan)
        c = matmul(x, _conjugate(transpose(x))) * (1 / n if n else numpy.inf)
    else:
        weights = [cast(w, real_of(x.dtype)) for w in weights]
        w = weights[0] * weights[1] if len(weights) == 2 else weights[0]
        total = sum(w)
        taken = less if aweights is None else less * sum(w * weights[-1]) / total
        x = x - sum(x * w, 1, keepdims=True) / total
        c = matmul(x, conjugate(transpose(x * w))) / maximum(total - taken, 0)
    return c.reshape(()) if c.size == 1 else c


def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Array:
    """Return the correlation coefficients of variables, between -1 and 1: `cov` divided by both standard deviations.

    Variables are rows of x (columns, unless `rowvar`) and of y, with an observation in each column.

    Parameters
    ----------
    x : array_like
        The variables.
    y : array_like, optional
        Further variables.
    rowvar : bool, optional
        Whether variables are rows; otherwise they are columns.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    array
        The correlation coefficients of variables.

    Examples
    --------
    >>> from forerun import np
    >>> np.corrcoef([[0, 1, 2], [2, 1, 0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    size = sqrt(real(diagonal(c)))
    c = c / expand_dims(size, 1) / size
    if c.dtype.kind == "c":
        return clip(real(c), -1, 1) + 1j * clip(imag(c), -1, 1)
    return clip(c, -1, 1)
