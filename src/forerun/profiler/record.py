"""Recording: from a stretch of a program to its trace."""

from __future__ import annotations

import time

from .. import _core
from ..device import devices
from .events import Trace

__all__ = ["Recording", "record", "start", "stop"]

_running: Recording | None = None  # the engine keeps one record


class Recording:
    """A recording. `trace` is filled when it stops; before that, it is empty.

    As a context manager it starts and stops with the block.
    """

    def __init__(self, capacity: int = 1_000_000) -> None:
        if capacity < 1:
            raise ValueError(f"record: capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        self.trace = Trace([])
        self._began = 0.0

    def start(self) -> Recording:
        """Begins to record. Raises RuntimeError if a recording is under way: there can be one at a time."""
        global _running
        if _running is not None:
            raise RuntimeError(
                "record: one recording at a time, got a second one before the first has stopped"
            )
        _running = self
        self._began = time.perf_counter()
        _core.trace_start(self.capacity)
        return self

    def stop(self, wait: bool = True) -> Trace:
        """Waits for all work, ends the recording and returns the trace.

        wait: False to leave work that has not ended out of the trace.

        Raises the error of an op that failed and that nobody has seen; the recording has ended then, too.
        """
        if _running is not self:
            raise RuntimeError("record: must be recording to be stopped")
        try:
            if wait:
                _core.waitall()
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
        records = _core.trace_stop()
        names = {i: repr(device) for i, device in enumerate(devices())}
        self.trace = Trace.from_records(records, self._began, names, truncated=len(records) >= self.capacity)


def record(capacity: int = 1_000_000) -> Recording:
    """A recording of the block: every op that it issued, and every wait.

    Work that was issued before the block is left out. Leaving the block waits for all work. After an exception it
    does not wait: the trace has what ended before.

    capacity: how many events are kept; what comes later is left out.

    >>> from forerun import np, profiler
    >>> with profiler.record() as p:
    ...     x = np.ones((1, 2))
    ...     y = (x * 2 + 1).wait()
    >>> [op.name for op in p.trace.ops][-2:]
    ['multiply', 'add']
    """
    return Recording(capacity)


def start(capacity: int = 1_000_000) -> Recording:
    """Begins to record; `stop()` ends it."""
    return Recording(capacity).start()


def stop() -> Trace:
    """Waits for all work, ends the recording that `start()` began, and returns the trace."""
    if _running is None:
        raise RuntimeError("record: must be recording to be stopped")
    return _running.stop()
