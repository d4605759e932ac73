"""Properties of arrays that do not depend on values: shapes, dtypes, and whether they share memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy

from .._base import convert
from .._base import core as _core
from .._base.convert import asarray, axes_of

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis

__all__ = [
    "shape",
    "ndim",
    "size",
    "isscalar",
    "iscomplexobj",
    "isrealobj",
    "broadcast_shapes",
    "may_share_memory",
    "shares_memory",
]


def shape(a: ArrayLike) -> tuple[int, ...]:
    """Return the shape of `a`. Does not wait.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    tuple of ints
        The shape of `a`.

    Examples
    --------
    >>> from forerun import np
    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    return asarray(a).shape


def ndim(a: ArrayLike) -> int:
    """Return the number of axes of `a`. Does not wait.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    int
        The number of axes of `a`.

    Examples
    --------
    >>> from forerun import np
    >>> np.ndim([[1, 2, 3]])
    2
    """
    return asarray(a).ndim


def size(a: ArrayLike, axis: Axis = None) -> int:
    """Return the number of elements of `a`, or along axes. Does not wait.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes; by default all.

    Returns
    -------
    int
        The number of elements of `a`.

    Examples
    --------
    >>> from forerun import np
    >>> np.size([[1, 2, 3]])
    3
    """
    x = asarray(a)
    return x.size if axis is None else math.prod(x.shape[i] for i in axes_of("size", axis, x.ndim))


def isscalar(element: Array | float) -> bool:
    """Test whether `element` is a scalar of Python or NumPy. An array without axes is not.

    Parameters
    ----------
    element : any
        The object.

    Returns
    -------
    bool
        Whether `element` is a scalar of Python or NumPy.

    Examples
    --------
    >>> from forerun import np
    >>> np.isscalar(1.5), np.isscalar(np.array(1.5))
    (True, False)
    """
    return numpy.isscalar(element)


def iscomplexobj(x: ArrayLike) -> bool:
    """Test whether the dtype of x is complex.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    bool
        Whether the dtype of x is complex.

    Examples
    --------
    >>> from forerun import np
    >>> np.iscomplexobj([1 + 2j]), np.iscomplexobj([1.0])
    (True, False)
    """
    return asarray(x).dtype.kind == "c"


def isrealobj(x: ArrayLike) -> bool:
    """Test whether the dtype of x is not complex.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    bool
        Whether the dtype of x is not complex.

    Examples
    --------
    >>> from forerun import np
    >>> np.isrealobj([1 + 2j]), np.isrealobj([1.0])
    (False, True)
    """
    return not iscomplexobj(x)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes have together.

    Parameters
    ----------
    *args : tuple of ints
        The shapes.

    Returns
    -------
    tuple of ints
        The shape.

    Raises
    ------
    ValueError
        If the shapes do not broadcast together.

    Examples
    --------
    >>> from forerun import np
    >>> np.broadcast_shapes((2, 1), 3)
    (2, 3)
    """
    return convert.broadcast_shapes("broadcast_shapes", *((s,) if isinstance(s, int) else tuple(s) for s in args))


class _Addresses:
    """Where the elements of an array lie in its storage, as NumPy reads it; the memory itself is not read."""

    def __init__(self, x: Array) -> None:
        at = (1 << 32) + _core.byte_offset(x)  # of a storage that begins anywhere but at 0
        kind = f"|V{x.itemsize}"
        self.__array_interface__ = {
            "version": 3,
            "shape": x.shape,
            "strides": x.strides,
            "typestr": kind,
            "data": (at, True),
        }


def _in_memory(x: object) -> object:
    """Return NumPy's array on the memory of an array on the CPU; others as they are."""
    on_cpu = convert.is_array(x) and not _core.is_scalar(x) and x.device.device_type == "cpu"
    return _core.numpy_alias(cast("Array", x)) if on_cpu else x


def _overlap(test: Callable[..., bool], a: Any, b: Any, max_work: int | None) -> bool:
    if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray):
        seen = [_in_memory(x) for x in (a, b)]
        return all(isinstance(x, numpy.ndarray) for x in seen) and bool(test(*seen, max_work))
    return _core.shares_storage(a, b) and bool(test(*(numpy.asarray(_Addresses(x)) for x in (a, b)), max_work))


def may_share_memory(a: ArrayLike, b: ArrayLike, /, max_work: int | None = 0) -> bool:
    """Test whether the ranges of memory of two arrays overlap. It waits for an array beside one of NumPy's.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.
    max_work : int, optional
        How much work to do on an exact answer; 0: compare the ranges alone.

    Returns
    -------
    bool
        Whether the arrays may share elements.

    Raises
    ------
    TypeError
        For non-arrays.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros(4)
    >>> np.may_share_memory(x, x[1:]), np.may_share_memory(x[:2], x[2:]), np.may_share_memory(x, x.copy())
    (True, False, False)
    """
    return _overlap(numpy.may_share_memory, a, b, max_work)


def shares_memory(a: ArrayLike, b: ArrayLike, /, max_work: int | None = -1) -> bool:
    """Test whether two arrays have elements in common. It waits for an array beside one of NumPy's.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.
    max_work : int, optional
        How much work to do on an exact answer; -1: as much as it takes.

    Returns
    -------
    bool
        Whether the arrays share elements.

    Raises
    ------
    TypeError
        For non-arrays.
    numpy.exceptions.TooHardError
        If the answer takes more than `max_work`.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros(4)
    >>> np.shares_memory(x, x[1:]), np.shares_memory(x[::2], x[1::2])
    (True, False)
    """
    return _overlap(numpy.shares_memory, a, b, max_work)
