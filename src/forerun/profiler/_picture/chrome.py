"""Traces for other tools: the Trace Event Format, which Perfetto and chrome://tracing open.

Format: "Trace Event Format", The Chromium Project: complete events (X) on tracks, metadata (M), flows (s, t, f),
counters (C). Times are microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from .._ranks.late import rank_title
from ..events import Event, Trace
from .lanes import Lane, Span, in_turn, lanes
from .live import live

__all__ = ["chrome"]

Record = dict[str, Any]
Point = tuple[int, float]  # track and time

_PROCESS = 1  # and of several ranks one for each, from there on
_ISSUES = 1_000_000  # the issues of a thread are on a track of their own, with this added to its number
_ISSUE = 1e-6  # seconds that an issue is drawn as, at most
_HAIR = 1e-9  # an arrow belongs to the slice around its time: this much inside of it


def chrome(trace: Trace) -> str:
    """Return a trace as JSON in the Trace Event Format.

    Each thread is a track with its ops and waits; a front end has one more, of its issues. Arrows lead from the
    issue of an op to its run and on to the wait for it, and from an op to those that read its result. A counter for
    each device has the bytes of its arrays.

    >>> json.loads(chrome(Trace([])))["displayTimeUnit"]
    'ms'
    """
    records = list(_Records(trace).all())
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": records}, separators=(",", ":"))


class _Records:
    """The records of a trace, while they are made."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.start, self.lanes = trace, trace.start, lanes(trace)
        self.front = {lane.thread for lane in self.lanes if lane.front}
        self.first: dict[int, Span] = {}  # by number of an op: its first span, and its last
        self.last: dict[int, Span] = {}
        for s in sorted((s for lane in self.lanes for s in lane.spans), key=lambda s: s.start):
            self.first.setdefault(s.event.seq, s)
            self.last[s.event.seq] = max(s, self.last.get(s.event.seq, s), key=lambda s: s.end)
        self.group = {n: e.seq for e in trace.ops for n in (*e.members, e.seq)}
        self.ids = count(1)
        several = len(trace.ranks) > 1
        self.process = {lane.thread: _PROCESS + (lane.rank or 0) for lane in self.lanes}
        self.ranks = {r.number: rank_title(trace, r) for r in trace.ranks} if several else {}

    def all(self) -> Iterator[Record]:
        for rank, title in self.ranks.items():
            yield {"ph": "M", "pid": _PROCESS + rank, "name": "process_name", "args": {"name": title}}
        for order, lane in enumerate(self.lanes):
            yield from self.track(lane, 2 * order)
        yield from self.ways()
        yield from self.results()
        yield from self.counters()

    def track(self, lane: Lane, order: int) -> Iterator[Record]:
        """Yield the name of a thread, the ops that it issued and ran, and its waits."""
        name = f"{lane.device} {lane.label}".strip()
        yield from self.named(lane.thread, name, order + 1)
        if lane.front:
            yield from self.named(lane.thread + _ISSUES, f"{name}: issues", order)
            yield from map(self.slice, _issues(lane))
        yield from map(self.slice, in_turn(lane.waits))
        yield from map(self.slice, lane.spans)

    def named(self, track: int, name: str, order: int) -> Iterator[Record]:
        common = {"ph": "M", "pid": self.of(track), "tid": track}
        yield {**common, "name": "thread_name", "args": {"name": name}}
        yield {**common, "name": "thread_sort_index", "args": {"sort_index": order}}

    def slice(self, span: Span) -> Record:
        e = span.event
        times = {"ts": self.us(span.start), "dur": _us(span.end - span.start)}
        track = e.thread + _ISSUES if e.kind == "issue" else e.thread
        return {
            "ph": "X",
            "name": e.name,
            "cat": e.kind,
            "pid": self.of(track),
            "tid": track,
            **times,
            "args": self.args(e),
        }

    def args(self, e: Event) -> Record:
        if e.kind == "wait":
            return {"line": e.where, "cause": e.cause, "op": e.waited}
        known = {"line": e.where, "op": e.seq, "device": e.device, "bytes": e.bytes, "issued": self.us(e.issued)}
        return known if e.shape is None else {**known, "shape": list(e.shape), "dtype": e.dtype}

    def ways(self) -> Iterator[Record]:
        """Yield an arrow for each op: issue, run, and the waits that needed it."""
        waits: dict[int, list[Event]] = {}
        for w in self.trace.waits:
            waits.setdefault(self.group.get(w.waited, 0), []).append(w)
        for seq, span in self.first.items():
            e, last = span.event, self.last[seq]
            way = [(e.issuer + _ISSUES, e.issued)] if e.issuer in self.front else []  # else a worker's task issued it
            way.append((e.thread, span.start))
            ended = (last.event.thread, _inside(last))
            ends = [(w.thread, _inside(Span(w, w.started, w.ended))) for w in waits.get(seq, [])]
            yield from self.flow("way", [*way, ended, ends[0]] if ends else way)
            for other in ends[1:]:
                yield from self.flow("way", [ended, other])

    def results(self) -> Iterator[Record]:
        """Yield an arrow for each result that an op read: from the end of the one to the start of the other."""
        for e in self.trace.ops:
            for before in (self.last[d] for d in e.deps if d in self.last and e.seq in self.first):
                start = self.first[e.seq]
                points = [(before.event.thread, _inside(before)), (start.event.thread, start.start)]
                yield from self.flow("result", points)

    def flow(self, name: str, points: list[Point]) -> Iterator[Record]:
        """Yield an arrow through points, which lie within slices; none for a single one."""
        common = {"name": name, "cat": name, "id": next(self.ids)}
        for n, (track, time) in enumerate(points if len(points) > 1 else []):
            kind: Record = {"ph": "s"} if n == 0 else {"ph": "t"} if n < len(points) - 1 else {"ph": "f", "bp": "e"}
            yield {**common, **kind, "pid": self.of(track), "tid": track, "ts": self.us(time)}

    def counters(self) -> Iterator[Record]:
        for rank in self.ranks or [0]:
            part = self.trace.of_rank(rank) if self.ranks else self.trace
            for device, steps in live(part).items():
                common = {"ph": "C", "name": f"memory, {part.device_name(device)}", "pid": _PROCESS + rank}
                for time, value in steps:
                    yield {**common, "ts": self.us(time), "args": {"bytes": value}}

    def of(self, track: int) -> int:
        """Return the process of a track."""
        return self.process.get(track) or self.process.get(track - _ISSUES, _PROCESS)

    def us(self, time: float) -> float:
        return _us(time - self.start)


def _issues(lane: Lane) -> Iterator[Span]:
    """Yield the issue of each op of a front end, until the next one, and for a microsecond at most."""
    for e, after in zip(lane.issues, [*(e.issued for e in lane.issues[1:]), float("inf")]):
        yield Span(replace(e, kind="issue", thread=lane.thread), e.issued, min(e.issued + _ISSUE, after))


def _inside(span: Span) -> float:
    """Return the end of a span, but within it."""
    return max(span.start, span.end - _HAIR)


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)
