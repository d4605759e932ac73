"""Arrays of given values: `array` and `asarray`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from .._base import convert
from .._base import core as _core
from .._base.convert import as_dtype, check_choice, unsupported
from .._base.primitive import direct
from .._base.promotion import default_float
from ..shape.memory_order import copied_in, in_order
from ..shape.reshape import reshape
from .arguments import _device

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__ = ["array", "asarray"]


@direct("array")
def array(
    object: ArrayLike, dtype: DTypeLike = None, *, copy: bool | None = True, order: str = "K", subok: bool = False,
    ndmin: int = 0, ndmax: int = 0, like: None = None, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array with the values of numbers, nested lists, NumPy arrays or arrays.

    Python floats get the default float (float32), Python integers int64; arrays keep their dtype. ndmin: as many axes
    at least, new ones in front.

    Parameters
    ----------
    object : array_like
        Numbers, nested lists, NumPy arrays or arrays.
    dtype : dtype, optional
        The dtype of the result; by default that of the values.
    copy : bool, optional
        None returns an array as it is if its dtype and device fit, False does so or raises ValueError.
    order : str, optional
        "F" for an array whose first axis runs fastest in memory, "C" for one whose last does.
    subok : bool, optional
        Has no effect.
    ndmin : int, optional
        The least number of axes; new ones come in front.
    ndmax : int, optional
        Must not be given.
    like : None, optional
        Must not be given.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array with the values of numbers.

    Raises
    ------
    ValueError
        If lists at one depth differ in length.
    TypeError
        If values are not numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.array([[1, 2], [3, 4]]).dtype, np.array([1.5]).dtype
    (dtype('int64'), dtype('float32'))
    """
    unsupported("array", like=like, ndmax=ndmax or None)
    where = _device(device, ctx) if device is not None or ctx is not None else None
    given = object if subok else _without_class(object, copy)
    result = _made("array", given if copy else _inside(given, dtype), dtype, where, copy, order)
    missing = ndmin - result.ndim
    return reshape(result, (1,) * missing + result.shape) if missing > 0 else result


@direct("asarray")
def asarray(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = None, *, device: DeviceLike = None,
    copy: bool | None = None, like: None = None,
) -> Array:  # fmt: skip
    """Return `a` as an array: itself if it is one of that dtype and device, otherwise a new one.

    Python floats get the default float; Python integers int64 (the default float after `npx.set_np()`); NumPy arrays
    keep their dtype. Other errors: as for `array`.

    Parameters
    ----------
    a : array_like
        Numbers, nested lists, NumPy arrays or arrays.
    dtype : dtype, optional
        The dtype of the result; by default that of the values.
    order : str, optional
        The order of the elements in memory, "C" or "F", for arrays by a copy if theirs is another; by default as it is.
    device : device, optional
        The device of the result.
    copy : bool, optional
        True for a new one in any case, False for no new one in any case.
    like : None, optional
        Must not be given.

    Returns
    -------
    array
        `a` as an array.

    Raises
    ------
    ValueError
        If `copy` is False and a new array is needed.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.asarray([1, 2, 3])
    >>> np.asarray(x) is x, np.asarray(x, dtype=float).tolist()
    (True, [1.0, 2.0, 3.0])
    """
    if order is None and device is None and copy is None and like is None and _has_dtype(a, dtype):
        return a
    unsupported("asarray", like=like)
    given = _without_class(a, copy)
    return _made("asarray", given if copy else _inside(given, dtype), dtype, device, copy, order)


def _without_class(x: Any, copy: bool | None) -> Any:
    """Return an array of NumPy's, or of a class derived from it, without its class; other values as they are.

    By NumPy's rules that is an array on the same memory, unless it is to be copied.
    """
    if not isinstance(x, numpy.ndarray):
        return x
    plain = numpy.asarray(x)
    if copy or not _core.numpy_rules():
        return plain
    shared = _core.shared_with_numpy(plain)
    return plain if shared is None else shared


def _inside(x: Any, dtype: DTypeLike) -> object:
    """Return the array that an object gives by its `__array__`, which then sees writes. Others as they are."""
    if isinstance(x, (_core.Array, numpy.ndarray, numpy.generic)) or not hasattr(type(x), "__array__"):
        return x
    of_program = getattr(x.__array__, "unconverted", None)  # which `as_numpy` keeps, as NumPy gets another
    method: Any = x.__array__ if of_program is None else functools.partial(of_program, x)
    given = method() if dtype is None else method(as_dtype("asarray", dtype))
    return given if isinstance(given, _core.Array) or type(given) is numpy.ndarray else x


def _has_dtype(x: ArrayLike, dtype: DTypeLike) -> TypeIs[Array]:
    """Return whether x is an array, and no scalar, of the dtype, where that is seen at once."""
    if not isinstance(x, _core.Array) or _core.is_scalar(x):
        return False
    return x.dtype.type is dtype or x.dtype is dtype or (dtype is float and x.dtype is default_float())


def _made(op: str, x: Any, dtype: DTypeLike, device: DeviceLike, copy: bool | None, order: str | None) -> Array:
    result = convert.asarray(x, dtype, device, op)
    if order is not None:
        check_choice(op, "order", order, ("C", "F", "A", "K"))
        if order != "A" and not in_order(result, order):
            result = copied_in(result, order)
    if copy is False and (result is not x or _core.is_scalar(x)):
        raise ValueError(f"{op}: copy must not be False where values are copied, got {type(x).__name__}")
    if _core.is_scalar(result):
        return _core.as_array(copied_in(result, order))
    return copied_in(result, order) if result is x and copy else result
