"""Facts besides arrays on which captured calls depend: numbers that change from call to call, and objects that may
change.

A captured function does not run again. Numbers that it computes in Python, such as the learning rate of a step, would
stay those of the first call. An object that computes such numbers therefore takes part in the capture: it adds an input
to the program, and is asked for its next values in each call. Arrays that are made once, such as the state of an
optimizer, are made while the capture is paused: otherwise each call would make them anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .. import _core
from .changes import Snapshot, watch

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["Capture", "Guard", "Participant", "current", "depend_on", "issue"]


class Guard(Protocol):
    """A condition of a captured call: once it is stale, the function is captured again."""

    @property
    def stale(self) -> bool:
        """Whether the condition does not hold any more."""


class Participant:
    """An object that takes part in captured calls. Its methods run in each call but the first, in order."""

    def advance(self) -> tuple[Any, ...] | None:
        """Go on to the next call: return the arrays of the further inputs.

        None, without any change, if the captured call does not hold any more.
        """
        return ()

    def undo(self) -> None:
        """Take back `advance`: the call is not issued."""

    def issued(self) -> None:
        """Note that the call's operations are issued."""


class Capture:
    """The objects that take part in a call that is being captured.

    watches: the caller does not watch blocks for changes.
    """

    def __init__(self, watches: bool) -> None:
        self.watches = watches
        self.watched: set[object] = set()  # blocks
        self.inputs: list[Any] = []
        self.participants: list[Participant] = []
        self.guards: list[Guard] = []

    def add_input(self, make: Callable[[], Array]) -> Array:
        """Return a further input of the program, which the function makes."""
        made: Array = _core.capture_paused(make)
        _core.capture_input(made)
        self.inputs.append(made)
        return made

    def __enter__(self) -> None:
        self._before, _current.capture = _current.capture, self

    def __exit__(self, *error: object) -> None:
        _current.capture = self._before


class _Current(threading.local):
    capture: Capture | None = None


_current = _Current()


def current() -> Capture | None:
    """Return the call that this thread captures; None if it captures no call, or if no library can take part in the
    capture.

    >>> current() is None
    True
    """
    return _current.capture if _core.capturing() else None


def depend_on(thing: Hashable, parts: Callable[[Snapshot], Iterable[object]] = lambda snapshot: ()) -> Capture | None:
    """Let the function that this thread captures depend on an object: once it has changed, calls are captured anew.

    parts: watches the objects inside it, too, and returns them. Return the capture if it did not depend on it before.
    """
    capture = current()
    if capture is None or not capture.watches or thing in capture.watched:
        return None
    snapshot = Snapshot()
    watch(thing, snapshot)
    capture.watched.update((thing, *parts(snapshot)))
    capture.guards.append(snapshot)
    return capture


def issue(program: Any, inputs: tuple[Any, ...], participants: Sequence[Participant]) -> Any:
    """Issue a program for arguments and the next values of the objects that take part; None if it does not match."""
    advanced: list[Participant] = []
    try:
        for one in participants:
            more = one.advance()
            if more is None:
                return None
            advanced.append(one)
            inputs += more
        found = program(inputs)
        if found is not None:
            advanced = []
    finally:
        for one in reversed(advanced):
            one.undo()
    if found is not None:
        for one in participants:
            one.issued()
    return found
