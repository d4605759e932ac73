"""Whether arrays are equal, or close to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import core as _core
from .._base.convert import asarray, asarrays, cast, default_float, is_inexact
from ..elementwise.arithmetic import absolute, equal, isfinite, isnan
from .reduction import all

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["allclose", "array_equal", "isclose"]


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Test whether shapes and all elements are equal. The result is an array of one bool. equal_nan: NaN equals NaN.

    Parameters
    ----------
    a1 : array_like
        The first array.
    a2 : array_like
        The second array.
    equal_nan : bool, optional
        Whether NaN equals NaN.

    Returns
    -------
    array
        Whether shapes and all elements are equal.

    Examples
    --------
    >>> from forerun import np
    >>> np.array_equal([1, 2], [1, 2]).item(), np.array_equal([1, 2], [1, 2, 3]).item()
    (True, False)
    """
    a, b = asarrays(a1, a2)
    if a.shape != b.shape:
        return _core.as_scalar(asarray(False, device=a.device))
    same = equal(a, b)
    return all(same | ((a != a) & (b != b)) if equal_nan else same)


def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Test element by element whether |a - b| <= atol + rtol * |b|. Infinities are close to themselves.

    Parameters
    ----------
    a : array_like
        The first values.
    b : array_like
        The values to compare with.
    rtol : float or array, optional
        The relative tolerance.
    atol : float, optional
        The absolute tolerance.
    equal_nan : bool, optional
        Whether NaN is close to NaN.

    Returns
    -------
    array
        Whether the values are close, of dtype bool.

    Raises
    ------
    ValueError
        If shapes do not broadcast.

    Examples
    --------
    >>> from forerun import np
    >>> np.isclose([1.0, 2.0], [1.000001, 2.1]).tolist()
    [True, False]
    """
    a, b = (x if is_inexact(x.dtype) else cast(x, default_float()) for x in asarrays(a, b))
    near = absolute(a - b) <= atol + rtol * absolute(b)
    result = equal(a, b) | (near & isfinite(b))
    return result | (isnan(a) & isnan(b)) if equal_nan else result


def allclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Test whether `isclose` holds for all elements. The result is an array of one bool.

    Parameters
    ----------
    a : array_like
        The first values.
    b : array_like
        The values to compare with.
    rtol : float or array, optional
        The relative tolerance.
    atol : float, optional
        The absolute tolerance.
    equal_nan : bool, optional
        Whether NaN equals NaN.

    Returns
    -------
    array
        Whether `isclose` holds for all elements.

    Examples
    --------
    >>> from forerun import np
    >>> np.allclose([1.0, 2.0], [1.000001, 2.0]).item()
    True
    """
    return all(isclose(a, b, rtol, atol, equal_nan))
