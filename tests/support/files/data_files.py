"""Contents of files of data sets."""

from __future__ import annotations

import struct

import numpy

MAGIC = struct.pack("<I", 0xCED7230A)  # begins each part of a record


def record_part(content: bytes, kind: int = 0) -> bytes:
    """A part of a record of MXNet's RecordIO.

    kind: 0 for all of a record, 1 for its first part, 2 for one between, 3 for its last.
    """
    return MAGIC + struct.pack("<I", kind << 29 | len(content)) + content + bytes(-len(content) % 4)


def idx_file(values: numpy.ndarray) -> bytes:
    """Bytes in the IDX format, as MNIST's files have them."""
    return numpy.array([0x800 + values.ndim, *values.shape], ">u4").tobytes() + values.astype("u1").tobytes()
