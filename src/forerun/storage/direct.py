"""Large values from and to the disk without a copy of them in the system's memory for files (O_DIRECT).

That is possible where the file system takes it, between memory and a place of the file that begin with a block.
Everything else goes the ordinary way.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from ..config import config

__all__ = ["BLOCK", "LEAST", "Direct", "Reading"]

BLOCK = 4096  # bytes; devices that want 512 take it too
LEAST = 1 << 20  # bytes that are worth it; arrays of so many begin with a block in memory (core/memory/cache.cpp)
_REFUSED = (errno.EINVAL, errno.EOPNOTSUPP)  # by the file system, or by a device of larger blocks


def _whole(data: Any, at: int) -> int:
    """How many bytes can go between memory and a place of a file without a copy; 0: none, or too few."""
    size = memoryview(data).nbytes // BLOCK * BLOCK
    if size < LEAST or at % BLOCK:
        return 0
    return 0 if numpy.frombuffer(data, "u1").__array_interface__["data"][0] % BLOCK else size


class Direct(io.FileIO):
    """A file that is written by one thread. Behind a buffer, so that what is small comes in pieces of some size."""

    _possible = True

    def write(self, data: Any) -> int:
        """Writes some of the bytes, from the first on; returns how many."""
        if self._possible and (whole := _whole(data, self.tell())):
            try:
                with memoryview(data)[:whole] as blocks, _without_copy(self.fileno()):
                    return super().write(blocks)
            except OSError as error:
                if error.errno not in _REFUSED:
                    raise
                self._possible = False
        return super().write(data)


@contextmanager
def _without_copy(descriptor: int) -> Iterator[None]:
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_DIRECT)
    try:
        yield
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)


class Reading:
    """Reads from an open file, which other threads may read as well; without a copy if `direct_reads` says so.

    Not by default: what was read so is not in the system's memory for whoever reads the file again.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._own: int | None = None  # the same file, to be read without a copy
        self._possible = bool(config()["direct_reads"])

    def read(self, room: Any, at: int) -> int:
        """Reads some of the bytes from a place on, into the beginning of `room`; returns how many, 0 at the end."""
        if self._possible and (whole := _whole(room, at)):
            try:
                with memoryview(room)[:whole] as blocks:
                    return os.preadv(self._opened(), [blocks], at)
            except OSError as error:
                if error.errno not in _REFUSED and self._own is not None:
                    raise
                self._possible = False
        return os.preadv(self._descriptor, [room], at)

    def _opened(self) -> int:
        if self._own is None:
            self._own = os.open(f"/proc/self/fd/{self._descriptor}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
        return self._own

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._own is not None:
            os.close(self._own)
