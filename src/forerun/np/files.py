"""Files of arrays in NumPy's formats, written whole or not at all, and read with distrust.

No file is believed: pickles are refused, a header is parsed as text, and memory is taken only for as many bytes as the
file can hold.
"""

from __future__ import annotations

import errno
import io
import math
import os
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy
from numpy.lib import format as npy

__all__ = ["read_array", "read_arrays", "is_archive", "write_array", "write_arrays", "opened", "replacing"]

_DEFLATE = 1032  # no member of an archive becomes more than so many times larger; and a few bytes
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@contextmanager
def opened(file: Any) -> Iterator[BinaryIO]:
    """A file to read, given by its name or open already. OSError if there is none of that name."""
    if hasattr(file, "read"):
        yield file
        return
    with open(os.fspath(file), "rb") as found:
        yield found


def is_archive(file: BinaryIO) -> bool:
    """Whether what follows is an npz file."""
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    return magic in (b"PK\x03\x04", b"PK\x05\x06")


def read_array(file: BinaryIO, op: str = "load") -> numpy.ndarray:
    """The array of an npy file.

    ValueError if it is none, holds Python objects, or has fewer values than its header says.
    """
    start = file.tell()
    file.seek(0, os.SEEK_END)
    size = file.tell() - start
    file.seek(start)
    return _read(file, size, op)


def read_arrays(file: BinaryIO, op: str = "load") -> dict[str, numpy.ndarray]:
    """The arrays of an npz file by their names. ValueError if it is none, or one of its members is no npy file."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            return {m.filename.removesuffix(".npy"): _member(archive, m, op) for m in members}
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        UnicodeError,
    ) as error:
        raise ValueError(f"{op}: file must be an npz archive, got {error}") from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the file's beginning
            raise
        raise ValueError(f"{op}: file must be an npz archive, got places outside of it") from None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, op: str) -> numpy.ndarray:
    if member.file_size > member.compress_size * _DEFLATE + 64:
        raise ValueError(
            f"{op}: {member.filename} must be as large as its archive says, got {member.file_size} bytes"
        )
    with archive.open(member) as file:
        return _read(file, member.file_size, op)  # type: ignore[arg-type]


def _read(file: BinaryIO, size: int, op: str) -> numpy.ndarray:
    shape, fortran, dtype, left = _header(file, size, op)
    count = math.prod(shape)
    if count * dtype.itemsize > left:
        text = f"{count * dtype.itemsize} bytes for shape {shape} with {left} there"
        raise ValueError(f"{op}: header must say what the file has, got {text}")
    flat = numpy.empty(count, dtype)
    done, into = 0, flat.view("u1")
    while done < into.size:
        got = file.readinto(into[done:])  # type: ignore[attr-defined]
        if not got:
            raise ValueError(f"{op}: file must have {into.size} bytes of values, got {done}")
        done += got
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _header(file: BinaryIO, size: int, op: str) -> tuple[tuple[int, ...], bool, numpy.dtype[Any], int]:
    """Shape, order, dtype, and how many bytes may follow."""
    head = io.BytesIO(file.read(min(size, 12)))
    try:
        version = npy.read_magic(head)
        width = 2 if version == (1, 0) else 4
        length = int.from_bytes(head.read(width), "little")
        if version not in _HEADERS or length > 10_000 or 8 + width + length > size:
            raise ValueError(f"version {version}, header of {length} bytes")
        whole = io.BytesIO(head.getvalue()[8:] + file.read(8 + width + length - head.getbuffer().nbytes))
        shape, fortran, dtype = _HEADERS[version](whole)
    except Exception as error:  # NumPy raises many kinds for what is no header
        raise ValueError(f"{op}: file must be in NumPy's npy format, got {str(error)[:200]}") from None
    if dtype.hasobject or dtype.kind not in "biufc":
        raise ValueError(f"{op}: file must hold numbers, got dtype {dtype}")
    if any(type(n) is not int or n < 0 for n in shape) or len(shape) > 64:
        raise ValueError(f"{op}: extents must not be negative, got {shape}")
    return shape, fortran, dtype, size - 8 - width - length


def write_array(file: BinaryIO, x: numpy.ndarray) -> None:
    """Writes an array as an npy file."""
    npy.write_array(file, x, allow_pickle=False)


def write_arrays(file: BinaryIO, arrays: Mapping[str, numpy.ndarray]) -> None:
    """Writes arrays by their names as an npz file."""
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for name, x in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                write_array(member, x)  # type: ignore[arg-type]


@contextmanager
def replacing(file: Any, suffix: str = "") -> Iterator[BinaryIO]:
    """A file to write, given by its name or open already. What had that name stays as it is until all is written.

    suffix: put behind a name that does not end with it. A new file beside it takes the name at the end; what is no
    regular file (a pipe, a device) is written directly.
    """
    if hasattr(file, "write"):
        yield file
        return
    path = os.fspath(file)
    path = os.path.realpath(path if path.endswith(suffix) else path + suffix)
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as out:
            yield out
        return
    fresh = f"{path}.{secrets.token_hex(8)}.tmp"
    try:
        with open(fresh, "xb") as out:  # "x": never through a link that somebody else has put there
            if mode is not None:
                os.chmod(fresh, stat.S_IMODE(mode))
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(fresh, path)
    except BaseException:
        if os.path.exists(fresh):
            os.unlink(fresh)
        raise
