"""From the bytes of a recording (core/trace/record.h) to a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy

from ._devices.lanes import NETWORK, on_lanes
from ._devices.work import COMPILED, ON_HOST, parsed, split
from ._ranks import clocks
from .causes import cause_of, shown
from .events import Event, Line, Trace, joined

__all__ = ["decoded"]

MAGIC = 0x3165636172746672
HEAD, TEXT, BLOCK = 4096, 4 << 20, 1024
_queues = ("compute", "copy", "io")
_dtypes = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
DROPPED, FAILED, GROUPED, HELD, OVER = 1, 2, 4, 8, 16

_head = numpy.dtype(
    [(name, "u8") for name in (
        "magic", "ticks", "nanoseconds", "later_ticks", "later_nanoseconds", "first", "next", "level", "n_text",
        "n_more", "n_blocks", "dropped", "ended", "cores",
    )] + [("blocks", "u8", 128)]
)  # fmt: skip
_op = numpy.dtype(
    [(name, "u8") for name in ("seq", "issued", "planned", "started", "ended", "name", "bytes")]
    + [(name, "u4") for name in ("live_started", "live_ended", "site")]
    + [("issuer", "u2"), ("thread", "u2"), ("group", "u4")]
    + [(name, "u1") for name in ("device", "queue", "flags", "n_deps", "dtype", "ndim")]
    + [("unused", "u2"), ("deps", "u4", 5), ("dims", "u4", 6)]
)  # fmt: skip
_more = numpy.dtype(
    [(name, "u8") for name in ("seq", "block", "started", "ended", "name")]
    + [("site", "u4"), ("thread", "u2"), ("unused", "u2"), ("kind", "u4"), ("payload", "u4", 3)]
)
_line = numpy.dtype(
    [("name", "u8"), ("site", "u4"), ("known", "u4")]
    + [(name, "u8") for name in ("waits", "ticks", "longest", "lost", "reads", "unused")]
)
TILE, WAIT, DEPS = 0, 1, 2


@dataclass(slots=True)
class Parts:
    """The parts of a recording, and the meaning of its numbers."""

    head: Any
    ops: Any
    more: Any
    lines: Any
    names: dict[int, str] = field(default_factory=dict)
    sites: dict[int, tuple[str, int]] = field(default_factory=dict)
    devices: dict[int, str] = field(default_factory=dict)
    work: list[tuple[str, int, str]] = field(default_factory=list)  # see _devices/work.py
    rank: list[tuple[str, int, str]] = field(default_factory=list)  # see _ranks/clocks.py
    first: int = 0

    def rate(self) -> float:
        """Return seconds per tick."""
        h = {name: int(self.head[name]) for name in ("ticks", "nanoseconds", "later_ticks", "later_nanoseconds")}
        ticks, nanoseconds = h["later_ticks"] - h["ticks"], h["later_nanoseconds"] - h["nanoseconds"]
        return nanoseconds / ticks * 1e-9 if ticks > 0 else 0.0

    def seconds(self) -> Callable[[Any], Any]:
        """From ticks to seconds of `time.perf_counter`."""
        ticks, nanoseconds, rate = int(self.head["ticks"]), int(self.head["nanoseconds"]), self.rate()
        return lambda at: nanoseconds * 1e-9 + (at.astype("i8") - ticks) * rate


def decoded(data: bytes, first: int = 0, since: float = 0.0) -> Trace:
    """Return the trace of a recording that was taken, or of a file that the process has left behind.

    Of ops, those that were issued as number `first` or later; of waits, those that began at the time `since` or later.
    """
    parts = _parts(data)
    parts.first = max(first, int(parts.head["first"]))
    parts.ops = parts.ops[parts.ops["seq"] >= parts.first]
    return _trace(parts, since)


def _parts(data: bytes) -> Parts:
    """Return the parts: in a recording that was ended they are contiguous, otherwise each has its full capacity."""
    if len(data) < HEAD or (head := numpy.frombuffer(data, _head, 1)[0])["magic"] != MAGIC:
        raise ValueError(f"load: file must be a recording, got {len(data)} bytes of something else")
    ended = bool(head["ended"])
    at = HEAD
    text = data[at : at + int(head["n_text"])]
    at += (int(head["n_text"]) + 7) // 8 * 8 if ended else TEXT
    lines = numpy.frombuffer(data, _line, 1 << 12, at)
    at += lines.nbytes
    more = numpy.frombuffer(data, _more, int(head["n_more"]), at)
    at += more.nbytes if ended else _more.itemsize << 17
    ops = numpy.frombuffer(data, _op, int(head["n_blocks"]) * BLOCK, at)
    found = Parts(head, _valid(head, ops), more, lines[lines["known"] > 0])
    _read_text(text.decode("utf-8", "surrogateescape"), found)
    return found


def _valid(head: Any, ops: numpy.ndarray) -> Any:
    """Return the ops of the blocks that are kept, in the order of issue."""
    owners = numpy.repeat(head["blocks"][: len(ops) // BLOCK], BLOCK)
    seq = ops["seq"]
    kept = (seq >= head["first"]) & (seq > 0) & (seq // BLOCK + 1 == owners)
    found = ops[kept]
    return found[numpy.argsort(found["seq"], kind="stable")]


def _read_text(text: str, found: Parts) -> None:
    for row in text.splitlines():
        kind, (number, _, rest) = row[:1], row[1:].partition(" ")
        if kind == "n":
            found.names[int(number)] = rest
        elif kind == "s":
            line, _, file = rest.partition(" ")
            found.sites[int(number)] = (file, int(line))
        elif kind == "d":
            found.devices[int(number)] = rest
        elif kind in (COMPILED, ON_HOST):
            found.work.append((kind, int(number), rest))
        elif kind == clocks.LETTER:
            found.rank.append((kind, int(number), rest))


def _trace(parts: Parts, since: float) -> Trace:
    seconds = parts.seconds()
    ops = [e for e in _ops(parts, seconds) if e is not None]
    done = on_lanes([e for e in ops if e.ended > 0])
    trace = Trace.from_events(
        [*done, *_tiles(parts, seconds), *(w for w in _waits(parts, seconds) if w.started >= since)],
        parts.devices,
    )
    trace.unfinished = [e for e in ops if not e.ended]
    trace.lines = _lines(parts)
    trace.dropped = int((parts.ops["flags"] & DROPPED > 0).sum())
    trace.recorded = len(parts.ops)
    last = int(parts.ops["seq"][-1]) + 1 if len(parts.ops) else 0
    trace.issued = max(int(parts.head["next"]), last) - parts.first
    trace.cores = int(parts.head["cores"])
    trace.complete = bool(parts.head["ended"])
    trace.compiled, trace.on_host = split(parsed(parts.work))
    trace.ranks = clocks.parsed(parts.rank)
    return trace


def _ops(parts: Parts, seconds: Callable[[Any], Any]) -> list[Event]:
    """Ops one by one, but for those that were dropped; `ended` is 0 for one that has not ended."""
    rows = parts.ops[parts.ops["flags"] & DROPPED == 0]
    times = {name: seconds(rows[name]).tolist() for name in ("issued", "planned", "started", "ended")}
    further = _further(parts)
    found: list[Event] = []
    groups: dict[int, int] = {}
    for i, r in enumerate(_each(rows)):
        at = {name: times[name][i] if r[name] else 0.0 for name in times}
        found.append(_op_event(parts, r, at, further.get(r["seq"], ())))
        if r["flags"] & GROUPED:
            groups[r["seq"]] = r["seq"] - r["group"]
    return joined(found, groups)


def _op_event(parts: Parts, r: dict[str, Any], at: dict[str, float], further: Any) -> Event:
    seq = r["seq"]
    deps = [seq - back for back in (*r["deps"][: r["n_deps"]], *further)]
    if at["started"] < at["issued"]:  # it failed before it could start: instantaneous
        at["started"] = at["ended"]
    return Event(
        "op", seq, parts.names.get(r["name"], "?"), parts.sites.get(r["site"]), r["thread"], r["device"],
        "network" if r["device"] == NETWORK else _queues[r["queue"]],
        at["issued"], at["started"], max(at["ended"], at["started"]) if at["ended"] else 0.0,
        r["bytes"], tuple(dict.fromkeys(d for d in deps if d != seq)),
        planned=at["planned"], issuer=r["issuer"], live=(r["live_started"] << 10, r["live_ended"] << 10),
        dtype=_dtypes[r["dtype"] - 1] if r["dtype"] else None,
        shape=tuple(r["dims"][: r["ndim"]]) if r["dtype"] and r["ndim"] <= len(r["dims"]) else None,
        held=bool(r["flags"] & HELD), over_budget=bool(r["flags"] & OVER),
    )  # fmt: skip


def _each(rows: Any) -> Iterator[dict[str, Any]]:
    """Return records as dicts of Python's numbers."""
    names = rows.dtype.names
    for values in zip(*(rows[name].tolist() for name in names)):
        yield dict(zip(names, values))


