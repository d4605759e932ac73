"""Files of records (RecordIO): many byte strings in one file, each found by its number.

A record is the word 0xced7230a, a word of three bits that say which part of a record it is and 29 bits of length, the
bytes, and zeros up to a multiple of four bytes. Bytes that hold the first word are stored in parts, between which it
is left out.
"""

from __future__ import annotations

import os
import struct
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from ..._runtime.system import open_to_read, read_at
from .dataset import Dataset

__all__ = ["Header", "RecordFileDataset", "unpack"]

_MAGIC = struct.pack("<I", 0xCED7230A)
_HEAD = struct.Struct("<4sI")
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_IMAGE = struct.Struct("<IfQQ")


class RecordFileDataset(Dataset):
    """The records of a file, as bytes.

    Parameters
    ----------
    filename : path
        The file. Beside it may be one whose name ends in `.idx`: lines of a key, a tab and a position, whose order is
        that of the records. Otherwise the whole file is looked through first.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file or its index is damaged.

    Examples
    --------
    >>> import struct, tempfile
    >>> from pathlib import Path
    >>> from forerun.gluon import data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "x.rec")
    ...     _ = file.write_bytes(struct.pack("<II4s", 0xCED7230A, 3, b"abc"))
    ...     records = data.RecordFileDataset(file)
    ...     len(records), records[0]
    (1, b'abc')
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self.filename = os.fspath(filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._open()
        if os.path.exists(self.idx_file):
            self._places = [self._place(line) for line in self._lines()]
        else:
            self._places = list(self._scan())

    def _open(self) -> None:
        self._file = open_to_read(self.filename)
        self._size = os.fstat(self._file).st_size
        weakref.finalize(self, os.close, self._file)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_file"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> bytes:
        data, _ = self._record(self._places[index])
        return data

    def _lines(self) -> list[str]:
        try:
            return Path(self.idx_file).read_text("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.idx_file}: index must be text in UTF-8, got {error}") from None

    def _place(self, line: str) -> int:
        try:
            return int(line.split("\t")[1])
        except (IndexError, ValueError):
            raise ValueError(f"{self.idx_file}: lines must be a key, a tab and a position, got {line!r}") from None

    def _scan(self) -> Iterator[int]:
        place = 0
        while place < self._size:
            yield place
            _, place = self._record(place)

    def _record(self, place: int) -> tuple[bytes, int]:
        """Return the record at a place, and where the next one is. Threads and processes may read at once."""
        kind, data, place = self._part(place)
        parts = [data]
        while kind in (_FIRST, _MIDDLE):
            kind, data, place = self._part(place)
            if kind not in (_MIDDLE, _LAST):
                raise self._damaged(place)
            parts.append(data)
        return _MAGIC.join(parts), place

    def _part(self, place: int) -> tuple[int, bytes, int]:
        head = read_at(self._file, _HEAD.size, place) if 0 <= place < self._size else b""
        magic, word = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0)
        start, length = place + _HEAD.size, word & 0x1FFFFFFF
        if magic != _MAGIC or word >> 29 > _LAST or start + length > self._size:
            raise self._damaged(place)
        return word >> 29, read_at(self._file, length, start), start + (length + 3) // 4 * 4

    def _damaged(self, place: int) -> ValueError:
        return ValueError(f"{self.filename}: must hold a record at byte {place} of {self._size}, got something else")


class Header(NamedTuple):
    """The header before an image in a record: flag, label (a number, or an array of `flag` floats), two numbers."""

    flag: int
    label: Any
    id: int
    id2: int


def unpack(record: bytes) -> tuple[Header, bytes]:
    """Return the header and the bytes of a labelled image. ValueError if the record is too short.

    >>> unpack(struct.pack("<IfQQ", 0, 3.0, 7, 0) + b"image")
    (Header(flag=0, label=3.0, id=7, id2=0), b'image')
    """
    if len(record) < _IMAGE.size:
        raise ValueError(f"unpack: record must have a header of {_IMAGE.size} bytes, got {len(record)}")
    header, rest = Header(*_IMAGE.unpack_from(record)), record[_IMAGE.size :]
    if header.flag == 0:
        return header, rest
    if len(rest) < 4 * header.flag:
        raise ValueError(f"unpack: record must have {header.flag} labels, got {len(rest)} bytes")
    return header._replace(label=numpy.frombuffer(rest, "<f4", header.flag)), rest[4 * header.flag :]
