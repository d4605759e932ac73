"""Recording: from a stretch of a program to its trace."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .._runtime import core as _core
from .._runtime.device import used_devices
from .._runtime.system import at_fork
from ._devices.work import Counts, counts, encoded, since, split
from ._ranks import clocks
from ._ranks.files import unpacked
from ._ranks.merge import merged
from .decode import decoded
from .events import Line, Trace

__all__ = ["Recording", "load", "record", "start", "stop"]

_running: list[Recording] = []  # the engine keeps one record, of which each has its part


class Recording:
    """A recording. As a context manager it starts and stops with the block.

    Recordings may lie within one another, or overlap. `trace` is filled when the recording stops; before that, it is
    empty.

    Parameters
    ----------
    path : path, optional
        A file that has the recording so far at any time, as for `record`.

    Examples
    --------
    >>> from forerun import np
    >>> recording = Recording().start()
    >>> x = (np.ones(3) + 1).wait()
    >>> len(recording.stop().ops) > 0, recording.running
    (True, False)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.trace = Trace([])
        self._first, self._since = 0, 0.0
        self._before: list[Line] = []
        self._counted: Counts = {}  # on devices of plugins, before
        self._clock: list[clocks.Point] = []

    def start(self) -> Recording:
        """Begin to record. Raises RuntimeError if it records, or for a file within another recording; OSError if the
        file cannot be written, or another process records into it."""
        if self.running or (_running and self.path):
            raise RuntimeError("record: one recording into a file at a time, got another while one is active")
        if _running:
            self._before = decoded(_core.trace_so_far()).lines
        else:
            self._begin()
        self._counted = counts()
        self._first, self._since = _core.mark(), time.perf_counter()
        _running.append(self)
        return self

    def _begin(self) -> None:
        path = None if self.path is None else str(self.path)
        if error := _core.trace_start(path):
            raise OSError(error, os.strerror(error), path)
        for device in used_devices():
            _core.trace_say("d", device.index, repr(device))
        self._say_rank()

    def _say_rank(self) -> None:
        self._clock, rows = clocks.encoded(self._clock)
        for row in rows:
            _core.trace_say(*row)

    def stop(self, wait: bool = True, raises: bool = True) -> Trace:
        """Wait for all work, end the recording and return the trace.

        Parameters
        ----------
        wait : bool, optional
            Whether work is waited for; otherwise work that has not ended is left out of the trace.
        raises : bool, optional
            Whether the error of a failed operation that no read has raised is raised, after the recording has ended;
            otherwise it is left to later calls.

        Returns
        -------
        Trace
            The trace.

        Raises
        ------
        RuntimeError
            If it is not recording.

        Examples
        --------
        >>> from forerun import np, profiler
        >>> recording = profiler.record().start()
        >>> x = np.ones(3) + 1
        >>> len(recording.stop().ops) > 0
        True
        """
        if not self.running:
            raise RuntimeError("record: must be recording to be stopped")
        try:
            if wait:
                _core.waitall_at_end(raises)
        finally:
            self._end()
        return self.trace

    @property
    def running(self) -> bool:
        """Whether it has started, and not stopped."""
        return self in _running

    def __enter__(self) -> Recording:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        # After an error it does not wait; the ops that have ended are in the trace.
        self.stop(wait=kind is None)

    def _end(self) -> None:
        _running.remove(self)
        work = since(self._counted)
        for row in encoded(work) if self.path else ():
            _core.trace_say(*row)
        if self.path:
            self._say_rank()
        data = _core.trace_so_far() if _running else _core.trace_stop()
        if not data:
            return
        self.trace = decoded(data, self._first, self._since)
        self.trace.lines = _since(self._before, self.trace.lines)
        self.trace.compiled, self.trace.on_host = split(work)
        if self.path is not None:
            _replace(self.path, data)


def _since(before: list[Line], after: list[Line]) -> list[Line]:
    """Return the sums of the waits after others; `longest` is that of all."""
    known = {(x.site, x.name): x for x in before}
    found = []
    for x in after:
        if b := known.get((x.site, x.name)):
            x = replace(
                x,
                waits=x.waits - b.waits,
                reads=x.reads - b.reads,
                seconds=x.seconds - b.seconds,
                lost=max(0.0, x.lost - b.lost),
            )
        if x.waits or x.reads:
            found.append(x)
    return found


def _replace(path: Path, data: bytes) -> None:
    """Replace the file by its used part."""
    short = path.with_name(f"{path.name}.{os.getpid()}")
    short.write_bytes(data)
    short.replace(path)


def _in_child() -> None:
    """Drop the recordings: they continue in the parent alone."""
    _running.clear()


at_fork(after_in_child=_in_child)


def record(path: str | os.PathLike[str] | None = None) -> Recording:
    """Return a recording of a block: each operation that it issued, and each wait.

    Work that was issued before the block is left out. Leaving the block waits for all work. After an exception it does
    not wait: the trace has the operations that ended before.

    Parameters
    ----------
    path : path, optional
        A file that has the recording so far at any time, also if the process is killed; `load` reads it.

    Returns
    -------
    Recording
        A context manager. Its `trace` is filled at the end of the block.

    Raises
    ------
    RuntimeError
        At the beginning of the block: for a file within another recording.
    OSError
        At the beginning of the block: if the file cannot be written.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as p:
    ...     x = np.ones((1, 2))
    ...     y = (x * 2 + 1).wait()
    >>> [op.name for op in p.trace.ops][-2:]
    ['multiply', 'add']
    """
    return Recording(path)


def start(path: str | os.PathLike[str] | None = None) -> Recording:
    """Begin to record; `stop()` ends it.

    Parameters
    ----------
    path : path, optional
        A file that has the recording so far at any time, as for `record`.

    Returns
    -------
    Recording
        The recording, which is running.

    Raises
    ------
    RuntimeError
        For a file within another recording.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> recording = profiler.start()
    >>> x = np.ones((100, 100)) + 1
    >>> len(profiler.stop().ops) > 0
    True
    """
    return Recording(path).start()


def stop() -> Trace:
    """Wait for all work, and end the recording that `start()` began last.

    Returns
    -------
    Trace
        The trace of the recording.

    Raises
    ------
    RuntimeError
        If nothing is recorded.

    Examples
    --------
    >>> from forerun import profiler
    >>> recording = profiler.start()
    >>> profiler.stop().waits
    []
    """
    if not _running:
        raise RuntimeError("record: must be recording to be stopped")
    return _running[-1].stop()


def load(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Trace:
    """Return the trace in a file that `record(path)` or `FORERUN_PROFILE` has written, also if the process was killed.

    Parameters
    ----------
    path : path or sequence of paths
        A file, of one process or of all ranks, as `forerun trace -n 4` writes it; or a file of each rank.

    Returns
    -------
    Trace
        Of ranks: all of them on the clock of the first one. `ranks` describes each of them.

    Raises
    ------
    ValueError
        The file is not a recording, or several are not of different ranks.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np, profiler
    >>> with tempfile.NamedTemporaryFile(suffix=".frec") as file:
    ...     with profiler.record(file.name):
    ...         x = (np.ones((100, 100)) + 1).wait()
    ...     len(profiler.load(file.name).ops) > 0
    True
    """
    files = [path] if isinstance(path, (str, os.PathLike)) else path
    traces = [decoded(data) for file in files for data in unpacked(Path(file).read_bytes())]
    return traces[0] if len(traces) == 1 else merged(traces)
