"""Arrays from iterables, text and layouts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, axes_of, unsupported
from ..create.arguments import _device
from ..create.array import asarray
from ..shape.join import vstack
from ..shape.memory_order import copied_in
from ..shape.reshape import atleast_1d, ravel
from .diagonal import diag

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ...typing import Array, ArrayLike, Axis, DeviceLike, DTypeLike

__all__ = [
    "asfortranarray", "diagflat", "frombuffer", "fromiter", "fromstring", "require", "row_stack", "trim_zeros",
]  # fmt: skip


def fromiter(
    iter: Iterable[Any], dtype: DTypeLike, count: int = -1, *, like: None = None, device: DeviceLike = None
) -> Array:
    """Return a vector of the first `count` numbers of an iterable, or of all.

    Parameters
    ----------
    iter : iterable of numbers
        The numbers.
    dtype : dtype
        The dtype of the result.
    count : int, optional
        The number of values; -1 for all.
    like : None, optional
        Must not be given.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    array
        a vector of the first `count` numbers of an iterable.

    Raises
    ------
    TypeError
        For a dtype that arrays cannot have.
    ValueError
        If there are fewer than `count` numbers.

    Examples
    --------
    >>> from forerun import np
    >>> np.fromiter((i * i for i in range(4)), "int64").tolist()
    [0, 1, 4, 9]
    """
    unsupported("fromiter", like=like)
    return _core.from_numpy(numpy.fromiter(iter, as_dtype("fromiter", dtype), count), _device(device, None))


def frombuffer(
    buffer: ReadableBuffer, dtype: DTypeLike = float, count: int = -1, offset: int = 0, *, like: None = None,
    device: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a vector of the numbers in an object's memory.

    It is a copy, as operations would read that memory at any later time.

    The default float unless dtype is given.

    Parameters
    ----------
    buffer : bytes-like
        An object that has the buffer protocol.
    dtype : dtype, optional
        The dtype of the numbers.
    count : int, optional
        How many; -1: all.
    offset : int, optional
        Bytes to leave out.
    like : None, optional
        Must not be given.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    array
        a vector of the numbers in an object's memory.

    Raises
    ------
    ValueError
        If the memory does not hold that many.
    TypeError
        If it cannot be read.

    Examples
    --------
    >>> from forerun import np
    >>> np.frombuffer(b"\\x01\\x00\\x02\\x00", "int16").tolist()
    [1, 2]
    """
    unsupported("frombuffer", like=like)
    want = as_dtype("frombuffer", dtype)
    try:
        given: Any = buffer  # NumPy names the types that it knows
        found = numpy.frombuffer(given, want, count, offset)
    except ValueError:
        what = f"{count} after {offset} of {memoryview(buffer).nbytes} bytes"
        raise ValueError(f"frombuffer: count must be of whole {want} after the offset, got {what}") from None
    return _core.from_numpy(found, _device(device, None))


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str, like: None = None, device: DeviceLike = None
) -> Array:
    """Return a vector of the numbers in a text, separated by `sep`. The default float unless dtype is given.

    Parameters
    ----------
    string : str
        The text.
    dtype : dtype, optional
        The dtype of the numbers.
    count : int, optional
        The number of values; -1 for all.
    sep : str
        The text between two numbers.
    like : None, optional
        Must not be given.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    array
        a vector of the numbers in a text.

    Raises
    ------
    ValueError
        If the text has something else, or sep is empty.

    Examples
    --------
    >>> from forerun import np
    >>> np.fromstring("1 2 3", sep=" ").tolist()
    [1.0, 2.0, 3.0]
    """
    unsupported("fromstring", like=like)
    if not sep:
        raise ValueError(f"fromstring: sep must not be empty, got {sep!r}")
    found = numpy.fromstring(string, as_dtype("fromstring", dtype), count, sep=sep)
    return _core.from_numpy(found, _device(device, None))


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """Return a matrix with the elements of an array, flat, on its diagonal k.

    Parameters
    ----------
    v : array_like
        The elements of the diagonal.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    array
        a matrix with the elements of an array.

    Examples
    --------
    >>> from forerun import np
    >>> np.diagflat([[1, 2]]).tolist()
    [[1, 0], [0, 2]]
    """
    return diag(ravel(v), k)


