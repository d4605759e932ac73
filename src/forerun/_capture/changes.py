"""Which blocks and parameters have changed since a program or a trainer last read them.

A program of a block, and a trainer, compute some facts from many blocks and parameters, and keep them from call to
call. They keep them in a `Snapshot`, and each object that was read remembers the snapshots it went into. When the
object changes, these snapshots become stale, and no others: a change in one tree of blocks costs other trees nothing.

>>> class Thing:
...     pass
>>> one, other, snapshot = Thing(), Thing(), Snapshot()
>>> watch(one, snapshot)
>>> note(other); snapshot.stale
False
>>> note(one); snapshot.stale
True
"""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

__all__ = ["Snapshot", "note", "stale", "watch"]

S = TypeVar("S", bound="Snapshot")

_KEY = "(snapshots)"  # in the dictionary of an object: no attribute has this name, and no change is noted


class Snapshot:
    """Facts about objects, which are out of date as soon as one of the objects has changed.

    A reader calls `watch` for an object before it reads it: then no change is lost, whichever thread makes it.
    """

    stale = False

    def __reduce__(self) -> Any:
        return stale, (type(self),)  # of a copy, the objects know nothing


def stale(kind: type[S]) -> S:
    """Return a snapshot that is out of date from the beginning."""
    snapshot = kind()
    snapshot.stale = True
    return snapshot


class _Readers:
    """The snapshots that an object went into, without keeping them alive.

    Every step on the dictionary is one call of C, so threads need no lock.
    """

    __slots__ = ("snapshots",)

    def __init__(self) -> None:
        self.snapshots: dict[weakref.ref[Snapshot], None] = {}

    def __reduce__(self) -> Any:
        return _Readers, ()  # a copy has no readers


def watch(thing: object, snapshot: Snapshot) -> None:
    """Make a snapshot stale at the next change of an object."""
    readers: _Readers = thing.__dict__.setdefault(_KEY, _Readers())
    readers.snapshots.setdefault(weakref.ref(snapshot, readers.snapshots.pop), None)


def note(thing: object) -> None:
    """Make the snapshots that contain an object stale. To be called after the change."""
    readers: _Readers | None = thing.__dict__.get(_KEY)
    if readers is not None:
        for reference in list(readers.snapshots):
            if (snapshot := reference()) is not None:
                snapshot.stale = True
