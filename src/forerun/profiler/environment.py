"""FORERUN_PROFILE=path: a recording from the import of the package to the end of the program."""

from __future__ import annotations

import atexit
import errno
import os
import sys
from pathlib import Path

from .record import Recording

__all__: list[str] = []


def _begin(path: Path) -> Recording:
    """Record into the file, or beside it while another process does: a child that was started with our environment."""
    try:
        return Recording(path).start()
    except OSError as error:
        if error.errno != errno.EBUSY:
            message = f"FORERUN_PROFILE: file must be writable, got {error.strerror}"
            raise OSError(error.errno, message, str(path)) from None
    return Recording(path.with_name(f"{path.stem}.{os.getpid()}{path.suffix}")).start()


def _end(recording: Recording, process: int) -> None:
    if os.getpid() != process or not recording.running:  # a child of a fork, or somebody has stopped it
        return
    try:
        recording.stop(raises=False)
    except OSError as error:
        print(f"forerun: FORERUN_PROFILE: {error}", file=sys.stderr)


if name := os.environ.get("FORERUN_PROFILE"):
    atexit.register(_end, _begin(Path(name).absolute()), os.getpid())
