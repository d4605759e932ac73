"""Questions about arrays and their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarrays, cast, default_float, is_array, is_inexact, is_real_float, write_out
from .._base.host_task import host_op
from ..create.array import asarray as as_ordered
from ..elementwise.arithmetic import equal, isinf, signbit
from ..shape.axis_order import transpose
from ..shape.complex_parts import imag, real
from ..shape.memory_order import fortran
from .reduction import all as all_

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike, Out

__all__ = [
    "array_equiv", "asarray_chkfinite", "iscomplex", "isfortran", "isneginf", "isposinf", "isreal", "iterable",
    "real_if_close",
]  # fmt: skip


def isreal(x: ArrayLike) -> Array:
    """Test whether the imaginary part of each element is zero.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        Whether the imaginary part of each element is zero.

    Examples
    --------
    >>> from forerun import np
    >>> np.isreal([1 + 1j, 2 + 0j]).tolist()
    [False, True]
    """
    found: Array = imag(x) == 0  # a Python bool where `imag` gives a Python number
    return found


def iscomplex(x: ArrayLike) -> Array:
    """Test whether each element has an imaginary part that is not zero.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        Whether each element has an imaginary part that is not zero.

    Examples
    --------
    >>> from forerun import np
    >>> np.iscomplex([1 + 1j, 2 + 0j]).tolist()
    [True, False]
    """
    found: Array = imag(asarray(x)) != 0
    return found


def _infinite(op: str, x: ArrayLike, negative: bool, out: Out) -> Array:
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: array must be of real numbers, got {x.dtype}")
    if not is_real_float(x.dtype):
        x = cast(x, default_float())
    sign = signbit(x)
    return write_out(op, isinf(x) & (sign if negative else ~sign), out)


def isposinf(x: ArrayLike, out: Out = None) -> Array:
    """Test whether each element is positive infinity.

    Parameters
    ----------
    x : array_like
        The values.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Whether each element is positive infinity.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.isposinf([-np.inf, 0.0, np.inf]).tolist()
    [False, False, True]
    """
    return _infinite("isposinf", x, False, out)


def isneginf(x: ArrayLike, out: Out = None) -> Array:
    """Test whether each element is negative infinity.

    Parameters
    ----------
    x : array_like
        The values.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Whether each element is negative infinity.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.isneginf([-np.inf, 0.0, np.inf]).tolist()
    [True, False, False]
    """
    return _infinite("isneginf", x, True, out)


def isfortran(a: ArrayLike) -> bool:
    """Test whether an array is in Fortran order, and not in C order.

    Does not wait.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    bool
        Whether an array is in Fortran order.

    Raises
    ------
    TypeError
        If `a` is not an array.

    Examples
    --------
    >>> from forerun import np
    >>> np.isfortran(np.zeros((2, 3)).T), np.isfortran(np.zeros((2, 3)))
    (True, False)
    """
    if not is_array(a):
        raise TypeError(f"isfortran: array must be an ndarray, got {type(a).__name__}")
    return fortran(a)


def iterable(y: ArrayLike) -> bool:
    """Test whether y can be iterated over. An array can if it has at least one axis.

    Parameters
    ----------
    y : any
        The object.

    Returns
    -------
    bool
        Whether y can be iterated over.

    Examples
    --------
    >>> from forerun import np
    >>> np.iterable([1]), np.iterable(np.array(1))
    (True, False)
    """
    return y.ndim > 0 if is_array(y) else bool(numpy.iterable(y))


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Test whether two arrays broadcast to one shape and have equal elements. The result is an array of one bool.

    Parameters
    ----------
    a1 : array_like
        The first array.
    a2 : array_like
        The second array.

    Returns
    -------
    array
        Whether two arrays broadcast to one shape and have equal elements.

    Examples
    --------
    >>> from forerun import np
    >>> np.array_equiv([1, 2], [[1, 2], [1, 2]]).item(), np.array_equiv([1, 2], [1, 2, 3]).item()
    (True, False)
    """
    a, b = asarrays(a1, a2)
    try:
        numpy.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return asarray(False, device=a.device)
    return all_(equal(a, b))


def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: str | None = None) -> Array:
    """Convert to an array, with ValueError for NaN and infinity where the result is read.

    As `asarray`, but floats always give a new array.

    Parameters
    ----------
    a : array_like
        Numbers, nested lists, NumPy arrays or arrays.
    dtype : dtype, optional
        The dtype of the result; by default that of the values.
    order : str, optional
        The order of the elements in memory, "C" or "F", for arrays by a copy if theirs is another; by default as it is.

    Returns
    -------
    array
        The array.

    Raises
    ------
    ValueError
        For NaN and infinity, where the result is read.

    Examples
    --------
    >>> from forerun import np
    >>> np.asarray_chkfinite([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    x = as_ordered(a, dtype, order)
    if not is_inexact(x.dtype):
        return x

    def checked(v: numpy.ndarray) -> numpy.ndarray:
        if not numpy.isfinite(v).all():
            raise ValueError("asarray_chkfinite: values must be finite, got infinity or NaN")
        return v

    turned = order == "F" or (order != "C" and fortran(x))
    given = transpose(x) if turned else x
    found = _core.as_array(host_op("asarray_chkfinite", checked, [given], given.shape, x.dtype))
    return transpose(found) if turned else found


def real_if_close(a: ArrayLike, tol: float = 100) -> Array:
    """Return the real part if no imaginary part is far from zero, else the array itself. Of complex numbers this waits.

    Parameters
    ----------
    a : array_like
        The values.
    tol : float, optional
        How far, in steps of the dtype at 1, or as a distance if it is not more than 1.

    Returns
    -------
    array
        The real part if no imaginary part is far from zero.

    Examples
    --------
    >>> from forerun import np
    >>> np.real_if_close([2.0 + 1e-9j]).tolist(), np.real_if_close([2 + 1j]).tolist()
    ([2.0], [(2+1j)])
    """
    x = asarray(a)
    if x.dtype.kind != "c":
        return x
    limit = float(numpy.finfo(x.dtype).eps) * tol if tol > 1 else tol
    return real(x) if bool(all_(abs(imag(x)) < limit)) else x
