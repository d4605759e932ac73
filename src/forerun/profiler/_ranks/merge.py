"""Traces of ranks as one trace, on the clock of the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..events import Event, Rank, Trace
from .clocks import shifted

__all__ = ["merged"]

_BLOCK = 1024  # operations of a sample are kept in blocks of so many
_THREADS = 1 << 24  # threads of a rank have smaller numbers


def merged(traces: Sequence[Trace]) -> Trace:
    """Return the trace of all ranks. Operations and threads have numbers of their own, and events their rank.

    Raises ValueError for a trace that is not of a rank, and for two of the same.
    """
    parts = sorted(traces, key=_number)
    numbers = [_number(part) for part in parts]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"load: recordings must be of different ranks, got those of {', '.join(map(str, numbers))}")
    first = parts[0].ranks[0]
    events: list[Event] = []
    found = Trace([], parts[0].devices, cores=sum(part.cores for part in parts))
    offset = 0
    for part in parts:
        move = _Move(part.ranks[0], first, offset)
        events += map(move.event, part.events)
        found.unfinished += map(move.event, part.unfinished)
        found.ranks.append(move.rank(part.complete))
        found.devices = {**part.devices, **found.devices}
        offset += (part.issued + _last(part) + _BLOCK) // _BLOCK * _BLOCK
        for field in ("dropped", "recorded", "issued"):
            setattr(found, field, getattr(found, field) + getattr(part, field))
        found.lines += [replace(line, rank=move.of.number) for line in part.lines]
        found.compiled += part.compiled
        found.on_host += part.on_host
    found.events = sorted(events, key=lambda e: (e.started, e.issued, e.seq))
    found.complete = all(part.complete for part in parts)
    return found


def _number(trace: Trace) -> int:
    if len(trace.ranks) != 1:
        raise ValueError(f"load: each recording must be of one rank, got {len(trace.ranks)}: {trace!r}")
    return trace.ranks[0].number


def _last(trace: Trace) -> int:
    return max((n for e in (*trace.ops, *trace.unfinished) for n in (e.seq, *e.members)), default=0)


class _Move:
    """Moves the events of a rank to the clock of another one, and to numbers that no other rank has."""

    def __init__(self, rank: Rank, to: Rank, offset: int) -> None:
        self.of, self.to, self.offset = rank, to, offset
        self.begin, self.pace = shifted(rank, to)

    def rank(self, complete: bool) -> Rank:
        """Return the rank with the error of its times."""
        far = self.of.machine != self.to.machine
        error = sum(max((e for _, _, e in r.clock), default=0) for r in (self.of, self.to)) * 1e-9 if far else 0.0
        return replace(self.of, error=error, complete=complete)

    def event(self, e: Event) -> Event:
        return replace(
            e,
            seq=self.number(e.seq),
            waited=self.number(e.waited),
            thread=self.thread(e.thread),
            issuer=self.thread(e.issuer),
            issued=self.time(e.issued),
            planned=self.time(e.planned),
            started=self.time(e.started),
            ended=self.time(e.ended),
            deps=tuple(map(self.number, e.deps)),
            members=tuple(map(self.number, e.members)),
            parts=tuple(map(self.event, e.parts)),
            rank=self.of.number,
        )

    def number(self, seq: int) -> int:
        return seq + self.offset if seq else 0

    def thread(self, number: int) -> int:
        return number + self.of.number * _THREADS

    def time(self, at: float) -> float:
        return self.begin + self.pace * at if at else 0.0
