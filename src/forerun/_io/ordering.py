"""Order reads and writes of a file.

Each file has a mark, an array that only serves the engine to find dependencies: a write of the file writes the mark,
and a read that is issued before the write has ended reads it. So the engine orders them as it does with arrays, and a
read after a failed write fails with its error. After that error has been raised once, reads get the contents of the
file.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy

from .._runtime.system import at_fork
from ..ops._base import core as _core

__all__ = ["Write", "issuing", "announced", "written", "pending_write", "settled", "sweep"]


@dataclass(frozen=True, eq=False)
class Write:
    """The last write of a file that was issued. kind: its format. headers: of each array by its name."""

    path: str
    number: int
    mark: Any
    kind: str
    headers: dict[str, Any]


_marks: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_last: dict[str, Write] = {}  # of each file, unless it has succeeded, or has failed and the error was raised
_numbers = itertools.count()
_swept = 64  # number of writes after which finished ones are removed

# A thread that issues a write holds the first one until it has, for the order in which writes are announced and issued
# to be the same; the second one guards the tables, and no thread waits for anything while it has it.
issuing, _table = threading.RLock(), threading.RLock()


def announced(path: str, kind: str, headers: dict[str, Any]) -> Write:
    """Announce that a write of the file will be issued now. Call it with `issuing` held."""
    with _table:
        sweep(_swept)
        mark = _marks.get(path)
        if mark is None:
            mark = _marks[path] = _core.full((), 0, numpy.dtype("uint8"))
        write = _last[path] = Write(path, next(_numbers), mark, kind, headers)
    return write


def written(path: str, number: int) -> None:
    """Note that a write has succeeded. It is known by its number: a failed task that held the mark would keep it."""
    with _table:
        if path in _last and _last[path].number == number:
            del _last[path]


def pending_write(path: str) -> Write | None:
    """The write that a read of the file must come after, or whose failure it has; None: the file is as it should be."""
    with _table:
        write = _last.get(path)
        if write is not None and _over(write):
            del _last[path]
            return None
    return write


def settled(path: str) -> None:
    """Wait for a pending write of the file; raise its error."""
    if write := pending_write(path):
        write.mark.wait()


def _over(write: Write) -> bool:
    return write.mark.ready and _core.failure_seen(write.mark) is not False


def sweep(least: int = 0) -> None:
    """Forget failed writes with an error that has been raised, if there are so many writes."""
    global _swept
    with _table:
        if len(_last) < least:
            return
        for path in [path for path, write in _last.items() if _over(write)]:
            del _last[path]
        _swept = max(64, 2 * len(_last))


def _after_fork() -> None:
    """Reset the locks: the threads that may have held them do not exist in a child."""
    global issuing, _table
    issuing, _table = threading.RLock(), threading.RLock()


at_fork(after_in_child=_after_fork)
