"""MXNet's own files of arrays (".params"): read with distrust, without the engine.

A file has: a mark of eight bytes; eight reserved bytes; the number of arrays; the arrays; the number of names (that of
the arrays, or 0); the names. An array says in which of four layouts it is, its extents, its place, its dtype; the
values follow. There are no offsets: each item directly follows the previous one.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy

from ..ops._base import core as _core
from .npy import Header

__all__ = ["MAGIC", "TensorEntry", "read_contents"]

MAGIC = (0x112).to_bytes(8, "little")
_DTYPES = ("f4", "f8", "f2", "u1", "i4", "i1", "i8", "?", "i2", "u2", "u4", "u8")  # by number; 12: bfloat16
_BFLOAT16 = 12
_SECOND, _THIRD, _NUMPY = 0xF993FAC8, 0xF993FAC9, 0xF993FACA  # the first layout begins with the number of axes
_PARTS = {0: 0, 1: 1, 2: 2}  # further arrays of a storage type: dense, row_sparse, csr
_LEAST = 20  # bytes that an array takes
_AXES = 64


@dataclass(frozen=True)
class TensorEntry:
    """An array, and where its values begin in the file. sparse: its storage type, if it is not a dense one."""

    header: Header
    start: int
    sparse: str = ""


class _Bytes:
    """The unread bytes of a file; reading beyond its end is an error."""

    def __init__(self, file: BinaryIO, size: int, op: str) -> None:
        self.file, self.size, self.op, self.at = file, size, op, 0
        self.what = "the file's head"

    def refused(self, text: str) -> ValueError:
        return ValueError(f"{self.op}: {self.what} must {text}")

    def need(self, n: int) -> None:
        if n > self.size - self.at:
            raise self.refused(f"have {n} bytes behind byte {self.at}, got {self.size - self.at}"[:300])

    def take(self, form: str) -> tuple[Any, ...]:
        n = struct.calcsize(form)
        return struct.unpack(form, self.bytes(n))

    def bytes(self, n: int) -> bytes:
        self.need(n)
        found = self.file.read(n)
        self.at += len(found)
        if len(found) != n:
            raise self.refused(f"have {n} bytes more, got {len(found)}")
        return found

    def skip(self, n: int) -> None:
        self.need(n)
        self.file.seek(n, 1)
        self.at += n

    def count(self, each: int) -> int:
        """Return a number of things that take at least so many bytes each."""
        (n,) = self.take("<Q")
        if n * each > self.size - self.at:
            raise self.refused(f"count items within {self.size - self.at} bytes, got {n}")
        return int(n)


def read_contents(file: BinaryIO, size: int, op: str) -> dict[str, TensorEntry] | list[TensorEntry]:
    """Return where the arrays of a file of so many bytes are: by their names, or in order if they have no names.

    ValueError if it is in another format, or its contents are impossible; ImportError for bfloat16 without ml_dtypes.
    """
    data = _Bytes(file, size, op)
    if data.bytes(8) != MAGIC:
        raise data.refused("be that of MXNet's format, got another")
    data.skip(8)
    places = []
    for i in range(n := data.count(_LEAST)):
        data.what = f"array {i + 1} of {n}"
        places.append(_place(data))
    data.what = "the names"
    names = [_name(data) for _ in range(data.count(8))]
    if data.at != size:
        raise data.refused(f"end the file of {size} bytes, got {data.at}")
    if not names:
        return places
    if len(names) != n or len(set(names)) != n:
        raise data.refused(f"be one for each of {n} arrays, got {len(set(names))} in {len(names)}")
    return dict(zip(names, places))


def _name(data: _Bytes) -> str:
    raw = data.bytes(data.count(1))
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise data.refused(f"be in UTF-8, got {raw[:50]!r}") from None


def _place(data: _Bytes) -> TensorEntry:
    (mark,) = data.take("<I")
    parts = 0
    if mark in (_THIRD, _NUMPY):
        (kind,) = data.take("<i")
        if kind not in _PARTS:
            raise data.refused(f"have a storage type from 0 to 2, got {kind}")
        parts = _PARTS[kind]
        stored = _shape(data) if parts else ()
        shape = _shape(data)
    elif mark == _SECOND:
        shape = _shape(data)
    else:
        shape = _extents(data, mark, "I")
    if not shape and mark != _NUMPY:
        raise data.refused("have values, got none")
    data.skip(8)  # the device
    header = Header(shape, _dtype(data), False)
    if parts:
        return _sparse(data, header, stored, parts)
    start = data.at
    data.skip(header.nbytes)
    return TensorEntry(header, start)


def _sparse(data: _Bytes, header: Header, stored: tuple[int, ...], parts: int) -> TensorEntry:
    """Return the place of a sparse array, which is not read; the arrays behind it need its size."""
    further = []
    for _ in range(parts):
        dtype = _dtype(data)
        further.append(Header(_shape(data), dtype, False))
    start = data.at
    data.skip(Header(stored, header.dtype, False).nbytes + sum(h.nbytes for h in further))
    return TensorEntry(header, start, "row_sparse" if parts == 1 else "csr")


def _dtype(data: _Bytes) -> numpy.dtype[Any]:
    (number,) = data.take("<i")
    if number == _BFLOAT16:
        return numpy.dtype(_core.bfloat16())
    if not 0 <= number < len(_DTYPES):
        raise data.refused(f"have a dtype numbered 0 to {_BFLOAT16}, got {number}")
    return numpy.dtype(_DTYPES[number])


def _shape(data: _Bytes) -> tuple[int, ...]:
    return _extents(data, data.take("<i")[0], "q")


def _extents(data: _Bytes, axes: int, form: str) -> tuple[int, ...]:
    if not 0 <= axes <= _AXES:
        raise data.refused(f"have 0 to {_AXES} axes, got {axes}")
    shape = data.take(f"<{axes}{form}")
    if min(shape, default=0) < 0 or math.prod(n for n in shape if n) > 1 << 59:
        raise data.refused(f"have extents that an array can have, got {shape}"[:200])
    return shape
