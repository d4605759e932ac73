"""Reads and writes of files as operations, on the queue for files of a device."""

from __future__ import annotations

import errno
import os
import stat
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from traceback import clear_frames
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import numpy

from .._runtime.device import resolve
from .._runtime.system import most_open_files, open_to_read
from ..ops._base import core as _core
from ..ops._base.convert import asarray
from . import npy
from . import ordering as order
from .atomic_write import place, replacing
from .direct_io import Reading
from .npy import Header, Room

if TYPE_CHECKING:
    from ..typing import Array, DeviceLike, FileLike

__all__ = ["save", "written_to", "Opened", "reads", "header_of", "opened", "save_arrays"]

PIECE = 16 << 20  # bytes that are read at once: between two pieces a thread may have to wait for a core


# --- writing ---


def header_of(x: Array) -> Header:
    """Return how NumPy's format describes an array."""
    return npy.header_of(x.shape, x.strides, x.dtype)


def save(
    op: str,
    path: str,
    kind: str,
    arrays: Mapping[str, Any],
    headers: Sequence[Header],
    write: Callable[..., Any],
    wait: bool = True,
) -> Array:
    """Issue `write(out, *values)`, the write of a file. Return the size of the file, an array.

    Reads and writes of the same file that are issued later come after it. wait: the call returns when the file is
    written, and raises the error of the write or of the computation of the values. Otherwise it waits for nothing, and
    reads of the size raise that. A guard that objects to the wait does so before anything is issued.
    """
    _core.capture_refuse("it writes a file")
    with _core.Waiting(op) if wait else nullcontext():
        with order.issuing:
            announced = order.announced(path, kind, dict(zip(arrays, headers)))
            number, mark = announced.number, announced.mark

            file, scalar = _Replacing(path, write), ((), numpy.dtype("int64"))

            def ended(size: Any) -> tuple[int, int]:
                size = int(size)
                file.end()
                order.written(path, number)
                return size, 0

            device = next((x.device for x in arrays.values()), None)
            (size,) = _core.host(file.values, list(arrays.values()), [scalar], device, op, "io", True)
            size, _ = _core.host(ended, [size], [scalar, mark], device, f"{op}, to the disk", "io", True)
        if wait:
            _core.wait_until_written(size)
    return size


def _cleared(error: BaseException | None) -> None:
    """Clear the frames of an error and of its causes: the error may be kept for longer than their local variables."""
    known: list[BaseException] = []
    while error is not None and error not in known:
        known.append(error)
        clear_frames(error.__traceback__)
        error = error.__context__


class _Replacing:
    """A file that is written by two ops: the second waits for the disk, which does not need the values any more."""

    def __init__(self, path: str, write: Callable[..., Any]) -> None:
        self._path, self._write, self._rest = path, write, ExitStack()

    def values(self, *values: numpy.ndarray) -> int:
        """Write them; return the file's size."""
        try:
            with ExitStack() as rest:
                out = rest.enter_context(replacing(self._path))
                self._write(out, *values)
                size = out.tell() if out.seekable() else sum(v.nbytes for v in values)
                self._rest = rest.pop_all()
        except BaseException as error:
            _cleared(error)
            values = ()
            raise
        return size

    def end(self) -> None:
        """Flush the file to the disk, and give it its name."""
        try:
            self._rest.close()
        except BaseException as error:
            _cleared(error)
            raise


def save_arrays(
    op: str,
    file: FileLike,
    arrays: Mapping[str, Any],
    suffix: str = "",
    compressed: bool = False,
    wait: bool = True,
) -> Array:
    """Write arrays by name as an npz file, named or open; the latter always waits. Returns its size, an array."""
    known = {name: asarray(x) for name, x in arrays.items()}
    headers = [header_of(x) for x in known.values()]
    if hasattr(file, "write"):
        values = dict(zip(known, (x.numpy() for x in known.values())))
        return written_to(cast("IO[Any]", file), lambda out: npy.write_arrays(out, values, headers, compressed))

    def write(out: BinaryIO, *values: numpy.ndarray) -> None:
        npy.write_arrays(out, dict(zip(known_names, values)), headers, compressed)

    known_names = list(known)
    return save(op, place(file, suffix), "npz", known, headers, write, wait)


