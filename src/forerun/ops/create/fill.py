"""New arrays from shapes, numbers and other arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import Device, resolve
from .._base import convert
from .._base import core as _core
from .._base.convert import (
    as_dtype,
    check_choice,
    copy,
    default_float,
    extents_of,
    ints_become_floats,
    is_array,
    is_inexact,
    unsupported,
)
from .._base.primitive import direct
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from ..shape.memory_order import copied_in, fortran, in_order
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = [
    "array", "asarray", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
    "eye", "identity", "tri",
]  # fmt: skip


def _device(device: DeviceLike, ctx: DeviceLike) -> Device:
    """MXNet's `ctx` is another word for `device`."""
    return resolve(device if device is not None else ctx)


def _new(op: str, shape: Any, order: str, like: None, make: Callable[[tuple[int, ...]], Array]) -> Array:
    """Return make(shape); with order "F", the first axis varies fastest in memory."""
    if order == "C" and like is None:
        return _allocated(op, make, extents_of(op, "shape", shape))
    unsupported(op, like=like)
    order = order or "C"
    check_choice(op, "order", order, ("C", "F", "A", "K"))
    extents = extents_of(op, "shape", shape)
    return transpose(_allocated(op, make, extents[::-1])) if order == "F" else _allocated(op, make, extents)


def _allocated(op: str, make: Callable[[tuple[int, ...]], Array], extents: tuple[int, ...]) -> Array:
    try:
        return make(extents)
    except MemoryError as error:  # of the core, which calls all of them full
        raise MemoryError(str(error).replace("full:", f"{op}:", 1)) from None


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
    result = _made("array", object, dtype, where, copy, order)
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
        True for a new one in any case, False for ValueError if it takes a new one.
    like : None, optional
        Must not be given.

    Returns
    -------
    array
        `a` as an array.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.asarray([1, 2, 3])
    >>> np.asarray(x) is x, np.asarray(x, dtype=float).tolist()
    (True, [1.0, 2.0, 3.0])
    """
    unsupported("asarray", like=like)
    return _made("asarray", a, dtype, device, copy, order)


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


@direct("empty")
def empty(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: None = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of any values; memory is taken when it is first written or read.

    The default float unless dtype is given.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        "F" for an array whose first axis runs fastest in memory.
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of any values.

    Raises
    ------
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    want, where = _float_or(dtype, "empty"), _device(device, ctx)
    return _new("empty", shape, order, like, lambda extents: _core.empty(extents, want, where))


def _float_or(dtype: DTypeLike, op: str) -> numpy.dtype:
    return default_float() if dtype is None else as_dtype(op, dtype)


@direct("full")
def full(
    shape: Shape, fill_value: ArrayLike, dtype: DTypeLike = None, order: str = "C", *,
    device: DeviceLike = None, like: None = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return a new array with one value everywhere, or with values that broadcast to the shape.

    The dtype is that of the value (a Python float: the default float) unless given; a float loses its fraction in
    integers. order, like: as for `empty`.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    fill_value : array_like
        The value.
    dtype : dtype, optional
        The dtype; by default that of the value.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        a new array with one value everywhere.

    Raises
    ------
    ValueError
        If an extent is negative or shapes do not fit.
    OverflowError
        For an integer that does not fit into the dtype.

    Examples
    --------
    >>> from forerun import np
    >>> np.full((2, 2), 7).tolist(), np.full(2, [1.5, 2.0]).tolist()
    ([[7, 7], [7, 7]], [1.5, 2.0])
    """
    if out is not None:
        made = full(shape, fill_value, dtype or out.dtype, order, device=device or ctx, like=like)
        return convert.write_out("full", made, out, None)
    where = _device(device, ctx)
    kind = type(fill_value)
    if kind in (bool, int, float, complex):
        want = as_dtype("full", (float if kind is int and ints_become_floats() else kind) if dtype is None else dtype)
        if _core_takes(kind, want):
            return _new("full", shape, order, like, lambda extents: _core.full(extents, fill_value, want, where))
        fill_value, dtype = numpy.asarray(fill_value), want
    value = convert.asarray(fill_value, dtype, where, "full")
    wide = broadcast_to(value, extents_of("full", "shape", shape))
    return _new("full", wide.shape, order, like, lambda _: copy(transpose(wide) if order == "F" else wide))


def _core_takes(kind: type, dtype: numpy.dtype) -> bool:
    """Return whether a Python number becomes one of a dtype without losing a part."""
    return kind in (bool, int) or dtype.kind in "bc" or (kind is float and is_inexact(dtype))


