"""NumPy's formats, npy and npz: read with distrust, written in pieces. It knows NumPy arrays alone.

Files are not trusted: pickles are refused, a header is parsed as text, and memory is taken only for as many bytes as
the file can hold.
"""

from __future__ import annotations

import errno
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy
from numpy.lib import format as npy

from . import direct_io as direct

if TYPE_CHECKING:
    import zipfile  # with its compressors: for those who use archives

__all__ = [
    "Header", "Room", "read_header", "read_array", "read_arrays", "members", "opened_member", "is_archive", "filled",
    "header_of", "write_array", "write_arrays", "write_values", "reading_archive", "PIECE",
]  # fmt: skip

PIECE = 4 << 20  # bytes that are read or written at once, without the interpreter lock
_DEFLATE = 1032  # no member of an archive becomes more than so many times larger; and a few bytes
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

Room = Any  # memory to be filled: a memoryview of bytes


@dataclass(frozen=True)
class Header:
    """The header of an npy file: shape, dtype as in the file, and whether the array is in Fortran's order."""

    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    fortran: bool

    @property
    def native(self) -> numpy.dtype[Any]:
        """The dtype in this machine's byte order."""
        return self.dtype.newbyteorder("=")

    @property
    def laid_out(self) -> tuple[int, ...]:
        """The shape whose C order is the order of the values in the file."""
        return self.shape[::-1] if self.fortran else self.shape

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return math.prod(self.shape) * self.dtype.itemsize


# --- reading ---


def is_archive(file: BinaryIO) -> bool:
    """Return whether the file is an npz file from its position on."""
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    return magic in (b"PK\x03\x04", b"PK\x05\x06")


def read_array(file: BinaryIO, op: str = "load") -> numpy.ndarray:
    """Return the array of an npy file.

    ValueError if it is not an npy file, holds Python objects, or has fewer values than its header says.
    """
    start = file.tell()
    file.seek(0, os.SEEK_END)
    size = file.tell() - start
    file.seek(start)
    return _read(file, size, op)


def read_arrays(file: BinaryIO, op: str = "load") -> dict[str, numpy.ndarray]:
    """Return the arrays of an npz file by their names.

    ValueError for another file or a member that is not an npy file.
    """
    import zipfile

    with reading_archive(op), zipfile.ZipFile(file) as archive:
        return {name: _member(archive, m, op) for name, m in members(archive, op).items()}


@contextmanager
def reading_archive(op: str) -> Iterator[None]:
    """Raise a ValueError for every defect of an archive, in place of zipfile's several errors."""
    import zipfile
    import zlib

    try:
        yield
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


def members(archive: zipfile.ZipFile, op: str = "load") -> dict[str, zipfile.ZipInfo]:
    """Return the members of an npz file by the names of their arrays. ValueError for one that claims too much."""
    found = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
    for m in found.values():
        if m.file_size > m.compress_size * _DEFLATE + 64:
            text = f"{m.filename} must be as large as its archive says, got {m.file_size} bytes"
            raise ValueError(f"{op}: {text}")
    return found


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, op: str) -> numpy.ndarray:
    with archive.open(member) as file:
        return _read(cast("BinaryIO", file), member.file_size, op)


@contextmanager
def opened_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, op: str = "load"
) -> Iterator[tuple[BinaryIO, Header]]:
    """A member at its first value, and its header."""
    with reading_archive(op), archive.open(member) as file:
        stream = cast("BinaryIO", file)
        yield stream, read_header(stream, member.file_size, op)


def _read(file: BinaryIO, size: int, op: str) -> numpy.ndarray:
    header = read_header(file, size, op)
    flat = numpy.empty(math.prod(header.shape), header.native)
    filled(flat.view("u1").data, file, header, op)
    x = flat.reshape(header.laid_out)
    return x.T if header.fortran else x


def filled(room: Room, file: BinaryIO, header: Header, op: str) -> None:
    """Read the values of an npy file into memory. ValueError if there are fewer than its header says."""
    done, size, raw = 0, header.nbytes, cast("io.RawIOBase", file)
    while done < size:
        with room[done : done + PIECE] as piece:
            got = raw.readinto(piece)
        if not got:
            raise ValueError(f"{op}: file must have {size} bytes of values, got {done}")
        done += got
    swapped(room, header.dtype)


def swapped(room: Room, dtype: numpy.dtype[Any]) -> None:
    """Bring values in a foreign byte order into this machine's, in place; and bools to bytes of 0 and 1."""
    if dtype.kind == "b":
        with room[:] as bytes_:
            values = numpy.frombuffer(bytes_, "u1")
            numpy.not_equal(values, 0, out=values.view(bool))
            del values  # which holds the memory
    if dtype.isnative:
        return
    for start in range(0, len(room), PIECE):
        with room[start : start + PIECE] as piece:
            numpy.frombuffer(piece, dtype).byteswap(inplace=True)


