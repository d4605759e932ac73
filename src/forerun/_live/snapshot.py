"""A description of this process at one moment: counts, memory, pending operations, and lines of Python threads."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from .._runtime.device import used_devices
from .._runtime.engine import memory, stats
from .._runtime.pending import pending
from .._runtime.settings import config, worker_counts

__all__ = ["snapshot"]

_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_LIBRARY = os.path.dirname(threading.__file__) + os.sep  # Python's own
_PENDING = 8  # operations that a description lists
_THREADS = 8  # and threads


def snapshot() -> dict[str, Any]:
    """Return the description, as JSON can write it. It waits for nothing.

    "time" is the clock of this process, in seconds, and "cpu" the processor time that it has taken: rates are
    differences of two descriptions.
    """
    return {
        "pid": os.getpid(),
        "command": shlex.join(sys.orig_argv),
        "time": time.monotonic(),
        "cpu": time.process_time(),
        "workers": sum(worker_counts(config())[0]),
        "stats": stats(),
        "memory": {repr(device): memory(device) for device in used_devices()},
        "pending": [f"{one}" for one in pending(_PENDING)],
        "threads": _threads(),
    }


def _threads() -> list[dict[str, Any]]:
    frames, found = sys._current_frames(), []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if frame is not None and thread is not threading.current_thread():
            file, line, function = _place(frame)
            found.append({"name": thread.name, "file": file, "line": line, "function": function})
    return found[:_THREADS]


def _place(innermost: FrameType) -> tuple[str, int, str]:
    """Return the innermost line outside of forerun and the standard library, or the innermost one."""
    frame: FrameType | None = innermost
    while frame is not None and not _of_program(frame.f_code.co_filename):
        frame = frame.f_back
    shown = frame or innermost
    return shown.f_code.co_filename, shown.f_lineno, shown.f_code.co_name


def _of_program(file: str) -> bool:
    if file.startswith((_PACKAGE, "<frozen ")):
        return False
    return not file.startswith(_LIBRARY) or f"-packages{os.sep}" in file  # these are in a folder of the library