def _further(parts: Parts) -> dict[int, list[int]]:
    """Return the dependencies of ops beyond those in their own records."""
    rows = parts.more[parts.more["kind"] == DEPS]
    found: dict[int, list[int]] = {}
    for seq, (_, back, _) in zip(rows["seq"].tolist(), rows["payload"].tolist()):
        found.setdefault(seq, []).append(back)
    return found


def _rows(parts: Parts, kind: int, seconds: Callable[[Any], Any]) -> Iterator[tuple[dict[str, Any], float, float]]:
    """Return the records of a kind with their times. A record that a crash has left in two places counts once."""
    rows = numpy.unique(parts.more[parts.more["kind"] == kind])
    started, ended = seconds(rows["started"]).tolist(), seconds(rows["ended"]).tolist()
    for r, start, end in zip(_each(rows), started, ended):
        yield r, start, max(start, end)


def _tiles(parts: Parts, seconds: Callable[[Any], Any]) -> list[Event]:
    return [
        Event("tile", r["seq"], "", None, r["thread"], 0, None, start, start, end)
        for r, start, end in _rows(parts, TILE, seconds)
    ]


def _waits(parts: Parts, seconds: Callable[[Any], Any]) -> list[Event]:
    found = []
    for r, start, end in _rows(parts, WAIT, seconds):
        name, site = parts.names.get(r["name"], "?"), parts.sites.get(r["site"])
        cause, waited = cause_of(name), r["seq"]
        found.append(
            Event("wait", 0, shown(name), site, r["thread"], 0, None, start, start, end, cause=cause, waited=waited)
        )
    return found


def _lines(parts: Parts) -> list[Line]:
    rate = parts.rate()
    found = []
    for r in _each(parts.lines):
        name = parts.names.get(r["name"], "others") if r["name"] else "others"
        times = (r[k] * rate for k in ("ticks", "longest", "lost"))
        found.append(Line(shown(name), cause_of(name), parts.sites.get(r["site"]), r["waits"], r["reads"], *times))
    return found