def asfortranarray(a: ArrayLike, dtype: DTypeLike = None, *, like: None = None) -> Array:
    """Return `a` as an array of at least one axis in Fortran order.

    A transposed view of a copy, or `a` itself if it lies so.

    Parameters
    ----------
    a : array_like
        Numbers, nested lists, NumPy arrays or arrays.
    dtype : dtype, optional
        The dtype of the result; by default that of the values.
    like : None, optional
        Must not be given.

    Returns
    -------
    array
        `a` as an array of at least one axis in Fortran order.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.asfortranarray([[1, 2], [3, 4]])
    >>> x.tolist(), np.isfortran(x)
    ([[1, 2], [3, 4]], True)
    """
    unsupported("asfortranarray", like=like)
    result: Array = atleast_1d(asarray(a, dtype, "F"))
    return result


_FLAGS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"), **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("O", "OWNDATA"), "O"), **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("A", "ALIGNED", "E", "ENSUREARRAY"), ""),
}  # fmt: skip


def require(
    a: ArrayLike, dtype: DTypeLike = None, requirements: str | Sequence[str] | None = None, *, like: None = None
) -> Array:
    """Return `a` as an array of a dtype that meets the requirements. It is copied only if necessary.

    "A" and "E" hold for all arrays.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype, optional
        The dtype of the result.
    requirements : str or sequence of strs, optional
        "C" or "F" for an order of memory without gaps; "W" for an array that can be written, which views that repeat
        elements cannot; "O" for memory of its own: always a copy of an array, as no forerun array owns its memory
        (`flags.owndata`).
    like : None, optional
        Must not be given.

    Returns
    -------
    array
        `a` as an array of a dtype that meets the requirements.

    Raises
    ------
    ValueError
        If "C" and "F" are both asked for.
    KeyError
        For a word that names no requirement.

    Examples
    --------
    >>> from forerun import np
    >>> np.require([1, 2], "float32", ["C", "W"]).dtype
    dtype('float32')
    """
    unsupported("require", like=like)
    words = [requirements] if isinstance(requirements, str) else list(requirements or ())
    wanted = {_FLAGS[word.upper()] for word in words}
    if {"C", "F"} <= wanted:
        raise ValueError(f"require: requirements must not be both C and F, got {words}")
    order = "F" if "F" in wanted else "C" if "C" in wanted else None
    x = asarray(a, dtype, order)
    shared = ("O" in wanted and x is a) or ("W" in wanted and not x.flags.writeable)
    return copied_in(x, order) if shared else x


def row_stack(tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Return `vstack`, by its older name.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.

    Returns
    -------
    array
        The joined array.

    Examples
    --------
    >>> from forerun import np
    >>> np.row_stack([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return vstack(tup, dtype=dtype, casting=casting)


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axis = None) -> Array:
    """Return a view without the slices of zeros at the beginning and end of axes.

    Its shape depends on values: this waits.

    Parameters
    ----------
    filt : array_like
        The values.
    trim : str, optional
        "f" for the beginning, "b" for the end.
    axis : int or tuple of ints, optional
        By default all.

    Returns
    -------
    array
        a view without the slices of zeros at the beginning and end of axes.

    Raises
    ------
    ValueError
        If trim has other letters.

    Examples
    --------
    >>> from forerun import np
    >>> np.trim_zeros([0, 0, 1, 0, 2, 0]).tolist()
    [1, 0, 2]
    """
    if set(trim.lower()) - {"f", "b"}:
        raise ValueError(f'trim_zeros: trim must be of "f" and "b", got {trim!r}')
    if _core.numpy_rules() and isinstance(filt, (list, tuple)):
        return cast("Any", numpy.trim_zeros)(filt, trim, axis)  # type: ignore[no-any-return]  # a list, too
    x = asarray(filt)
    found = numpy.nonzero(x.numpy()) if x.ndim else ()
    parts = [slice(None)] * x.ndim
    for a in axes_of("trim_zeros", axis, x.ndim):
        first, last = (int(found[a].min()), int(found[a].max()) + 1) if found[a].size else (x.shape[a], x.shape[a])
        start = first if "f" in trim.lower() else 0
        stop = last if "b" in trim.lower() else x.shape[a]
        parts[a] = slice(start, stop) if found[a].size else slice(0, 0)
    return x[(*parts, ...)]
