"""A trace as the page's script reads it: columns of whole numbers, and words that they are places of.

Times are nanoseconds since the trace's start. A column of times that hardly ever decrease has their differences,
which are short to write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from .._picture.lanes import Lane, Span, in_turn, lanes
from .._picture.live import live
from .._ranks.late import rank_times, rank_title
from ..axis import milliseconds
from ..blocking_lines import Blocker, blockers
from ..events import Event, Trace
from ..svg import colours, ink_on

__all__ = ["tables_and_columns"]

_most_in_legend = 12


class _Words:
    """Words by the order in which they came, for columns that have their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, word: str | None) -> int:
        return -1 if word is None else self._numbers.setdefault(word, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


class _Lines:
    """Lines by number, each short, for labels, and whole."""

    def __init__(self) -> None:
        self._whole, self.short = _Words(), list[str]()

    def __call__(self, event: Event) -> int:
        number = self._whole(event.where)
        if number == len(self.short):
            self.short.append(event.line)
        return number

    @property
    def whole(self) -> list[str]:
        return self._whole.all


class _Columns:
    """The columns of a trace, while they are made."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.start, self.span = trace, trace.start, trace.span
        self.names, self.shapes, self.lines = _Words(), _Words(), _Lines()
        self.ops = sorted(trace.ops, key=lambda e: e.seq)
        self.place = {e.seq: i for i, e in enumerate(self.ops)}
        # A reader of a member of a group, or a wait for it, refers to the group.
        self.place |= {n: i for i, e in enumerate(self.ops) for n in e.members}

    def ns(self, time: float) -> int:
        return round((time - self.start) * 1e9)

    def of_ops(self, found: list[Lane]) -> dict[str, Any]:
        """Return the columns of the ops, in the order of issue."""
        front = {lane.thread: n for n, lane in enumerate(found) if lane.front}
        return {
            "number": _differences(e.seq for e in self.ops),
            "name": [self.names(e.name) for e in self.ops],
            "line": [self.lines(e) for e in self.ops],
            "shape": [self.shapes(_shape(e)) for e in self.ops],
            "issued": _differences(self.ns(e.issued) for e in self.ops),
            "lane": [front.get(e.issuer, -1) for e in self.ops],  # not one: a worker's task issued it
            "held": [i for i, e in enumerate(self.ops) if e.held and not e.over_budget],
            "over": [i for i, e in enumerate(self.ops) if e.over_budget],
            "bytes": [e.bytes for e in self.ops],
            "members": [len(e.members) for e in self.ops],
            "inputs": [list(e.deps) for e in self.ops],
        }

    def of_lane(self, lane: Lane) -> dict[str, Any]:
        """Return the ops and the waits of a thread."""
        waits = [(s.event, self.times(s)) for s in in_turn(lane.waits)]
        return {
            "rank": lane.rank,
            "label": lane.label,
            "device": lane.device,
            "detail": self.detail(lane),
            "front": lane.front,
            "spans": {**_stretches(map(self.times, lane.spans)), "op": [self.place[s.event.seq] for s in lane.spans]},
            "waits": {
                **_stretches(times for _, times in waits),
                "name": [self.names(e.name) for e, _ in waits],
                "line": [self.lines(e) for e, _ in waits],
                "target": [self.place.get(e.waited, -1) for e, _ in waits],
            },
        }

    def times(self, span: Span) -> tuple[int, int]:
        return self.ns(span.start), self.ns(span.end)

    def detail(self, lane: Lane) -> str:
        if lane.front:
            return f"{lane.waited / (self.span or 1e-9):.0%} in waits"
        return f"{lane.device}, ".lstrip(", ") + f"{lane.busy / (self.span or 1e-9):.0%} busy"

    def memory(self) -> list[dict[str, Any]]:
        """Return bytes of arrays over time, of each device of each rank."""
        several = len(self.trace.ranks) > 1
        parts = (
            [(r.number, self.trace.of_rank(r.number)) for r in self.trace.ranks] if several else [(None, self.trace)]
        )
        return [
            {
                "rank": rank,
                "label": f"memory, {part.device_name(device)}",
                "times": _differences(self.ns(t) for t, _ in steps),
                "values": _differences(n for _, n in steps),
                "most": max(n for _, n in steps),
            }
            for rank, part in parts
            for device, steps in live(part).items()
        ]


def tables_and_columns(trace: Trace) -> dict[str, Any]:
    """Return all that the page shows, ready for JSON."""
    found, columns = lanes(trace), _Columns(trace)
    drawn = {"lanes": [columns.of_lane(lane) for lane in found], "ops": columns.of_ops(found)}
    time = _totals(trace.ops)
    longest = sorted(time, key=lambda name: -time[name][1])[:_most_in_legend]
    colour = colours(time) | colours(longest)  # these are to differ from each other
    tints = [colour.get(name, "#888888") for name in columns.names.all]
    return {
        **drawn,
        "memory": columns.memory(),
        "ranks": {r.number: rank_title(trace, r) for r in trace.ranks} if len(trace.ranks) > 1 else {},
        "span": columns.ns(columns.start + columns.span),
        "names": columns.names.all,
        "colours": tints,
        "inks": [ink_on(tint) for tint in tints],
        "legend": [columns.names(name) for name in longest],
        "lines": columns.lines.short,
        "places": columns.lines.whole,
        "shapes": columns.shapes.all,
        "tables": _tables(trace),
    }


def _shape(e: Event) -> str | None:
    return None if e.shape is None else f"{e.dtype or ''} {e.shape}".strip()


def _differences(numbers: Iterable[int]) -> list[int]:
    return [b - a for a, b in pairwise([0, *numbers])]


def _stretches(times: Iterable[tuple[int, int]]) -> dict[str, list[int]]:
    found = list(times)
    return {"start": _differences(start for start, _ in found), "length": [end - start for start, end in found]}


def _tables(trace: Trace, limit: int = 30) -> list[dict[str, Any]]:
    """Return waits by line and operations by name, the longest first. `filter`: the column that can be searched."""
    ops = sorted(_totals(trace.ops).items(), key=lambda item: -item[1][1])
    ranks = [[str(r.number), *map(milliseconds, (r.computed, r.waited, r.network, r.late)), f"{r.last:,} of "
              f"{r.collectives:,}"] for r in rank_times(trace)]  # fmt: skip
    waits = ["line", "called", "waits", "reads", "total", "lost", "idle", "instead"]
    found = [
        ("Ranks", ["rank", "computed", "waited", "network", "late", "came last"], ranks if len(ranks) > 1 else []),
        ("Lines that waited", waits, [_wait(b, trace.span) for b in blockers(trace)]),
        ("Operations", ["operation", "count", "total"], [[w, f"{n:,}", milliseconds(s)] for w, (n, s) in ops]),
    ]
    return [
        {"title": t, "head": head, "filter": -1 if t == "Ranks" else 0, "rows": rows[:limit]}
        for t, head, rows in found
        if rows
    ]


def _wait(blocker: Blocker, span: float) -> list[str]:
    """Return the call of a line, the number and time of its waits, their cost, and a change that avoids them."""
    x, idle = blocker.line, "" if blocker.idle is None else f"{blocker.idle:.0%}"
    times = milliseconds(x.seconds), milliseconds(blocker.lost)
    instead = blocker.advice if blocker.worth_a_change(span) else ""
    return [x.line, x.name, f"{x.waits:,}", f"{x.reads:,}", *times, idle, instead]


def _totals(events: Iterable[Event]) -> dict[str, tuple[int, float]]:
    """Return how many events, and how many seconds, by name."""
    found: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for e in events:
        count, seconds = found[e.name]
        found[e.name] = count + 1, seconds + e.duration
    return found
