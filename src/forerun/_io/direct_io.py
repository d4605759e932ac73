"""Large values from and to the disk without a copy of them in the system's memory for files (O_DIRECT).

That is possible where the file system takes it, between memory and a place of the file that begin with a block.
Everything else goes the ordinary way.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import io
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from .._runtime import core as _core
from .._runtime.settings import config
from .._runtime.system import read_into

__all__ = ["BLOCK", "LEAST", "Direct", "Reading"]

BLOCK = 4096  # bytes; devices that want 512 take it too
LEAST = 1 << 20  # bytes that are worth it; arrays of so many begin with a block in memory (caching_allocator.cpp)
_REFUSED = (errno.EINVAL, errno.EOPNOTSUPP)  # by the file system, or by a device of larger blocks
_DIRECT = getattr(os, "O_DIRECT", 0)  # of Linux


def _whole(data: Any, at: int) -> int:
    """Return how many bytes can go between memory and a place of a file without a copy; 0: none, or too few."""
    size = memoryview(data).nbytes // BLOCK * BLOCK
    if size < LEAST or at % BLOCK:
        return 0
    return 0 if _address(data) % BLOCK else size


def _address(data: Any) -> int:
    return int(numpy.frombuffer(data, "u1").__array_interface__["data"][0])


class Direct(io.FileIO):
    """A file that is written by one thread. Behind a buffer, so that small writes arrive in larger pieces."""

    _possible = _DIRECT != 0

    def write(self, data: Any) -> int:
        """Write some of the bytes, from the first on; return how many."""
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
    import fcntl

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | _DIRECT)
    try:
        yield
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)


@functools.cache
def _mincore() -> Any:
    function = ctypes.PyDLL(None).mincore  # with the interpreter lock: its calls take microseconds
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    return function


def _remembered(descriptor: int, at: int, size: int) -> bool:
    """Return whether the system has most of some bytes of a file in its memory, or does not tell.

    It maps the file without touching its pages: a read that must not wait (RWF_NOWAIT) would load pages into the cache.
    """
    pages = numpy.zeros(-(-size // mmap.PAGESIZE), "u1")
    try:
        with mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ, offset=at) as bytes_:
            failed = _mincore()(_address(bytes_), size, _address(pages))
    except (OSError, ValueError):  # a file that cannot be mapped, or has become shorter
        return True
    return bool(failed or 2 * numpy.count_nonzero(pages & 1) > pages.size)


class Reading:
    """Read from an open file, which other threads may read as well; without a copy if `direct_reads` says so.

    Direct reads bypass the page cache, so a second read of the file is not faster. By default only uncached parts are
    read directly, and only while all cores compute, which makes a copy expensive. A program that waits for its files
    leaves cores idle: it reads in the ordinary way, and the next read finds the file in the cache.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._own: int | None = None  # the same file, to be read without a copy
        self._wanted = config()["direct_reads"]
        self._possible = _DIRECT != 0 and self._wanted is not False

    def read(self, room: Any, at: int) -> int:
        """Read some of the bytes from a place on, into the beginning of `room`; return how many, 0 at the end."""
        if self._possible and (whole := _whole(room, at)) and self._worth(at, whole):
            try:
                with memoryview(room)[:whole] as blocks:
                    return read_into(self._opened(), blocks, at)
            except OSError as error:
                if error.errno not in _REFUSED and self._own is not None:
                    raise
                self._possible = False
        return read_into(self._descriptor, room, at)

    def _worth(self, at: int, size: int) -> bool:
        return bool(self._wanted) or (_core.cores_taken() and not _remembered(self._descriptor, at, size))

    def _opened(self) -> int:
        if self._own is None:
            self._own = os.open(f"/proc/self/fd/{self._descriptor}", os.O_RDONLY | _DIRECT)
        return self._own

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._own is not None:
            os.close(self._own)
