"""Which files are about to be written, so that whoever reads one comes after the write before it.

A file has a mark, an array without a use but that the engine knows who writes it and who reads it: a write of the file
writes its mark, and a read that is issued while a write has not ended reads it. So the engine puts them in order as it
does with arrays, and a read after a write that failed has that failure. Once that was raised, in whatever way, the
program knows, and reads what is there.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy

from ..ops._base import core as _core

__all__ = ["Write", "issuing", "announced", "written", "under_way", "settled", "sweep"]


@dataclass(frozen=True, eq=False)
class Write:
    """The last write of a file that was issued. kind: its format. headers: of each array by its name."""

    path: str
    number: int
    mark: Any
    kind: str
    headers: dict[str, Any]


_marks: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_last: dict[str, Write] = {}  # of each file, unless it has ended well; or badly, and somebody has been told
_numbers = itertools.count()
_swept = 64  # how many there may be before one looks which have ended

# A thread that issues a write holds the first one until it has, for the order in which writes are announced and issued
# to be the same; the second one guards the tables, and no thread waits for anything while it has it.
issuing, _table = threading.RLock(), threading.RLock()


def announced(path: str, kind: str, headers: dict[str, Any]) -> Write:
    """Says that a write of the file will be issued now. To be called with `issuing` held."""
    with _table:
        sweep(_swept)
        mark = _marks.get(path)
        if mark is None:
            mark = _marks[path] = _core.full((), 0, numpy.dtype("uint8"))
        write = _last[path] = Write(path, next(_numbers), mark, kind, headers)
    return write


def written(path: str, number: int) -> None:
    """Says that a write has ended well. By its number: a task that held the mark, and failed, would keep it."""
    with _table:
        if path in _last and _last[path].number == number:
            del _last[path]


def under_way(path: str) -> Write | None:
    """The write that a read of the file must come after, or whose failure it has; None: the file is as it should be."""
    with _table:
        write = _last.get(path)
        if write is not None and _over(write):
            del _last[path]
            return None
    return write


def settled(path: str) -> None:
    """Waits for a write of the file that is under way; raises what it has raised."""
    if write := under_way(path):
        write.mark.wait()


def _over(write: Write) -> bool:
    return write.mark.ready and _core.failure_seen(write.mark) is not False


def sweep(least: int = 0) -> None:
    """Forgets writes that failed, and somebody has been told; if there are so many writes."""
    global _swept
    with _table:
        if len(_last) < least:
            return
        for path in [path for path, write in _last.items() if _over(write)]:
            del _last[path]
        _swept = max(64, 2 * len(_last))


def _after_fork() -> None:
    """A child has none of the threads that may have held these."""
    global issuing, _table
    issuing, _table = threading.RLock(), threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
