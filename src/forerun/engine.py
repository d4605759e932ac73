"""The engine as a whole: waiting for all of it, its memory, its counts."""

from __future__ import annotations

from . import _core
from .device import Device

__all__ = ["waitall", "memory", "empty_cache", "stats"]


def waitall() -> None:
    """Waits until all work issued so far has ended; raises an error that nobody has seen yet."""
    _core.waitall()


def memory(device: Device | None = None) -> dict[str, int]:
    """Bytes of a CPU device's arrays: live, cached, peak, budget, limit."""
    return _core.memory(device.index if device is not None else 0)


def empty_cache() -> int:
    """Gives cached memory back to the system; returns how many bytes."""
    return _core.empty_cache()


def stats() -> dict[str, int]:
    """Counts since the start: ops issued, planned, done, failed; waits; ops that waiting threads ran."""
    return _core.stats()
