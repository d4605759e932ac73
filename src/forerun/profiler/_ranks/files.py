"""One file for the recordings of all ranks: a mark, their number and lengths, then one behind the other."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path

__all__ = ["gathered", "of_rank", "pack", "unpacked"]

MARK = b"frecrank"
_NUMBER = struct.Struct("<Q")


def of_rank(path: Path, rank: int) -> Path:
    """Return the name of the file of a rank.

    >>> of_rank(Path("build/train.frec"), 3).name
    'train.rank3.frec'
    """
    return path.with_name(f"{path.stem}.rank{rank}{path.suffix}")


def gathered(path: Path, size: int) -> bool:
    """Make one file of those of the ranks; return whether there was one. Files without a byte are left out."""
    files = [file for r in range(size) if (file := of_rank(path, r)).exists() and file.stat().st_size]
    if files:
        pack(path, files)
    return bool(files)


def pack(path: Path, files: Sequence[Path]) -> None:
    """Put the recordings of ranks into one file, in the place of their own."""
    short = path.with_name(f"{path.name}.{os.getpid()}")
    with short.open("wb") as out:
        out.write(MARK + _NUMBER.pack(len(files)) + b"".join(_NUMBER.pack(file.stat().st_size) for file in files))
        for file in files:
            out.write(file.read_bytes())
    short.replace(path)
    for file in files:
        file.unlink()


def unpacked(data: bytes) -> list[bytes]:
    """Return the recordings of a file; that of one process has one. ValueError if it was cut off."""
    if not data.startswith(MARK):
        return [data]
    at = len(MARK)
    head = _NUMBER.size
    if len(data) < at + head or len(data) < at + head * (1 + (count := _NUMBER.unpack_from(data, at)[0])):
        raise ValueError(f"load: file must be a recording of ranks, got only {len(data)} bytes of it")
    lengths = [_NUMBER.unpack_from(data, at + head * (1 + i))[0] for i in range(count)]
    begin = at + head * (1 + count)
    if len(data) < begin + sum(lengths):
        raise ValueError(f"load: file must be a recording of ranks, got {len(data)} of {begin + sum(lengths)} bytes")
    found = []
    for length in lengths:
        found.append(data[begin : begin + length])
        begin += length
    return found
