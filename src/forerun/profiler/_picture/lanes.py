"""Lanes: the work of each thread, one item after the other, as a picture shows it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..._runtime.device import FIRST_GPU
from .._devices.lanes import NETWORK
from ..intervals import Interval, length

if TYPE_CHECKING:
    from ..events import Event, Trace

__all__ = ["Lane", "Span", "in_turn", "lanes"]

_roles = {"compute": "worker", "copy": "copies", "io": "files", "network": "network"}
_on_devices = {**_roles, "compute": "operations"}  # of plugins, which have one lane for each


@dataclass(frozen=True, slots=True)
class Span:
    """An op or a tile of one, and the part of its time that belongs to the lane."""

    event: Event
    start: float
    end: float


@dataclass(slots=True)
class Lane:
    """A thread: the ops that it ran and, if it is one of the program's own, the ops that it issued and its waits."""

    thread: int
    label: str
    device: str
    front: bool  # a thread of the program, which issues and waits
    spans: list[Span] = field(default_factory=list)
    waits: list[Event] = field(default_factory=list)
    issues: list[Event] = field(default_factory=list)  # in order of time
    rank: int | None = None  # of a trace of several ranks

    @property
    def busy(self) -> float:
        """Seconds in which it ran ops."""
        return length((s.start, s.end) for s in self.spans)

    @property
    def waited(self) -> float:
        """Seconds in which it waited, or ran ops while it waited."""
        return length((w.started, w.ended) for w in self.waits)

    @property
    def intervals(self) -> list[Interval]:
        """When it ran ops."""
        return [(s.start, s.end) for s in self.spans]


def lanes(trace: Trace) -> list[Lane]:
    """Return the threads of a trace: first those of the program, then workers by device, queue and number.

    Of several ranks: rank by rank.
    """
    if len(trace.ranks) < 2:
        return _of_process(trace)
    found = [(r.number, lane) for r in trace.ranks for lane in _of_process(trace.of_rank(r.number))]
    for number, lane in found:
        lane.rank = number
    return [lane for _, lane in found]


def _of_process(trace: Trace) -> list[Lane]:
    ops: dict[int, list[Event]] = defaultdict(list)
    waits: dict[int, list[Event]] = defaultdict(list)
    issues: dict[int, list[Event]] = defaultdict(list)
    for e in trace.pieces:
        ops[e.thread].append(e)
    for e in trace.waits:
        waits[e.thread].append(e)
    for e in sorted(trace.ops, key=lambda e: e.issued):
        issues[e.issuer].append(e)
    # First the thread that waited last: the one that ended the recording. Tasks of workers issue and never wait, and
    # were issued by another thread; a thread of the program that has not waited ran only ops that it issued, at once.
    last = trace.waits[-1].thread if waits else None
    program = {*waits, *(t for t in issues if all(e.issuer == t for e in ops.get(t, ())))}
    front = sorted(program, key=lambda t: (t != last, t))
    found = [Lane(t, _front_label(n), "", True, in_turn(ops[t]), waits[t], issues[t]) for n, t in enumerate(front)]
    homes = {t: _home(all_of) for t, all_of in ops.items() if t not in program and all_of}
    labels = _worker_labels(homes)
    return found + [Lane(t, label, _device(trace, homes[t]), False, in_turn(ops[t])) for t, label in labels]


def _device(trace: Trace, home: tuple[int, str]) -> str:
    """Return the name of a lane's device; the network has no device."""
    return "" if home[1] == "network" else trace.device_name(home[0])


def _worker_labels(homes: dict[int, tuple[int, str]]) -> list[tuple[int, str]]:
    """Return threads in order, with labels: workers have numbers, a single thread for copies or files has no number."""
    count: Counter[tuple[int, str]] = Counter()
    total = Counter(homes.values())
    found = []
    for t, (device, queue) in sorted(homes.items(), key=lambda item: (*_rank(item[1]), item[0])):
        count[device, queue] += 1
        roles = _roles if device < FIRST_GPU else _on_devices
        number = f" {count[device, queue]}" if roles.get(queue) == "worker" or total[device, queue] > 1 else ""
        found.append((t, roles.get(queue, queue) + number))
    return found


def _rank(home: tuple[int, str]) -> tuple[int, bool, str]:
    device, queue = home
    return (NETWORK if queue == "network" else device), queue != "compute", queue


def _front_label(n: int) -> str:
    return "front end" if n == 0 else f"front end {n + 1}"


def _home(ops: list[Event]) -> tuple[int, str]:
    """Device and queue of most of the ops that a thread ran."""
    return Counter((e.device, e.queue or "") for e in ops).most_common(1)[0][0]


def in_turn(ops: list[Event]) -> list[Span]:
    """Return spans that do not overlap: an op that other threads began counts from the end of the span before."""
    spans: list[Span] = []
    free = float("-inf")
    for e in sorted(ops, key=lambda e: (e.ended, e.started)):
        spans.append(Span(e, max(e.started, min(free, e.ended)), e.ended))
        free = max(free, e.ended)
    return spans
