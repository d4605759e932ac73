"""Events of a trace: ops, the tiles that workers share, and waits, with their times and lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from .axis import counted
from .intervals import at_least, length

__all__ = ["Compiled", "Event", "Line", "OnHost", "Rank", "Trace", "joined"]

_NAMES = 8  # of a group's operations, in its name


class _Placed:
    """An event that belongs to a line of the program."""

    __slots__ = ()
    site: tuple[str, int] | None  # file and line

    @property
    def where(self) -> str:
        """The line as "file:line", or "?" if it is not known."""
        return f"{self.site[0]}:{self.site[1]}" if self.site else "?"

    @property
    def line(self) -> str:
        """The line without the file's folder, or "?"."""
        return f"{PurePath(self.site[0]).name}:{self.site[1]}" if self.site else "?"


@dataclass(frozen=True, slots=True)
class Event(_Placed):
    """An op that ran, or a group of ops that ran as one, a tile of it, or a wait. Times are seconds of
    `time.perf_counter`."""

    kind: str  # "op", "tile" or "wait"
    seq: int  # number of the op in the order of issue; 0 for a wait
    name: str
    site: tuple[str, int] | None  # file and line that issued the op, or waited
    thread: int  # who ran the op (for an op cut into tiles: who finished it), or waited
    device: int
    queue: str | None  # "compute", "copy", "io", or "network" between ranks; None for a wait
    issued: float
    started: float
    ended: float
    bytes: int = 0  # memory taken for the outputs
    deps: tuple[int, ...] = ()  # numbers of the ops whose results it read
    members: tuple[int, ...] = ()  # of a group of ops that ran as one: their numbers
    parts: tuple[Event, ...] = ()  # of a group: its ops, each by itself
    planned: float = 0.0  # when the op was planned
    issuer: int = 0  # the thread that issued the op
    shape: tuple[int, ...] | None = None  # of the first output, if it is known
    dtype: str | None = None  # of the first output: "float32"
    live: tuple[int, int] = (0, 0)  # bytes of arrays on the device when the op started, and when it had ended
    cause: str | None = None  # of a wait: its kind, a word of `profiler.causes`; `name` is what was called
    waited: int = 0  # of a wait: number of the op whose result it needed; 0 for all work, or where it is not known
    held: bool = False  # it was ready, and could not run ahead: memory would exceed the peak of program order
    over_budget: bool = False  # it was ready, and waited for memory: it would have risen above the budget
    rank: int = 0  # of a trace of several ranks: where it ran

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.ended - self.started


@dataclass(frozen=True, slots=True)
class Line(_Placed):
    """All waits of one kind in one line of the program, over the whole recording. Times are seconds."""

    name: str  # what was called: "item", "asnumpy", "nonzero", "window full"
    cause: str  # its kind, as in Event.cause
    site: tuple[str, int] | None
    waits: int  # calls that had to wait
    reads: int = 0  # calls that found the values there
    seconds: float = 0.0  # in waits
    longest: float = 0.0
    lost: float = 0.0  # of `seconds`: in which the front end could have done what it did from there to its next wait;
    # what idle cores could have run comes on top: see `blockers`
    rank: int = 0  # of a trace of several ranks: where it waited


@dataclass(frozen=True, slots=True)
class Compiled(_Placed):
    """The modules that plugins compiled for an operation of a line of the program."""

    name: str  # of the operation
    site: tuple[str, int] | None
    modules: int
    seconds: float


@dataclass(frozen=True, slots=True)
class OnHost(_Placed):
    """How often an operation of a line ran on the host, between copies, as its device has no code for it."""

    name: str
    site: tuple[str, int] | None
    times: int


@dataclass(frozen=True, slots=True)
class Rank:
    """A process of several that ran a program together."""

    number: int
    size: int  # how many there were
    host: str
    pid: int
    machine: str  # the same word: the same clock
    clock: tuple[tuple[int, int, int], ...] = ()  # times, how far the launcher's clock was ahead, and errors; ns
    error: float = 0.0  # seconds by which its times may be wrong beside those of the trace's first rank
    complete: bool = True  # False: it died while it recorded


