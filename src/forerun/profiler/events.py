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
    """A recorded event: an operation that ran, a group of operations that ran as one, a tile, or a wait.

    Times are seconds of `time.perf_counter`.

    Attributes
    ----------
    kind : {"op", "tile", "wait"}
        The kind of event.
    seq : int
        The number of the operation in program order; 0 for a wait.
    name : str
        The name of the operation, or of the call that waited.
    site : (str, int) or None
        The file and line that issued the operation, or waited.
    thread : int
        The thread that ran the operation, or waited; of an operation cut into tiles, the one that ended the last tile.
    device : int
        The number of the device.
    queue : {"compute", "copy", "io", "network"} or None
        The queue; "network" is between ranks, and None is for a wait.
    issued, started, ended : float
        The times of the call, of the start and of the end.
    bytes : int
        Bytes of memory taken for the outputs.
    deps : tuple of int
        The numbers of the operations whose results it read.
    members : tuple of int
        Of a group: the numbers of its operations.
    parts : tuple of Event
        Of a group: its operations.
    planned : float
        The time when the operation was planned.
    issuer : int
        The thread that issued the operation.
    shape : tuple of int or None
        The shape of the first output, where it is known.
    dtype : str or None
        The dtype of the first output, such as "float32".
    live : (int, int)
        Bytes of arrays on the device when the operation started, and when it had ended.
    cause : str or None
        Of a wait: its kind, a word of `profiler.causes`.
    waited : int
        Of a wait: the number of the operation whose result it needed; 0 for all operations, or where it is not known.
    held : bool
        Whether it was ready and did not start, as memory would have exceeded the peak of program order.
    over_budget : bool
        Whether it was ready and did not start, as memory would have exceeded the budget.
    rank : int
        In a trace of several ranks: the rank that ran it.

    Examples
    --------
    >>> wait = Event("wait", 0, "item", ("train.py", 12), 1, 0, None, issued=1.0, started=1.0, ended=1.5, cause="item")
    >>> wait.line, wait.duration
    ('train.py:12', 0.5)
    """

    kind: str
    seq: int
    name: str
    site: tuple[str, int] | None
    thread: int
    device: int
    queue: str | None
    issued: float
    started: float
    ended: float
    bytes: int = 0
    deps: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    parts: tuple[Event, ...] = ()
    planned: float = 0.0
    issuer: int = 0
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    live: tuple[int, int] = (0, 0)
    cause: str | None = None
    waited: int = 0
    held: bool = False
    over_budget: bool = False
    rank: int = 0

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.ended - self.started


@dataclass(frozen=True, slots=True)
class Line(_Placed):
    """All waits of one kind in one line of the program, over the whole recording. Times are seconds.

    Attributes
    ----------
    name : str
        The call, such as "item", "asnumpy", "nonzero" or "window full".
    cause : str
        The kind of wait, as of an `Event`.
    site : (str, int) or None
        The file and the line.
    waits : int
        Calls that waited.
    reads : int
        Calls that found the values computed.
    seconds : float
        The time of all waits.
    longest : float
        The time of the longest wait.
    lost : float
        The part of `seconds` in which the front end could have gone on until its next wait. Operations that idle
        cores could have run are not part of it: see `blockers`.
    rank : int
        In a trace of several ranks: the rank that waited.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     total = np.ones((100, 100)).sum().item()
    >>> [(line.name, line.waits + line.reads) for line in recording.trace.lines if line.cause != "end"]
    [('item', 1)]
    """

    name: str
    cause: str
    site: tuple[str, int] | None
    waits: int
    reads: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    lost: float = 0.0
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Compiled(_Placed):
    """The modules that plugins compiled for an operation of a line of the program.

    Attributes
    ----------
    name : str
        The operation.
    site : (str, int) or None
        The file and the line.
    modules : int
        The number of modules.
    seconds : float
        The time of compiling them, in seconds.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     total = np.ones((100, 100)).sum().item()
    >>> recording.trace.compiled  # no device of a plugin was used
    []
    """

    name: str
    site: tuple[str, int] | None
    modules: int
    seconds: float


@dataclass(frozen=True, slots=True)
class OnHost(_Placed):
    """An operation of a line that ran on the host, between copies, as its device has no code for it.

    Attributes
    ----------
    name : str
        The operation.
    site : (str, int) or None
        The file and the line.
    times : int
        How often it ran so.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     total = np.ones((100, 100)).sum().item()
    >>> recording.trace.on_host  # no device of a plugin was used
    []
    """

    name: str
    site: tuple[str, int] | None
    times: int


@dataclass(frozen=True, slots=True)
class Rank:
    """A process of several that ran a program together.

    Attributes
    ----------
    number : int
        The rank.
    size : int
        The number of ranks.
    host : str
        The name of its machine.
    pid : int
        The number of its process.
    machine : str
        A name of its clock: ranks with the same one need no correction.
    clock : tuple of (int, int, int)
        Times, how far the clock of the launcher was ahead, and the errors of that, in nanoseconds.
    error : float
        The seconds by which its times may be wrong beside those of the first rank of the trace.
    complete : bool
        Whether the recording was ended; a rank that died while it recorded has left an incomplete file.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     total = np.ones((100, 100)).sum().item()
    >>> [rank.number for rank in recording.trace.ranks]
    []
    """

    number: int
    size: int
    host: str
    pid: int
    machine: str
    clock: tuple[tuple[int, int, int], ...] = ()
    error: float = 0.0
    complete: bool = True


@dataclass(slots=True, repr=False)
class Trace:
    """The events of a recorded stretch of a program, in the order in which they started.

    A long recording is a sample: some blocks of 1,024 operations that were issued one after another, with their tiles
    and waits, evenly from all of it. `lines` counts all waits in any case.

    Attributes
    ----------
    events : list of Event
        The operations, tiles and waits.
    devices : dict of int to str
        The names of the devices by their numbers.
    lines : list of Line
        The waits by line of the program.
    unfinished : list of Event
        The operations that had not ended; `started` is 0 for those that had not started.
    dropped : int
        The number of recorded operations that did not run, as no result of theirs was needed.
    recorded, issued : int
        The number of operations that were recorded, with those that were dropped, and of all that were issued.
    cores : int
        The number of threads that may run operations at once.
    complete : bool
        Whether the recording was ended: False if the process died while it recorded.
    compiled : list of Compiled
        The modules that devices of plugins compiled.
    on_host : list of OnHost
        The operations that these devices have no code for.
    ranks : list of Rank
        The ranks, if several ran the program.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     total = np.ones((100, 100)).sum().item()
    >>> recording.trace.span > 0, recording.trace.sampled
    (True, False)
    >>> any("sum" in op.name for op in recording.trace.ops)
    True
    """

    events: list[Event]
    devices: Mapping[int, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    unfinished: list[Event] = field(default_factory=list)
    dropped: int = 0
    recorded: int = 0
    issued: int = 0
    cores: int = 1
    complete: bool = True
    compiled: list[Compiled] = field(default_factory=list)
    on_host: list[OnHost] = field(default_factory=list)
    ranks: list[Rank] = field(default_factory=list)

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
    """Return the events with those of a group as one, which has the group's number, also in the dependencies of others.

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
