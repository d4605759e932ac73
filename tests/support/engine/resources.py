"""Resources that must be as before when a piece of a program is over: arrays, memory, threads, files."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import forerun
from forerun import _core
from forerun._io import ordering as order


def resource_counts() -> dict[str, int]:
    """How much there is now of each thing that must not pile up."""
    found = dict(_core.in_use())
    found["live bytes"] = sum(forerun.memory(device)["live"] for device in forerun.devices())
    found["threads"] = threading.active_count()
    found["files"] = len(os.listdir("/proc/self/fd"))
    return found


def increases(before: dict[str, int]) -> dict[str, int]:
    """Return the resources of which there are more than before, and how many more."""
    now = resource_counts()
    return {name: now[name] - n for name, n in before.items() if now[name] > n}


def leaks(before: dict[str, int]) -> dict[str, int]:
    """The same once pending work has ended and cycles are gone; cheap where nothing is more from the start."""
    left = increases(before)
    for settle in (_end_work, gc.collect, _core.quiesce):  # the last references go when the workers do
        if not left:
            return left
        settle()
        left = increases(before)
    for _ in range(100):
        if left.keys() != {"files"}:
            break
        time.sleep(0.01)  # a thread of a library may have a file open for a moment
        left = increases(before)
    return left


def _end_work() -> None:
    _core.wait_mark(_core.mark())
    order.sweep()
    gc.collect(1)  # the young objects, which are few: usually this suffices


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it holds once the interpreter, or a thread, has run its work between instructions."""
    return any(condition() for _ in range(100_000))


def open_files() -> list[str]:
    """The files of this process, for messages."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the folder
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return sorted(found)


class Peak:
    """How much more memory the process has had since this was made than it had then.

    getrusage's peak is not a measure of that: it includes everything before, even the memory of the process that
    started this one.
    """

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # forgets it
        self._before = self._most()

    def increase(self) -> int:
        """In bytes."""
        return self._most() - self._before

    @staticmethod
    def _most() -> int:
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) << 10
