"""Writing large values without a copy of them in the system's memory for files (O_DIRECT), where that is possible.

It is possible where the file system takes it, from memory and to a place of the file that begin with a block.
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

__all__ = ["BLOCK", "LEAST", "Direct"]

BLOCK = 4096  # bytes; devices that want 512 take it too
LEAST = 1 << 20  # bytes that are worth it; arrays of so many begin with a block in memory (core/memory/cache.cpp)
_REFUSED = (errno.EINVAL, errno.EOPNOTSUPP)  # by the file system, or by a device of larger blocks


class Direct(io.FileIO):
    """A file that is written by one thread. Behind a buffer, so that what is small comes in pieces of some size."""

    _possible = True

    def write(self, data: Any) -> int:
        """Writes some of the bytes, from the first on; returns how many."""
        whole = memoryview(data).nbytes // BLOCK * BLOCK
        if self._possible and whole >= LEAST and not (self.tell() % BLOCK or _address(data) % BLOCK):
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


def _address(data: Any) -> int:
    return numpy.frombuffer(data, "u1").__array_interface__["data"][0]