@dataclass(slots=True, repr=False)
class Trace:
    """The events of a recorded stretch of a program, in the order in which they started.

    A long recording is a sample: some blocks of 1024 operations that were issued one after the other, with their tiles
    and waits, evenly from all of it. `lines` counts all waits in any case.
    """

    events: list[Event]
    devices: Mapping[int, str] = field(default_factory=dict)  # the name of each
    lines: list[Line] = field(default_factory=list)
    unfinished: list[Event] = field(default_factory=list)  # ops that had not ended; `started` is 0 if not begun
    dropped: int = 0  # of the recorded ops: dead ones, which did not run
    recorded: int = 0  # ops that were recorded, those that were dropped included,
    issued: int = 0  # of this many
    cores: int = 1  # threads that may run ops at once
    complete: bool = True  # False: the process died while it recorded
    compiled: list[Compiled] = field(default_factory=list)  # modules of devices of plugins
    on_host: list[OnHost] = field(default_factory=list)  # operations that these devices have no code for
    ranks: list[Rank] = field(default_factory=list)  # that the events are of, if several ran the program

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        parts = (f"{self.span * 1e3:.3g} ms", counted(len(self.ops), "op"), counted(len(self.waits), "wait"))
        return f"<trace of {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from ._picture.picture import picture

        return picture(self, "Timeline")

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    @property
    def sampled(self) -> bool:
        """Whether some operations are left out."""
        return self.recorded < self.issued

    @property
    def ops(self) -> list[Event]:
        """The ops that ran; ops that were joined are one, with the names of all of them."""
        return [e for e in self.events if e.kind == "op"]

    @property
    def pieces(self) -> list[Event]:
        """Return the pieces that threads ran: ops, or the tiles of ops with several."""
        cut = {e.seq for e in self.events if e.kind == "tile"}
        return [e for e in self.events if e.kind == "tile" or (e.kind == "op" and e.seq not in cut)]

    @property
    def waits(self) -> list[Event]:
        """Return the waits: where the program needed values, and how long it waited for them."""
        return [e for e in self.events if e.kind == "wait"]

    def ends(self) -> dict[int, float]:
        """When each op ended, by its number; ops that were joined ended together."""
        return {number: e.ended for e in self.ops for number in (e.seq, *e.members)}

    @property
    def start(self) -> float:
        """When the first op was issued, or the first wait began; 0 for an empty trace."""
        return min((e.issued for e in self.events), default=0.0)

    @property
    def span(self) -> float:
        """Seconds from the first issue to the last end."""
        return max((e.ended for e in self.events), default=0.0) - self.start

    def busy(self, queue: str | None = None, *, thread: int | None = None, device: int | None = None) -> float:
        """Return seconds in which at least one op ran, of those on a queue, by a thread, on a device."""
        wanted = {"queue": queue, "thread": thread, "device": device}
        asked = [(name, value) for name, value in wanted.items() if value is not None]
        ops = (e for e in self.pieces if all(getattr(e, name) == value for name, value in asked))
        return length((e.started, e.ended) for e in ops)

    def overlap(self, n: int = 2) -> float:
        """Return seconds in which at least `n` threads were running ops at the same time."""
        threads: dict[int, list[tuple[float, float]]] = {}
        for e in self.pieces:
            threads.setdefault(e.thread, []).append((e.started, e.ended))
        return at_least(n, threads.values())

    def of_rank(self, number: int) -> Trace:
        """Return the part of a rank, with the numbers that it has in the whole. ValueError if there is no such rank."""
        if number not in (known := [r.number for r in self.ranks]):
            raise ValueError(f"of_rank: number must be one of {known}, got {number}")
        if len(known) == 1:
            return self
        events, unfinished = ([e for e in row if e.rank == number] for row in (self.events, self.unfinished))
        ranks = [r for r in self.ranks if r.number == number]
        return replace(
            self, events=events, unfinished=unfinished, ranks=ranks, cores=max(1, self.cores // len(known)),
            lines=[line for line in self.lines if line.rank == number], complete=ranks[0].complete,
        )  # fmt: skip

    def device_name(self, device: int) -> str:
        """Return the name of a device, such as "cpu(0)"."""
        return self.devices.get(device, f"device {device}")

    @classmethod
    def from_events(cls, events: Iterable[Event], devices: Mapping[int, str] | None = None) -> Trace:
        """Return a trace of recorded events in any order."""
        found = _named(sorted(events, key=lambda e: (e.started, e.issued, e.seq)))
        return cls(_one_at_a_time(found), devices or {})


def joined(events: list[Event], groups: Mapping[int, int]) -> list[Event]:
    """Return the events with those of a group as one, which has the group's number, also in what others read.

    groups: of each op that ran in one, the number of the group, which is that of its first op.
    """
    members: dict[int, list[Event]] = {}
    for e in events:
        if e.seq in groups:
            members.setdefault(groups[e.seq], []).append(e)
    found = []
    for e in events:
        number = groups.get(e.seq, e.seq)
        if e.seq in groups and number not in members:
            continue
        if all_of := members.pop(number, None):
            e = _one_of(number, all_of)
        deps = dict.fromkeys(groups.get(d, d) for d in e.deps)
        found.append(replace(e, deps=tuple(d for d in deps if d != number)) if groups else e)
    return found


def _together(names: list[str]) -> str:
    """Return the name of a group: its operations; of a long one each kind once, and how many there are.

    >>> _together(["multiply", "add"]), _together(["multiply", "add"] * 5)
    ('multiply + add', 'multiply + add (10 operations)')
    """
    if len(names) <= _NAMES:
        return " + ".join(names)
    return f"{' + '.join(dict.fromkeys(names))} ({len(names)} operations)"


def _one_of(number: int, members: list[Event]) -> Event:
    """Return the event that stands for ops that ran as one."""
    first, last = members[0], members[-1]
    return replace(
        first,
        seq=number,
        name=_together([m.name for m in members]),
        ended=max(m.ended for m in members),
        bytes=sum(m.bytes for m in members),
        deps=tuple(d for m in members for d in m.deps),
        members=tuple(m.seq for m in members),
        parts=tuple(members),
        shape=last.shape,
        dtype=last.dtype,
        live=(first.live[0], last.live[1]),
        held=any(m.held for m in members),
        over_budget=any(m.over_budget for m in members),
    )


def _named(events: list[Event]) -> list[Event]:
    """Tiles with the name and line of their op, and the first one with the inputs; without its op, a tile
    is left out."""
    ops = {e.seq: e for e in events if e.kind == "op"}
    first: set[int] = set()
    found = []
    for e in events:
        if e.kind == "tile" and e.seq in ops:
            op = ops[e.seq]
            deps = op.deps if e.seq not in first else ()
            first.add(e.seq)
            e = replace(op, kind="tile", thread=e.thread, started=e.started, ended=e.ended, deps=deps)
        if e.kind != "tile" or e.seq in ops:
            found.append(e)
    return found


def _one_at_a_time(events: list[Event]) -> list[Event]:
    """End each operation where its thread starts the next one: a worker reports the ends of a few together."""
    cut = {e.seq for e in events if e.kind == "tile"}
    following: dict[int, Event] = {}
    result = []
    for e in reversed(events):
        after = following.get(e.thread)
        if e.kind == "tile" or (e.kind == "op" and e.seq not in cut):
            following[e.thread] = e
            if after and after.started < e.ended <= after.ended:
                e = replace(e, ended=after.started)
        result.append(e)
    return result[::-1]
