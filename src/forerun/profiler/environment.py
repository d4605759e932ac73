"""FORERUN_PROFILE=path: a recording from the import of the package to the end of the program.

Of several ranks each has a file of its own, `run.rank2.frec` for `run.frec`; `forerun run -n` makes one of them.
"""

from __future__ import annotations

import atexit
import errno
import os
import sys
from pathlib import Path

from ..distributed._peers import rank, size
from ._ranks.files import of_rank
from .recording import Recording

__all__ = ["abandon_recording"]

_recording: Recording | None = None


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
    if os.getpid() != process or not recording.running:  # a child of a fork, or stopped already
        return
    try:
        recording.stop(raises=False)
    except OSError as error:
        print(f"forerun: FORERUN_PROFILE: {error}", file=sys.stderr)


def abandon_recording() -> Path | None:
    """End the recording of this process without a file, as its ranks have the program; return the file's name."""
    if _recording is None or _recording.path is None:
        return None
    if _recording.running:
        _recording.stop(raises=False)
        _recording.path.unlink(missing_ok=True)
    return _recording.path


if name := os.environ.get("FORERUN_PROFILE"):
    path = Path(name).absolute()
    _recording = _begin(of_rank(path, rank()) if size() > 1 else path)
    atexit.register(_end, _recording, os.getpid())
