"""NumPy's functions for files, as operations that overlap with the computation."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import numpy

from ..ops._base import core as _core
from ..ops._base.convert import as_dtype, asarray, default_float
from . import file_ops, npy
from . import ordering as order
from .atomic_write import place
from .npy import Header, Room
from .npz import Archive, Given, Members, Promised

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DeviceLike, DTypeLike, FileLike

__all__ = [
    "save", "savez", "savez_compressed", "load", "savetxt", "loadtxt", "genfromtxt", "fromfile",
]  # fmt: skip


def save(file: FileLike, arr: ArrayLike, allow_pickle: bool = True, *, wait: bool = True) -> Array:
    """Write an array in NumPy's format to a file. Returns the file's size in bytes, as an array.

    The file is written when the call returns. Raises OSError, or the error of the computation of the values. A name
    gets ".npy" behind it if it lacks it. A file of that name is replaced when all is on the disk, not before.

    wait=False: to a file given by its name it is an operation, and the call returns at once. `load` comes after it;
    other readers of the file must wait for the size first, which raises the error of a failed write. Later writes into
    the array change nothing. An open file is written now in any case.

    Parameters
    ----------
    file : path or file
        A path, or an open file.
    arr : array_like
        The array to write.
    allow_pickle : bool, optional
        Changes nothing, as arrays hold numbers.
    wait : bool, optional
        Whether the call returns only when the file is written.

    Returns
    -------
    array
        The size of the file in bytes.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = np.save(f"{folder}/x", np.arange(3), wait=False)
    ...     np.load(f"{folder}/x.npy").tolist(), size.item()
    ([0, 1, 2], 152)
    """
    x = asarray(arr)
    header = file_ops.header_of(x)
    if hasattr(file, "write"):
        values, stream = x.numpy(), cast("IO[Any]", file)
        return file_ops.written_to(stream, lambda out: npy.write_array(out, values, header))
    write = lambda out, values: npy.write_array(out, values, header, 0)
    return file_ops.save("save", place(file, ".npy"), "npy", {"": x}, [header], write, wait)


def _savez(
    op: str, file: FileLike, args: tuple[Any, ...], named: dict[str, Any], wait: bool, compressed: bool
) -> Array:
    if not isinstance(wait, bool):  # an array of that name
        named, wait = {**named, "wait": wait}, True
    unnamed = {f"arr_{i}": x for i, x in enumerate(args)}
    if twice := unnamed.keys() & named.keys():
        raise ValueError(f"{op}: names must differ from those of unnamed arrays, got {sorted(twice)}")
    return file_ops.save_arrays(op, file, {**unnamed, **named}, ".npz", compressed, wait)


def savez(file: FileLike, *args: ArrayLike, allow_pickle: bool = True, wait: bool = True, **kwds: ArrayLike) -> Array:
    """Write several arrays in NumPy's format to a file, as `save` does. Returns its size in bytes, as an array.

    `load` reads them, by the names they are given here, or arr_0, arr_1 and so on (ValueError if a name is given
    twice). A name of a file gets ".npz" behind it if it lacks it. wait: as for `save`, if it is True or False; anything
    else is an array of that name.

    Parameters
    ----------
    file : path or file
        A path, or an open file.
    *args : array_like
        The arrays to write, named arr_0, arr_1 and so on.
    allow_pickle : bool, optional
        Has no effect, as arrays hold numbers.
    wait : bool, optional
        As in `save`.
    **kwds : array_like
        The arrays to write, by name.

    Returns
    -------
    array
        The size of the file in bytes.

    Raises
    ------
    ValueError
        If a name is given twice.

    Examples
    --------
    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> _ = np.savez(file, np.zeros(2), np.ones(2)); _ = file.seek(0)
    >>> sorted(np.load(file))
    ['arr_0', 'arr_1']
    """
    return _savez("savez", file, args, kwds, wait, False)


def savez_compressed(
    file: FileLike, *args: object, allow_pickle: bool = True, wait: bool = True, **kwds: ArrayLike
) -> Array:
    """Write several arrays as `savez` does, compressed.

    Parameters
    ----------
    file : path or file
        A path, or an open file.
    *args : array_like
        The arrays to write, named arr_0, arr_1 and so on.
    allow_pickle : bool, optional
        Has no effect, as arrays hold numbers.
    wait : bool, optional
        As in `save`.
    **kwds : array_like
        The arrays to write, by name.

    Returns
    -------
    array
        The size of the file in bytes.

    Examples
    --------
    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> np.savez_compressed(file, x=np.zeros(10000)).item() < 1000
    True
    """
    return _savez("savez_compressed", file, args, kwds, wait, True)


def load(
    file: FileLike,
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10_000,
) -> Any:
    """Read an array in NumPy's format, or a mapping of arrays, as written by `save` or `savez`.

    A file given by its name is opened now, for shape and dtype, and read by an operation; a defect in its values is
    raised by reads of the array. If it is about to be saved, the operation comes after that. The arrays of an npz file
    are read when they are asked for. An open file is read now.

    Nothing in a file is executed (pickles are refused for any allow_pickle), and no more memory is taken than
    the file's size justifies.

    Parameters
    ----------
    file : path or file
        A path, or an open file.
    mmap_mode : None, optional
        Must not be given.
    allow_pickle : bool, optional
        Has no effect: pickles are refused.
    fix_imports : bool, optional
        Has no effect.
    encoding : str, optional
        Has no effect.
    max_header_size : int, optional
        Has no effect.

    Returns
    -------
    array, or mapping of arrays
        The array, or the arrays of an npz file by name.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If its format is another. For an mmap_mode: arrays live in the engine's memory.

    Examples
    --------
    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> _ = np.savez(file, a=[1, 2], b=[3.0]); _ = file.seek(0)
    >>> {name: x.tolist() for name, x in np.load(file).items()}
    {'a': [1, 2], 'b': [3.0]}
    """
    if mmap_mode is not None:
        raise ValueError(f"load: mmap_mode must be None, got {mmap_mode!r}; operations accept the result of numpy.load")
    del (
        allow_pickle,
        fix_imports,
        encoding,
        max_header_size,
    )  # for pickles, and for headers as numbers never have them
    if not hasattr(file, "read"):
        return _by_name("load", place(file))
    stream = cast("BinaryIO", file)
    if npy.is_archive(stream):
        return Archive(Given({name: asarray(x) for name, x in npy.read_arrays(stream).items()}))
    return asarray(npy.read_array(stream))


# --- text and bytes ---

_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # modules, imported by those who use them


def _by_name(op: str, path: str, device: DeviceLike = None) -> Any:
    """Return the array of an npy file, which is read later, or the `Archive` of an npz file."""
    write = order.pending_write(path)
    if write and write.kind == "npy":
        header = write.headers[""]
        return file_ops.reads(op, header, lambda room: _again(op, path, header, room), write.mark, device)
    if write and write.kind == "npz":
        return Archive(Promised(op, path, write, device))
    if write:
        write.mark.wait()
    file = file_ops.Opened(path)
    with file.stream() as stream:
        if npy.is_archive(stream):
            return Archive(Members(op, file, device))
        header = npy.read_header(stream, file.size, op)
        start = stream.tell()
    return file_ops.reads(op, header, lambda room: file_ops.values(op, file, start, header, room), None, device)


def _again(op: str, path: str, header: Header, room: Room) -> None:
    """Read the file, which has been written by now, with the header that the write announced."""
    file = file_ops.Opened(path)
    with file.stream() as stream:
        file_ops.checked(op, header, npy.read_header(stream, file.size, op))
        start = stream.tell()
    file_ops.values(op, file, start, header, room)


def savetxt(fname: FileLike, X: ArrayLike, *args: Any, wait: bool = True, **kwargs: Any) -> Array:
    """Write an array of one or two axes as text, with NumPy's arguments. Returns the file's size, an array.

    The file is written when the call returns. wait=False: to a file given by its name it is an operation, as `save` is,
    and the call returns at once. ".gz", ".bz2" and ".xz" are compressed.

    Parameters
    ----------
    fname : path or file
        A path, or an open file.
    X : array_like
        An array of one or two axes.
    *args : any
        Arguments of NumPy's function.
    wait : bool, optional
        Whether the call returns only when the file is written.
    **kwargs : any
        Keyword arguments of NumPy's function.

    Returns
    -------
    array
        The size of the file in bytes.

    Raises
    ------
    ValueError
        If the array has another number of axes.

    Examples
    --------
    >>> import io
    >>> from forerun import np
    >>> file = io.StringIO()
    >>> _ = np.savetxt(file, np.array([[1, 2], [3, 4]]), fmt="%d", delimiter=",")
    >>> file.getvalue()
    '1,2\\n3,4\\n'
    """
    x = asarray(X)
    if x.ndim not in (1, 2):
        raise ValueError(f"savetxt: array must have one or two axes, got shape {x.shape}")
    if hasattr(fname, "write"):
        numpy.savetxt(fname, x.numpy(), *args, **kwargs)
        return asarray(numpy.int64(fname.tell() if hasattr(fname, "tell") else 0))
    path = place(fname)
    module = _COMPRESSED.get(os.path.splitext(path)[1])
    opener = importlib.import_module(module).open if module else None

    def write(out: Any, values: numpy.ndarray) -> None:
        with opener(out, "wb") if opener else nullcontext(out) as text:
            numpy.savetxt(text, values, *args, **kwargs)

    return file_ops.save("savetxt", path, "text", {"": x}, [file_ops.header_of(x)], write, wait)


def _from_text(
    read: Callable[..., Any], fname: FileLike, dtype: DTypeLike, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    of_text = dtype is None and read is numpy.genfromtxt
    kind = default_float() if of_text or dtype is float else as_dtype(read.__name__, dtype)
    if isinstance(fname, (str, os.PathLike)):
        order.settled(place(fname))
    found = read(fname, None if of_text else kind, *args, **kwargs)
    if of_text and isinstance(found, numpy.ndarray):
        return asarray(found, kind if found.dtype.kind == "f" else None)
    return [asarray(x) for x in found] if isinstance(found, list) else asarray(found)


def loadtxt(fname: FileLike, dtype: DTypeLike = float, *args: object, **kwargs: Any) -> Any:
    """Read an array from text, with NumPy's arguments. Waits: the shape depends on the text.

    Raises NumPy's errors.

    Parameters
    ----------
    fname : path or file
        A path, or an open file.
    dtype : dtype, optional
        Of numbers; floats are those of creation by default.
    *args : any
        Arguments of NumPy's function.
    **kwargs : any
        Keyword arguments of NumPy's function.

    Returns
    -------
    array
        The array that was read.

    Examples
    --------
    >>> from forerun import np
    >>> np.loadtxt(["1 2", "3 4"])
    array([[1., 2.],
           [3., 4.]])
    """
    return _from_text(numpy.loadtxt, fname, dtype, args, kwargs)


def genfromtxt(fname: FileLike, dtype: DTypeLike = float, *args: object, **kwargs: Any) -> Any:
    """Read an array from text in which values may be missing, with NumPy's arguments. Waits, as `loadtxt` does.

    Parameters
    ----------
    fname : path or file
        A path, or an open file.
    dtype : dtype, optional
        The dtype of the numbers; None: that of the text, which must be one for all columns.
    *args : any
        Arguments of NumPy's function.
    **kwargs : any
        Keyword arguments of NumPy's function.

    Returns
    -------
    array
        The array that was read.

    Raises
    ------
    TypeError
        If columns have text, or several dtypes.

    Examples
    --------
    >>> from forerun import np
    >>> np.genfromtxt(["1,2", "3,"], delimiter=",").tolist()
    [[1.0, 2.0], [3.0, nan]]
    >>> np.genfromtxt(["1 2", "3 4"], dtype=None).dtype
    dtype('int64')
    """
    if dtype is None and _core.numpy_rules():
        raise TypeError("genfromtxt: dtype must not be None, as the text may have columns of several dtypes")
    return _from_text(numpy.genfromtxt, fname, dtype, args, kwargs)


def fromfile(file: FileLike, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0) -> Array:
    """Read an array of one axis from a file of bytes, or of text if there is a separator.

    Bytes of a file given by its name are read by an operation; anything else is read now, and waits. The dtype of
    floats is that of creation by default.

    Parameters
    ----------
    file : path or file
        A path, or an open file.
    dtype : dtype, optional
        The dtype of the numbers.
    count : int, optional
        How many values; -1: all.
    sep : str, optional
        The text between two numbers; empty for a file of bytes.
    offset : int, optional
        Bytes to leave out.

    Returns
    -------
    array
        The numbers that were read.

    Raises
    ------
    ValueError
        For an offset outside of the file.
    TypeError
        For a dtype of no numbers.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = np.array([1, 2, 3], dtype="int16").tofile(f"{folder}/x")
    ...     np.fromfile(f"{folder}/x", "int16").tolist()
    [1, 2, 3]
    """
    given = numpy.dtype(default_float() if dtype is float else dtype)
    as_dtype("fromfile", given.newbyteorder("="))
    if isinstance(file, (str, os.PathLike)):
        order.settled(place(file))
    if sep or not isinstance(file, (str, os.PathLike)):
        return asarray(numpy.fromfile(file, given, count, sep, offset=offset))
    found = file_ops.Opened(place(file))
    if not 0 <= offset <= found.size:
        raise ValueError(f"fromfile: offset must be within the file of {found.size} bytes, got {offset}")
    there = (found.size - offset) // given.itemsize
    header = Header((there if count < 0 else min(count, there),), given, False)
    return file_ops.reads("fromfile", header, partial(file_ops.values, "fromfile", found, offset, header))


def tofile(x: Array, fid: FileLike, sep: str = "", format: str = "%s", *, wait: bool = True) -> Array:
    """Write the values of an array to a file, as bytes in C order, or as text with a separator. `ndarray.tofile`.

    Returns the file's size in bytes, as an array, when the file is written. wait=False: to a file given by its name it
    is an operation, as `save` is, and the call returns at once.

    >>> import tempfile
    >>> from forerun import np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.array([1, 2, 3]).tofile(f"{folder}/x", ",").item()
    5
    """

    def write(out: Any, values: numpy.ndarray) -> None:
        if sep:
            pieces = (format % (v,) for v in values.ravel().tolist())
            out.write(sep.join(pieces).encode())
        else:
            npy.write_values(out, values)

    if hasattr(fid, "write"):
        values, stream = x.numpy(), cast("IO[Any]", fid)
        return file_ops.written_to(stream, lambda out: write(out, values))
    return file_ops.save("tofile", place(fid), "bytes", {"": x}, [file_ops.header_of(x)], write, wait)
