"""Recording: from a stretch of a program to its trace."""

from __future__ import annotations

import os
from pathlib import Path

from .. import _core
from ..device import devices
from .decode import decoded
from .events import Trace

__all__ = ["Recording", "load", "record", "start", "stop"]

_running: Recording | None = None  # the engine keeps one record


class Recording:
    """A recording. `trace` is filled when it stops; before that, it is empty.

    As a context manager it starts and stops with the block.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.trace = Trace([])

    def start(self) -> Recording:
        """Begins to record. Raises RuntimeError if a recording is under way: there can be one at a time; OSError if
        the file cannot be written, or another process records into it."""
        global _running
        if _running is not None:
            raise RuntimeError(
                "record: one recording at a time, got a second one before the first has stopped"
            )
        if error := _core.trace_start(None if self.path is None else str(self.path)):
            raise OSError(error, os.strerror(error), None if self.path is None else str(self.path))
        _running = self
        for i, device in enumerate(devices()):
            _core.trace_say("d", i, repr(device))
        return self

    def stop(self, wait: bool = True, raises: bool = True) -> Trace:
        """Waits for all work, ends the recording and returns the trace.

        wait: False to leave work that has not ended out of the trace.
        raises: False to leave errors that nobody has seen to others.

        Raises the error of an op that failed and that nobody has seen; the recording has ended then, too.
        """
        if _running is not self:
            raise RuntimeError("record: must be recording to be stopped")
        try:
            if wait:
                _core.waitall_at_end(raises)
        finally:
            self._end()
        return self.trace

    def __enter__(self) -> Recording:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        # After an error nobody may want to wait; what has ended until now is in the trace.
        self.stop(wait=kind is None)

    def _end(self) -> None:
        global _running
        _running = None
        data = _core.trace_stop()
        self.trace = decoded(data) if data else Trace([])
        if data and self.path is not None:
            self.path.write_bytes(data)


def record(path: str | os.PathLike[str] | None = None) -> Recording:
    """A recording of the block: every op that it issued, and every wait.

    Work that was issued before the block is left out. Leaving the block waits for all work. After an exception it
    does not wait: the trace has what ended before.

    path: a file that has what was recorded so far at any time, also if the process is killed; `load` reads it.

    >>> from forerun import np, profiler
    >>> with profiler.record() as p:
    ...     x = np.ones((1, 2))
    ...     y = (x * 2 + 1).wait()
    >>> [op.name for op in p.trace.ops][-2:]
    ['multiply', 'add']
    """
    return Recording(path)


def start(path: str | os.PathLike[str] | None = None) -> Recording:
    """Begins to record; `stop()` ends it."""
    return Recording(path).start()


def stop() -> Trace:
    """Waits for all work, ends the recording that `start()` began, and returns the trace."""
    if _running is None:
        raise RuntimeError("record: must be recording to be stopped")
    return _running.stop()


def load(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file that `record(path)` or `FORERUN_PROFILE` has written, also if the process was killed.

    ValueError if the file is no recording.
    """
    return decoded(Path(path).read_bytes())
