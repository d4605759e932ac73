"""The engine as a whole: waiting for several arrays or for everything, its memory, its counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _core
from .device import Device

__all__ = ["wait", "waitall", "memory", "empty_cache", "stats"]


def wait(arrays: Any) -> None:
    """Wait until arrays have their values: one, or any nesting of sequences and dicts of them.

    Work that these arrays do not need may go on. Raises the error of their computation, once all
    have ended; several different errors as an `ExceptionGroup`. Raises TypeError for other objects than arrays.

    >>> import forerun
    >>> from forerun import np
    >>> x = np.ones(3)
    >>> forerun.wait({"sum": x + x, "more": [x * 2, (x,)]})
    """
    _core.wait(list(_arrays(arrays)))


def _arrays(nested: Any) -> Iterator[_core.Array]:
    if isinstance(nested, _core.Array):
        yield nested
    elif isinstance(nested, (Mapping, Sequence)) and not isinstance(nested, (str, bytes)):
        for value in nested.values() if isinstance(nested, Mapping) else nested:
            yield from _arrays(value)
    else:
        raise TypeError(f"wait: must be given arrays, or sequences or dicts of them, got {nested!r}")


def waitall() -> None:
    """Wait until all operations issued so far have ended; raise the errors that no read has raised.

    One is raised as itself, several as an `ExceptionGroup`. Raises RuntimeError in a host task, which would wait for
    its own end.

    >>> import forerun
    >>> forerun.waitall()
    """
    _core.waitall()


def memory(device: Device | None = None) -> dict[str, int]:
    """Return bytes of a CPU device's arrays: live, cached, peak, budget, limit."""
    return _core.memory(device.index if device is not None else 0)


def empty_cache() -> int:
    """Return cached memory to the system; return the number of bytes."""
    return _core.empty_cache()


def stats() -> dict[str, int]:
    """Return counts since the start: operations issued, planned, done, failed, and run by waiting threads; waits."""
    return _core.stats()
