"""Functions that give complex numbers where there are no real ones, in NumPy's names: `forerun.np.emath`.

Their dtype depends on values: of real numbers, all of them wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._display.namespaces import dir_of
from ..ops._base.convert import asarray, asarrays, cast, default_float, promote
from ..ops.elementwise import arithmetic, exponential

if TYPE_CHECKING:
    from collections.abc import Callable
    from ..typing import Array, ArrayLike

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]
__dir__ = dir_of(__name__)


def _widened(x: ArrayLike, outside: Callable[..., Any]) -> Array:
    """Return x, as complex numbers if some of its values have no real result."""
    x = asarray(x)
    if x.dtype.kind == "c" or not outside(x.numpy()).any():
        return x
    wide = promote(x.dtype, default_float())
    return cast(x, numpy.dtype("complex128" if wide.itemsize == 8 else "complex64"))


def _negative(v: numpy.ndarray) -> Any:
    return v < 0


def _beyond_one(v: numpy.ndarray) -> Any:
    return abs(v) > 1


def sqrt(x: ArrayLike) -> Array:
    """Return the square root, complex if some values are negative.

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are negative.

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.sqrt([-1.0, 4.0]).tolist(), np.emath.sqrt(4.0).item()
    ([1j, (2+0j)], 2.0)
    """
    return arithmetic.sqrt(_widened(x, _negative))


def log(x: ArrayLike) -> Array:
    """Return the natural logarithm, complex if some values are negative.

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are negative.

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.log(-1.0).round(3).item()
    3.14...j
    """
    return exponential.log(_widened(x, _negative))


def log2(x: ArrayLike) -> Array:
    """Return the logarithm to base 2, complex if some values are negative.

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are negative.

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.log2(8.0).item()
    3.0
    """
    return exponential.log2(_widened(x, _negative))


def log10(x: ArrayLike) -> Array:
    """Return the logarithm to base 10, complex if some values are negative.

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are negative.

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.log10(100.0).round(4).item()
    2.0
    """
    return exponential.log10(_widened(x, _negative))


def logn(n: ArrayLike, x: ArrayLike) -> Array:
    """Return the logarithm to any base, complex if some values of either input are negative.

    Parameters
    ----------
    n : array_like
        The base. It is read, which waits.
    x : array_like
        The input. It is read as well.

    Returns
    -------
    array
        A float or complex array of the shape that both are broadcast to.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.logn(2.0, 8.0).round(4).item()
    3.0
    """
    n, x = asarrays(n, x)
    return exponential.log(_widened(x, _negative)) / exponential.log(_widened(n, _negative))


def power(x: ArrayLike, p: ArrayLike) -> Array:
    """Return x to the power of p; complex if some x are negative, floats if some p are.

    Parameters
    ----------
    x : array_like
        The base. It is read, which waits.
    p : array_like
        The exponent. Integers are read as well.

    Returns
    -------
    array
        An array of the shape that both are broadcast to.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.power([2, 4], -2).tolist()
    [0.25, 0.0625]
    """
    x, p = asarrays(x, p)
    if p.dtype.kind == "i" and (p.numpy() < 0).any():
        p = cast(p, default_float())
    return exponential.power(_widened(x, _negative), p)


def arccos(x: ArrayLike) -> Array:
    """Return the inverse cosine, complex if some values are not in [-1, 1].

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are not in [-1, 1].

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.arccos(1.0).item()
    0.0
    """
    return exponential.arccos(_widened(x, _beyond_one))


def arcsin(x: ArrayLike) -> Array:
    """Return the inverse sine, complex if some values are not in [-1, 1].

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are not in [-1, 1].

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.arcsin(2.0).dtype
    dtype('complex64')
    """
    return exponential.arcsin(_widened(x, _beyond_one))


def arctanh(x: ArrayLike) -> Array:
    """Return the inverse hyperbolic tangent, complex if some values are not in [-1, 1].

    Parameters
    ----------
    x : array_like
        The input. It is read, which waits, to see whether some values are not in [-1, 1].

    Returns
    -------
    array
        A float or complex array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.emath.arctanh(0.0).item()
    0.0
    """
    return exponential.arctanh(_widened(x, _beyond_one))