@direct("zeros")
def zeros(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: None = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of zeros, of the default float (float32) unless dtype is given.

    order, like: as for `empty`.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of zeros.

    Raises
    ------
    ValueError
        If an extent is negative.
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np
    >>> np.zeros((2, 2)).tolist(), np.zeros(2, int).tolist()
    ([[0.0, 0.0], [0.0, 0.0]], [0, 0])
    """
    want, where = _float_or(dtype, "zeros"), _device(device, ctx)
    return _new("zeros", shape, order, like, lambda extents: _core.full(extents, 0, want, where))


@direct("ones")
def ones(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: None = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of ones, of the default float (float32) unless dtype is given. Errors: as `zeros`.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of ones.

    Examples
    --------
    >>> from forerun import np
    >>> np.ones(3).tolist()
    [1.0, 1.0, 1.0]
    """
    want, where = _float_or(dtype, "ones"), _device(device, ctx)
    return _new("ones", shape, order, like, lambda extents: _core.full(extents, 1, want, where))


def _as(
    op: str, x: ArrayLike, dtype: DTypeLike, order: str | None, shape: Any, device: DeviceLike
) -> tuple[Any, numpy.dtype, str, Device]:
    """Return shape, dtype, order and device: those given, else those of the prototype."""
    x = convert.asarray(x)
    order = order or "K"
    check_choice(op, "order", order, ("C", "F", "A", "K"))
    if order != "C":
        order = "F" if order == "F" or fortran(x) else "C"
    want = x.dtype if dtype is None else as_dtype(op, dtype)
    where = x.device if device is None else resolve(device)
    return (x.shape if shape is None else extents_of(op, "shape", shape)), want, order, where


@direct("empty_like")
def empty_like(
    prototype: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Shape | None = None,
    *, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of any values with the shape, dtype and device of another one unless given.

    Parameters
    ----------
    prototype : array_like
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        "K" for the layout of that array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of any values with the shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.empty_like(np.arange(6).reshape(2, 3)).shape
    (2, 3)
    """
    extents, want, how, where = _as("empty_like", prototype, dtype, order, shape, device or ctx)
    return empty(extents, want, how, device=where)


@direct("zeros_like")
def zeros_like(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True, shape: Shape | None = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return zeros with the shape, dtype, layout and device of an array unless given. out: an array for the result.

    Parameters
    ----------
    a : array_like
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        The order of the elements in memory: "K" for that of the array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Zeros with the shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.zeros_like(np.arange(3)).tolist(), np.zeros_like(np.arange(3), shape=(1, 2)).tolist()
    ([0, 0, 0], [[0, 0]])
    """
    extents, want, how, where = _as("zeros_like", a, dtype, order, shape, device or ctx)
    return convert.write_out("zeros_like", zeros(extents, want, how, device=where), out, None)


@direct("ones_like")
def ones_like(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True, shape: Shape | None = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return ones with the shape, dtype, layout and device of an array unless given. out: an array for the result.

    Parameters
    ----------
    a : array_like
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        The order of the elements in memory: "K" for that of the array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Ones with the shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.ones_like(np.arange(3), dtype=float).tolist()
    [1.0, 1.0, 1.0]
    """
    extents, want, how, where = _as("ones_like", a, dtype, order, shape, device or ctx)
    return convert.write_out("ones_like", ones(extents, want, how, device=where), out, None)


@direct("full_like")
def full_like(
    a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True,
    shape: Shape | None = None, *, device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return one value everywhere, with the shape, dtype, layout and device of an array unless given.

    A float loses its fraction in integers.

    Parameters
    ----------
    a : array_like
        The array whose shape, dtype and device are used.
    fill_value : array_like
        The value.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        The order of the elements in memory: "K" for that of the array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        One value everywhere.

    Raises
    ------
    OverflowError
        For an integer that does not fit into the dtype.

    Examples
    --------
    >>> from forerun import np
    >>> np.full_like(np.arange(3), 7).tolist()
    [7, 7, 7]
    """
    extents, want, how, where = _as("full_like", a, dtype, order, shape, device or ctx)
    return convert.write_out("full_like", full(extents, fill_value, want, how, device=where), out, None)


def _known(x: ArrayLike) -> Any:
    """Return values of an array argument that decides what is made: reading them waits."""
    return x.numpy() if is_array(x) else x


@direct("eye")
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None,
    like: None = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return ones on diagonal k (above the main one if positive) of an N by M matrix, zeros elsewhere.

    M is N and the dtype the default float unless given.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, optional
        The number of columns; by default that of rows.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        Ones on diagonal k (above the main one if positive) of an N by M matrix.

    Raises
    ------
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    unsupported("eye", like=like)
    if order == "F":
        return transpose(eye(N if M is None else M, N, -k, dtype, device=device, ctx=ctx))
    check_choice("eye", "order", order, ("C", "F"))
    columns = N if M is None else M
    result = zeros((N, columns), dtype, device=device, ctx=ctx)
    length = max(0, min(N + min(k, 0), columns - max(k, 0)))
    if length:
        size = result.itemsize
        start = (max(-k, 0) * columns + max(k, 0)) * size
        _core.assign(_core.view(result, (length,), ((columns + 1) * size,), start), 1)
    return result


@direct("identity")
def identity(
    n: int, dtype: DTypeLike = None, *, like: None = None, device: DeviceLike = None, ctx: DeviceLike = None
) -> Array:
    """Return the n by n identity matrix, of the default float unless dtype is given.

    Parameters
    ----------
    n : int
        The number of rows, and of columns.
    dtype : dtype, optional
        The dtype; by default the default float.
    like : None, optional
        Must not be given.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The n by n identity matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype, device=device, like=like, ctx=ctx)


@direct("tri")
def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None, *, device: DeviceLike = None,
    like: None = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return ones at and below diagonal k of an N by M matrix, zeros above; the default float unless dtype is given.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, optional
        The number of columns; by default that of rows.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        Ones at and below diagonal k of an N by M matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.tri(2, 3, dtype=int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    unsupported("tri", like=like)
    return _core.taken(numpy.tri(N, M, k, _float_or(dtype, "tri")), _device(device, ctx))
