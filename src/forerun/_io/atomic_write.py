"""Writing a file so that its name stands for the old content until all of the new is on the disk."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from .direct_io import Direct

__all__ = ["replacing", "place"]

_BUFFER = 1 << 16


def place(file: str | os.PathLike[str], suffix: str = "") -> str:
    """Return where a file of that name is, links followed. suffix: added to a name that does not end with it."""
    path = os.fsdecode(os.fspath(file))
    return os.path.realpath(path if path.endswith(suffix) else path + suffix)


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Yield a file to write, which replaces the file `path` when the block ends.

    The values are on the disk before the name changes, and the name is before the block ends. Permissions stay. A pipe
    or a device, which is not a regular file, is written directly. Any error leaves the old file and nothing beside it,
    and names `path`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/x") as out:
    ...         _ = out.write(b"all of it")
    ...     with open(f"{folder}/x", "rb") as found:
    ...         found.read()
    b'all of it'
    """
    try:
        mode = _mode(path)
        if mode is None or stat.S_ISREG(mode):
            with _beside(path, mode) as out:
                yield out
        else:
            with open(path, "wb") as out:
                yield out
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, path) from None


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


@contextmanager
def _beside(path: str, mode: int | None) -> Iterator[BinaryIO]:
    folder, name = os.path.split(path)
    fresh = f".{os.urandom(8).hex()}.tmp"
    if not hasattr(os, "O_DIRECTORY"):  # Windows: folders have no descriptors, and no write to a disk of their own
        with _renamed(os.path.join(folder, fresh), path) as out:
            yield out
        return
    where = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with _made(folder, fresh, where) as out:
            if mode is not None:
                os.fchmod(out.fileno(), stat.S_IMODE(mode))
            yield out
            out.flush()
            os.fsync(out.fileno())
            _named(out, fresh, where)
        os.replace(fresh, name, src_dir_fd=where, dst_dir_fd=where)
        _synchronised(where)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=where)
        raise
    finally:
        os.close(where)


@contextmanager
def _renamed(fresh: str, path: str) -> Iterator[BinaryIO]:
    try:
        with open(fresh, "xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(fresh, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(fresh)
        raise


def _made(folder: str, fresh: str, where: int) -> BinaryIO:
    """Return a new file in a folder: without a name, so that it goes with the process, if the file system has such."""
    try:
        without_name = getattr(os, "O_TMPFILE", None)  # of Linux
        descriptor = os.open(folder, without_name | os.O_RDWR, 0o666) if without_name else _created(fresh, where)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            raise
        descriptor = _created(fresh, where)
    return io.BufferedWriter(Direct(descriptor, "wb"), _BUFFER)


def _created(fresh: str, where: int) -> int:
    """O_EXCL: never through a link that another user has created there."""
    return os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666, dir_fd=where)


def _named(out: BinaryIO, fresh: str, where: int) -> None:
    """Give a name to a file without one."""
    if os.fstat(out.fileno()).st_nlink:
        return
    own = f"/proc/self/fd/{out.fileno()}"
    try:
        os.link(own, fresh, dst_dir_fd=where, follow_symlinks=True)
    except FileExistsError:
        raise
    except OSError:  # no /proc, or none that this works with
        with open(_created(fresh, where), "wb") as copy:
            os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(out.fileno()).st_mode))
            with open(os.dup(out.fileno()), "rb") as source:
                source.seek(0)
                import shutil

                shutil.copyfileobj(source, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())


def _synchronised(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system whose folders cannot be asked for that
            raise
