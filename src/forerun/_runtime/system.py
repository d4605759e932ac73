"""Where systems differ: counterparts of calls of Linux and macOS that Windows does not have."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import IO, Any

__all__ = [
    "allowed_cores",
    "at_fork",
    "lock_file",
    "machine_memory",
    "most_open_files",
    "open_to_read",
    "read_at",
    "read_into",
]

_position = threading.Lock()  # held while the position of a descriptor is used


def at_fork(**hooks: Callable[[], Any]) -> None:
    """Register functions as `os.register_at_fork`. Windows has no fork: they are never called there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)


def allowed_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_memory() -> int | None:
    """Return bytes of memory of the machine; None: the system does not report it to Python."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None


def most_open_files() -> int:
    """Return how many files this process may hold open."""
    try:
        import resource
    except ImportError:
        return 8192  # of Windows' C library
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def lock_file(file: IO[bytes]) -> None:
    """Wait until no other process has locked the file, and lock it until it is closed."""
    try:
        import fcntl
    except ImportError:
        _lock_byte(file)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def _lock_byte(file: IO[bytes]) -> None:
    import msvcrt

    while True:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        except OSError:  # it has waited for ten seconds
            continue
        return


def open_to_read(path: str | os.PathLike[str]) -> int:
    """Return a descriptor of a file, to read its bytes as they are."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # Windows may change ends of lines


def read_at(descriptor: int, size: int, at: int) -> bytes:
    """Return at most so many bytes from a place of a file, which other threads may read as well."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, at)
    with _position:
        os.lseek(descriptor, at, os.SEEK_SET)
        return os.read(descriptor, size)


def read_into(descriptor: int, room: Any, at: int) -> int:
    """Read bytes from a place of a file into memory; return how many. Other threads may read the file as well."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [room], at)
    data = read_at(descriptor, len(room), at)
    memoryview(room)[: len(data)] = data
    return len(data)