def possible(shape: Sequence[int], itemsize: int) -> bool:
    """Return whether there can be arrays of that shape: without its zeros it would have at most 2**63 - 1 bytes.

    >>> possible((0, 1 << 62), 1), possible((0, 1 << 62), 2)
    (True, False)
    """
    return math.prod(n for n in shape if n) * itemsize < 1 << 63


def read_header(file: BinaryIO, size: int, op: str = "load") -> Header:
    """Read the header of an npy file of `size` bytes, up to its first value.

    ValueError if it is not an npy file, or its header does not fit the file.
    """
    head = io.BytesIO(file.read(min(size, 12)))
    try:
        version = npy.read_magic(head)
        width = 2 if version == (1, 0) else 4
        length = int.from_bytes(head.read(width), "little")
        if version not in _HEADERS or length > 10_000 or 8 + width + length > size:
            raise ValueError(f"version {version}, header of {length} bytes")
        whole = io.BytesIO(head.getvalue()[8:] + file.read(8 + width + length - head.getbuffer().nbytes))
        shape, fortran, dtype = _HEADERS[version](whole)
    except Exception as error:  # NumPy raises many kinds for invalid headers
        raise ValueError(f"{op}: file must be in NumPy's npy format, got {str(error)[:200]}") from None
    if dtype.hasobject or dtype.kind not in "biufc":
        raise ValueError(f"{op}: file must hold numbers, got dtype {dtype}")
    if any(type(n) is not int or n < 0 for n in shape) or len(shape) > 64:
        raise ValueError(f"{op}: extents must not be negative, got {shape}")
    if not possible(shape, dtype.itemsize):
        raise ValueError(f"{op}: array must fit into memory, got {shape}")
    header, left = Header(shape, dtype, fortran), size - 8 - width - length
    if header.nbytes > left:
        text = f"{header.nbytes} bytes for shape {shape} with {left} there"
        raise ValueError(f"{op}: header must agree with the file, got {text}")
    return header


# --- writing ---


def header_of(shape: Sequence[int], strides: Sequence[int], dtype: numpy.dtype[Any]) -> Header:
    """Return the header of an array that lies in memory in this way, as NumPy would write it. TypeError for bfloat16.

    >>> header_of((2, 3), (4, 8), numpy.dtype("f4")).fortran
    True
    """
    if dtype.kind == "V":
        raise TypeError(f"save: dtype must be supported by NumPy's format, got {dtype}")
    return Header(tuple(shape), dtype, _dense(shape[::-1], strides[::-1], dtype) > _dense(shape, strides, dtype))


def _dense(shape: Sequence[int], strides: Sequence[int], dtype: numpy.dtype[Any]) -> bool:
    step = dtype.itemsize
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n == 0:
            return True
        if n > 1 and stride != step:
            return False
        step *= n
    return True


def write_array(file: BinaryIO, x: numpy.ndarray, header: Header | None = None, at: int | None = None) -> None:
    """Write an array as an npy file.

    at: where in the file that is; large values begin with a block of it then, which NumPy's readers do not mind.
    """
    header = header or header_of(x.shape, x.strides, x.dtype)
    descr = npy.dtype_to_descr(header.dtype)
    fields = {"descr": descr, "fortran_order": header.fortran, "shape": header.shape}
    begin = io.BytesIO()
    npy.write_array_header_1_0(begin, fields)
    padded = at is not None and header.nbytes >= direct.LEAST
    file.write(_padded(begin.getvalue(), at or 0) if padded else begin.getvalue())
    write_values(file, x.T if header.fortran else x)


def _padded(begin: bytes, at: int) -> bytes:
    """Return the beginning of an npy file at a place of a file, with spaces up to the end of a block."""
    spaces = -(at + len(begin)) % direct.BLOCK
    length = (len(begin) - 10 + spaces).to_bytes(2, "little")
    return begin[:8] + length + begin[10:-1] + b" " * spaces + begin[-1:]


def write_values(file: BinaryIO, x: numpy.ndarray) -> None:
    """Write the values in C order, piece by piece: no copy of all of them is made."""
    if x.flags.c_contiguous:
        flat = x.reshape(-1).view("u1")
        for start in range(0, flat.size, PIECE):
            file.write(flat[start : start + PIECE].data)
        return
    pieces = numpy.nditer(
        x, flags=["external_loop", "buffered", "zerosize_ok"], buffersize=PIECE // x.itemsize, order="C"
    )
    for piece in pieces:
        file.write(numpy.ascontiguousarray(piece).view("u1").data)


def write_arrays(
    file: BinaryIO,
    arrays: Mapping[str, numpy.ndarray],
    headers: Sequence[Header] | None = None,
    compressed: bool = False,
) -> None:
    """Write arrays by their names as an npz file."""
    import zipfile

    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method, allowZip64=True) as archive:
        for i, (name, x) in enumerate(arrays.items()):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                at = None if compressed else archive.fp.tell()  # type: ignore[union-attr]
                write_array(cast("BinaryIO", member), x, headers[i] if headers else None, at)
