"""Traces for other tools: the Trace Event Format, which Perfetto and chrome://tracing open.

Format: "Trace Event Format", The Chromium Project. Times are microseconds.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .events import Event, Trace
from .lanes import Lane, Span, lanes

__all__ = ["chrome_trace"]


def chrome_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Writes a trace as JSON in the Trace Event Format.

    Each thread is a track with its ops and waits; arrows lead from an op to the ops that read its result. Open the
    file at https://ui.perfetto.dev.
    """
    found = lanes(trace)
    spans = {s.event.seq: s for lane in found for s in lane.spans}
    records = [record for lane in found for record in _track(lane, trace)]
    records += [arrow for s in spans.values() for arrow in _arrows(s, spans, trace.start)]
    text = json.dumps({"displayTimeUnit": "ms", "traceEvents": records}, separators=(",", ":"))
    Path(path).write_text(text, encoding="utf-8")


def _track(lane: Lane, trace: Trace) -> list[dict[str, Any]]:
    """The name of a thread, what it ran, and its waits."""
    name = f"{lane.device} {lane.label}".strip()
    head = {"ph": "M", "name": "thread_name", "pid": 1, "tid": lane.thread, "args": {"name": name}}
    waits = [_slice(Span(w, w.started, w.ended), trace.start) for w in lane.waits]
    return [head, *waits, *(_slice(s, trace.start) for s in lane.spans)]


def _slice(span: Span, start: float) -> dict[str, Any]:
    e = span.event
    args: dict[str, Any] = {"line": e.where}
    if e.kind != "wait":
        args |= {"op": e.seq, "device": e.device, "bytes": e.bytes, "issued": _us(e.issued - start)}
    times = {"ts": _us(span.start - start), "dur": _us(span.end - span.start)}
    return {"ph": "X", "name": e.name, "cat": e.kind, "pid": 1, "tid": e.thread, **times, "args": args}


def _arrows(span: Span, spans: dict[int, Span], start: float) -> list[dict[str, Any]]:
    """An arrow for each result that an op read: from the end of the one to the start of the other."""
    e: Event = span.event
    found = []
    for before in (spans[d] for d in e.deps if d in spans):
        common = {"name": "result", "cat": "deps", "pid": 1, "id": f"{before.event.seq}-{e.seq}"}
        # An arrow belongs to the slice around its time: a hair before the end.
        left = max(before.start, before.end - 1e-9)
        found.append({**common, "ph": "s", "tid": before.event.thread, "ts": _us(left - start)})
        found.append({**common, "ph": "f", "bp": "e", "tid": e.thread, "ts": _us(span.start - start)})
    return found


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)
