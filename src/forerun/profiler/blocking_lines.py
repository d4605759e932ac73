"""Blockers: the lines that wait, how often, how long and for which operations, the cost, and advice."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy

from .causes import advice
from .events import Event, Line, Trace
from .intervals import merged

__all__ = ["Blocker", "blockers"]

_FULL = ("window full", "bytes full")  # the front end is far ahead: nothing is lost
_WORTH = 0.01  # of the time
_END = "end"  # the wait at the end of a recording is not a line of the program
_Key = tuple[tuple[str, int] | None, str]  # a line, and the name of its call


@dataclass(frozen=True, slots=True)
class Blocker:
    """The waits of one line for one cause. Times are seconds.

    Attributes
    ----------
    line : Line
        The counts and times of the whole recording.
    lost : float
        How much shorter the program might be without these waits, as `blockers` estimates it; where not all waits were
        recorded one by one, it is extrapolated from those that were.
    idle : float or None
        The share of the time of all cores, during the waits that were recorded one by one, in which they had nothing to
        run; None if it is not known.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     for step in range(3):
    ...         total = np.ones((300, 300)).sum().item()
    >>> found, = profiler.blockers(recording.trace)
    >>> found.line.name, found.lost <= found.line.seconds
    ('item', True)
    """

    line: Line
    lost: float
    idle: float | None

    @property
    def advice(self) -> str:
        """Return a change of the line that avoids the wait."""
        return advice(self.line.cause, self.line.waits)

    def worth_a_change(self, span: float) -> bool:
        """Return whether there is something to gain: the line waited more than once, and lost some of the seconds."""
        return bool(self.advice) and self.line.waits > 1 and self.lost >= _WORTH * span


def blockers(trace: Trace) -> list[Blocker]:
    """Return the lines that waited, or read computed values: first those that lost most, then those that took longest.

    The loss of a wait is estimated from the work of the thread between it and the next wait. Without the wait it could
    have done this in the time of the wait; and of the operations that it issued there, those that need nothing that was
    still to come could have run, as far as cores were idle. The longer of the two is lost, but no more than the wait
    took. Whether the program could do without the value is not known.

    Parameters
    ----------
    trace : Trace
        A recording of the program.

    Returns
    -------
    list of Blockers
        The waits of each line.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     for step in range(3):
    ...         y = np.ones((300, 300)).sum().item()
    >>> [(found.line.name, found.line.waits + found.line.reads) for found in blockers(recording.trace)]
    [('item', 3)]
    """
    found: dict[_Key, _Sums] = defaultdict(_Sums)
    for wait, lost, idle in _waits(trace):
        found[wait.site, wait.name].add(wait.duration, lost, idle)
    lines = [line for line in _of_all_ranks(trace.lines) or _lines(trace) if line.cause != _END]
    rows = [found[line.site, line.name].blocker(line) for line in lines]
    return sorted(rows, key=lambda b: (-b.lost, -b.line.seconds, -b.line.reads))


@dataclass(slots=True)
class _Sums:
    """Of the recorded waits of a line."""

    seconds: float = 0.0
    lost: float = 0.0
    idle: float = 0.0  # seconds of all cores, as a share

    def add(self, seconds: float, lost: float, idle: float) -> None:
        self.seconds, self.lost, self.idle = self.seconds + seconds, self.lost + lost, self.idle + idle

    def blocker(self, line: Line) -> Blocker:
        if line.cause in _FULL:
            return Blocker(line, 0.0, None)
        if self.seconds <= 0:
            return Blocker(line, line.lost, None)
        lost = min(line.seconds, self.lost * line.seconds / self.seconds)
        return Blocker(line, max(lost, line.lost), self.idle / self.seconds)


def _of_all_ranks(lines: list[Line]) -> list[Line]:
    """Return the sums of the waits in each line over ranks."""
    found: dict[_Key, Line] = {}
    for line in lines:
        if (key := (line.site, line.name)) in found:
            one = found[key]
            longest = max(one.longest, line.longest)
            sums = {name: getattr(one, name) + getattr(line, name) for name in ("waits", "reads", "seconds", "lost")}
            line = replace(one, longest=longest, **sums)
        found[key] = line
    return list(found.values())


def _lines(trace: Trace) -> list[Line]:
    """Return the sums by line of the waits that a trace has one by one."""
    found: dict[_Key, Line] = {}
    for wait in trace.waits:
        line = found.get((wait.site, wait.name)) or Line(wait.name, wait.cause or "wait", wait.site, 0)
        longest, seconds = max(line.longest, wait.duration), line.seconds + wait.duration
        found[wait.site, wait.name] = replace(line, waits=line.waits + 1, seconds=seconds, longest=longest)
    return list(found.values())


def _waits(trace: Trace) -> Iterator[tuple[Event, float, float]]:
    """Each wait, its lost time, and for how long cores were idle in it, as a share of all of them."""
    cores = _Cores(trace)
    ended = trace.ends()
    issued: dict[int, list[Event]] = defaultdict(list)
    for e in sorted(trace.ops, key=lambda e: e.issued):
        issued[e.issuer].append(e)
    end = trace.start + trace.span
    for thread, waits in _by_thread(trace).items():
        ops, times = issued[thread], [e.issued for e in issued[thread]]
        for wait, until in zip(waits, [*(w.started for w in waits[1:]), end]):
            behind = ops[bisect_left(times, wait.ended) : bisect_left(times, until)]
            some, share = cores.idle(wait)
            front = until - wait.ended
            lost = min(wait.duration, max(front, min(some, _free(behind, wait.started, ended))))
            yield wait, max(0.0, lost), share


def _by_thread(trace: Trace) -> dict[int, list[Event]]:
    found: dict[int, list[Event]] = defaultdict(list)
    for wait in trace.waits:
        found[wait.thread].append(wait)
    return found


def _free(ops: list[Event], time: float, ended: dict[int, float]) -> float:
    """Return seconds of work of the ops that needed nothing that came after the time, but for one another."""
    free: set[int] = set()
    for e in ops:
        if all(d in free or ended.get(d, 0.0) <= time for d in e.deps):
            free.update((e.seq, *e.members))
    return sum(e.duration for e in ops if e.seq in free)


class _Cores:
    """When how many of them had work."""

    def __init__(self, trace: Trace) -> None:
        lanes: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for e in trace.pieces:
            lanes[e.thread].append((e.started, e.ended))
        steps = sorted(s for lane in lanes.values() for a, b in merged(lane) for s in ((a, 1), (b, -1)))
        # Seconds, until each step, in which some core was idle; and in which they were, as a share of all.
        times, some, share = [0.0], [0.0], [0.0]
        busy = 0
        for time, change in [*steps, (steps[-1][0] + 1e9 if steps else 1e9, 0)]:  # at last nothing runs any more
            passed = time - times[-1]
            idle = max(0, trace.cores - busy)
            times.append(time)
            some.append(some[-1] + passed * (idle > 0))
            share.append(share[-1] + passed * idle / trace.cores)
            busy += change
        # Each wait looks things up there: as arrays, which are not made anew for it.
        self.times, self.some, self.share = map(numpy.array, (times, some, share))

    def idle(self, wait: Event) -> tuple[float, float]:
        """Return seconds of a wait in which some core was idle, and in which they were, as a share of all."""
        some = numpy.interp([wait.started, wait.ended], self.times, self.some)
        share = numpy.interp([wait.started, wait.ended], self.times, self.share)
        return float(some[1] - some[0]), float(share[1] - share[0])