class _Counted:
    """An open file that counts the bytes written to it."""

    def __init__(self, file: IO[Any]) -> None:
        self.file, self.count = file, 0

    def write(self, data: Any) -> int:
        self.file.write(data)
        n = memoryview(data).nbytes
        self.count += n
        return n

    def flush(self) -> None:
        if hasattr(self.file, "flush"):
            self.file.flush()

    def tell(self) -> int:
        return self.count


def written_to(file: IO[Any], write: Callable[[Any], Any]) -> Array:
    """Write to an open file, now. Returns how many bytes, an array."""
    out = _Counted(file)
    write(out)
    return asarray(numpy.int64(out.count))


# --- reading ---


class Opened:
    """A file that any thread may read at any position; it is closed with the last reference."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.descriptor = open_to_read(path)
        if stat.S_ISDIR(os.fstat(self.descriptor).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.size = os.fstat(self.descriptor).st_size

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self.descriptor)

    def stream(self) -> BinaryIO:
        """Return a file object at the beginning, for as long as this one lives. For one thread."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        return open(self.descriptor, "rb", closefd=False)

    def fill(self, room: Room, start: int, op: str) -> None:
        """Read bytes from a place of the file. ValueError if it ends before."""
        done, size = 0, len(room)
        with Reading(self.descriptor) as file:
            while done < size:
                with room[done : done + PIECE] as piece:
                    got = file.read(piece, start + done)
                if not got:
                    raise ValueError(f"{op}: {self.path} must have {size} bytes of values, got {done}")
                done += got


_most = max(8, most_open_files() // 4)  # files that reads may hold open
_open: deque[weakref.ref[Any]] = deque()  # the files with reads
_tidying = threading.Lock()


def _bounded(x: Array) -> None:
    """Wait for the oldest read while very many have not ended: each holds its file open."""
    _open.append(weakref.ref(x))
    while len(_open) > _most:
        with suppress(IndexError):
            oldest = _open.popleft()()
            if oldest is not None and not oldest.ready:
                with suppress(Exception):  # it is raised where its values are read
                    oldest.wait()


def reads(
    op: str, header: Header, fill: Callable[..., Any], after: Array | None = None, device: DeviceLike = None
) -> Array:
    """Submit the read of an array. `fill` gets the memory for its values, in the order of the file.

    after: the mark of a file that must have been written before, and not again before the read has ended.
    """
    _core.capture_refuse("it reads a file")
    inputs = [] if after is None else [after]
    task = fill if after is None else lambda _, room, after=after: fill(room)  # and keeps the mark
    (x,) = _core.host(task, inputs, [(header.laid_out, header.native)], resolve(device), op, "io", True, True)
    _bounded(x)
    return x.transpose() if header.fortran else x


@contextmanager
def opened(file: Any) -> Iterator[BinaryIO]:
    """A file to read now, given by its name or open already; a write of it that was issued has ended.

    OSError if no file has that name, or the write has failed.
    """
    if hasattr(file, "read"):
        yield file
        return
    order.settled(place(file))
    with open(os.fspath(file), "rb") as found:
        yield found


def values(op: str, file: Opened, start: int, header: Header, room: Room) -> None:
    file.fill(room, start, op)
    npy.swapped(room, header.dtype)


def checked(op: str, expected: Header, found: Header) -> None:
    """Raise ValueError if another program has put another array there meanwhile."""
    if found != expected:
        text = f"{found.dtype} of {found.shape} in place of {expected.dtype} of {expected.shape}"
        raise ValueError(f"{op}: file must hold the array that was saved, got {text}")
