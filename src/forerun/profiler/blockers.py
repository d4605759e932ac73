"""Blockers: which lines wait, how often, how long, what for, what that cost, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy

from .causes import ADVICE
from .events import Event, Line, Trace
from .intervals import merged

__all__ = ["Blocker", "blockers", "lines_of"]

_ours = "end"  # the wait at the end of a recording is no line of the program's


@dataclass(frozen=True, slots=True)
class Blocker:
    """What one line waited for in one way. Times are seconds.

    Counts, `seconds`, `longest` and `lost` are of the whole recording; `idle` is of the waits that were recorded one
    by one.
    """

    line: Line
    idle: float | None  # share of the cores' time in these waits in which they had nothing to run; None: not known

    @property
    def advice(self) -> str:
        """What to write instead."""
        return ADVICE[self.line.cause]


def blockers(trace: Trace) -> list[Blocker]:
    """The lines that waited, or read values that were there: first those that lost most, then those that took longest.

    `lost` is computed wait by wait: of the time of the wait, as much as the front end took from its end to the next
    wait of that thread. Without the wait, the front end could have done this meanwhile. What other cores could have
    done besides shows in `idle`.
    """
    lines = [line for line in trace.lines or lines_of(trace) if line.cause != _ours]
    idle = _idle(trace)
    found = [Blocker(line, idle.get((line.site, line.name))) for line in lines]
    return sorted(found, key=lambda b: (-b.line.lost, -b.line.seconds, -b.line.reads))


def lines_of(trace: Trace) -> list[Line]:
    """The sums by line of the waits that a trace has one by one."""
    found: dict[tuple[object, str], Line] = {}
    for wait, lost in _with_lost(trace):
        key = wait.site, wait.name
        line = found.get(key) or Line(wait.name, wait.cause or "wait", wait.site, 0)
        found[key] = replace(
            line,
            waits=line.waits + 1,
            seconds=line.seconds + wait.duration,
            longest=max(line.longest, wait.duration),
            lost=line.lost + lost,
        )
    return list(found.values())


def _with_lost(trace: Trace) -> Iterable[tuple[Event, float]]:
    """Waits, and what each lost."""
    by_thread: dict[int, list[Event]] = {}
    for wait in trace.waits:
        by_thread.setdefault(wait.thread, []).append(wait)
    end = trace.start + trace.span
    for waits in by_thread.values():
        starts = [w.started for w in waits[1:]] + [end]
        for wait, following in zip(waits, starts):
            yield wait, min(wait.duration, max(0.0, following - wait.ended))


def _idle(trace: Trace) -> dict[tuple[tuple[str, int] | None, str], float]:
    """By line and call: the share of the cores' time in its waits in which nothing ran."""
    times, work = _work(trace)
    spent: dict[tuple[tuple[str, int] | None, str], list[float]] = {}
    for wait in trace.waits:
        ran = numpy.interp([wait.started, wait.ended], times, work)
        sums = spent.setdefault((wait.site, wait.name), [0.0, 0.0])
        sums[0] += wait.duration * trace.cores
        sums[1] += float(ran[1] - ran[0])
    return {key: max(0.0, 1 - ran / total) for key, (total, ran) in spent.items() if total > 0}


def _work(trace: Trace) -> tuple[list[float], list[float]]:
    """Seconds of work that threads had done by then, at the times at which one begins or ends; never more at once than
    there are cores."""
    lanes: dict[int, list[tuple[float, float]]] = {}
    for e in trace.pieces:
        lanes.setdefault(e.thread, []).append((e.started, e.ended))
    steps = sorted(s for lane in lanes.values() for a, b in merged(lane) for s in ((a, 1), (b, -1)))
    times, work, busy = [0.0], [0.0], 0
    for time, change in steps:
        work.append(work[-1] + min(busy, trace.cores) * (time - times[-1]))
        times.append(time)
        busy += change
    return times, work
