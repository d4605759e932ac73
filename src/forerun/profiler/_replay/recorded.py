"""From a trace to a program that can be replayed: its operations with typical durations, and the actions of its
threads."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from statistics import median

from ..decode import BLOCK
from ..events import Event, Trace
from ..intervals import merged

__all__ = ["Act", "Op", "Recorded", "Site"]

Site = tuple[str, int] | None
_ALL = 0.9  # of the operations that recur: so many recur as often as the step, or a multiple of that


@dataclass(slots=True)
class Op:
    """An operation, or a group of them that ran as one. Times are seconds."""

    number: int
    name: str
    site: Site
    device: int
    queue: str
    pieces: tuple[float, ...]  # how long a thread was taken by each tile
    latency: float  # from when it was ready to its start, where the thread had nothing else to do
    deps: tuple[int, ...]
    size: int  # bytes of its results
    first: int  # bytes of the first of these
    largest: int  # bytes of the largest array among first results, of its members, too
    inline: bool  # it ran in the call that issued it
    in_place: bool
    step: int
    key: Hashable = None

    @property
    def seconds(self) -> float:
        """Return the time of all pieces."""
        return sum(self.pieces)

    @property
    def collective(self) -> bool:
        """Whether all ranks take part in it."""
        return self.queue == "network" and self.name not in ("send", "recv")


@dataclass(slots=True)
class Act:
    """An issue or a wait of a thread of the program."""

    gap: float  # seconds of Python since the one before
    op: int  # number of the issued operation; 0 for a wait
    needs: tuple[int, ...]  # of a wait: the operations that it waited for
    wake: float  # of a wait: seconds from the end of these until the program went on
    site: Site
    name: str
    cause: str
    step: int
    key: Hashable = None


@dataclass(slots=True)
class Recorded:
    """A recorded program. Steps are numbered from 0; operations before the first have -1."""

    ops: dict[int, Op] = field(default_factory=dict)
    acts: dict[int, list[Act]] = field(default_factory=dict)  # by thread
    servers: dict[tuple[int, str], int] = field(default_factory=dict)  # threads that serve a queue of a device
    steps: int = 1
    ranks: int = 1  # that ran it: then its collectives are in it
    seconds: float = 0.0  # of a step, as it was recorded
    quartiles: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, trace: Trace, step: str | None = None) -> Recorded:
        """Return the program of a trace. ValueError if nothing was recorded, or no operation has the line.

        Of a sample, the longest part without gaps counts; of several ranks, the first one.

        step: the line, as "train.py:12", whose first operation begins a step; without it, a step is the recurring
        sequence of operations.
        """
        if not trace.ops:
            raise ValueError("whatif: there must be operations in the recording, got none")
        if len(trace.ranks) > 1:
            trace = trace.of_rank(trace.ranks[0].number)
        found = _Reader(_unbroken(trace), step).read()
        if any(op.collective for op in found.ops.values()):
            found.ranks = max([r.size for r in trace.ranks], default=2)
        return found

    def typical(self) -> Recorded:
        """Give operations that recur in each step their median time, since single steps vary by chance.

        The size of its results is the largest: those that took over memory of other arrays are not in recorded bytes.
        """
        if self.steps < 3:
            return self
        first = 1 if self.steps > 3 else 0  # the first step is often longer
        ops: dict[Hashable, list[Op]] = defaultdict(list)
        acts: dict[Hashable, list[Act]] = defaultdict(list)
        for op in self.ops.values():
            if op.step >= first:
                ops[op.key, len(op.pieces)].append(op)
        for act in (a for all_of in self.acts.values() for a in all_of if a.step >= first):
            acts[act.key].append(act)
        for same in ops.values():
            pieces = tuple(median(times) for times in zip(*(op.pieces for op in same)))
            latency, size = median(op.latency for op in same), max(op.size for op in same)
            for op in same:
                op.pieces, op.latency, op.size = pieces, latency, size
        for alike in acts.values():
            gap, wake = median(a.gap for a in alike), median(a.wake for a in alike)
            for a in alike:
                a.gap, a.wake = gap, wake
        return self

    def cut(self, limit: int) -> Recorded:
        """Leave out operations before the first step, and so many of the last steps that few operations are left."""
        count = Counter(op.step for op in self.ops.values())
        first = 1 if self.steps > 3 else 0
        last, total = first, count[first]
        while last + 1 < self.steps and (last - first < 3 or total + count[last + 1] <= limit):
            last += 1
            total += count[last]
        if self.steps > 1:
            self.ops = {n: op for n, op in self.ops.items() if first <= op.step <= last}
            self.acts = {t: [a for a in acts if first <= a.step <= last] for t, acts in self.acts.items()}
        return self


class _Reader:
    """Reads a trace."""

    def __init__(self, trace: Trace, step: str | None) -> None:
        self.trace = trace
        self.ops = sorted(trace.ops, key=lambda e: e.seq)
        self.group = {m: e.seq for e in self.ops for m in e.members}
        self.ended = {e.seq: e.ended for e in self.ops}
        self.marks = _marks(self.ops, step)  # the number of the first operation of each step
        self.tiles: dict[int, list[Event]] = defaultdict(list)
        for e in trace.events:
            if e.kind == "tile":
                self.tiles[e.seq].append(e)
        self.before = self._ends_before()
        self.waits = trace.waits
        self.waiting = merged((w.started, w.ended) for w in self.waits)

    def read(self) -> Recorded:
        ends = self._step_ends()
        times = sorted(b - a for a, b in pairwise(ends)) or [self.trace.span]
        devices = len({e.device for e in self.ops})
        found = Recorded(steps=len(self.marks), seconds=median(times))
        found.quartiles = times[len(times) // 4], times[len(times) * 3 // 4]
        seen: Counter[Hashable] = Counter()
        for e in self.ops:
            found.ops[e.seq] = self._op(e, seen)
            queue = e.queue or "compute"
            found.servers[e.device, queue] = max(1, self.trace.cores // devices) if queue == "compute" else 1
        found.acts = {thread: self._acts(thread) for thread in self._threads()}
        for acts in found.acts.values():
            _same_pace(acts, found.ops)
        return found

    def step(self, number: int) -> int:
        return bisect_right(self.marks, number) - 1

    def _step_ends(self) -> list[float]:
        ends: dict[int, float] = {}
        for e in self.ops:
            ends[self.step(e.seq)] = max(ends.get(self.step(e.seq), 0.0), e.ended)
        return list(accumulate((ends[k] for k in sorted(ends) if k >= 0), max))

    def _ends_before(self) -> dict[tuple[int, float], float]:
        """When a thread had ended its previous piece before each piece, by the piece's thread and start."""
        free: dict[int, float] = {}
        found = {}
        for e in sorted(self.trace.pieces, key=lambda e: e.started):
            found[e.thread, e.started] = free.get(e.thread, float("-inf"))
            free[e.thread] = max(e.ended, free.get(e.thread, e.ended))
        return found

    def _op(self, e: Event, seen: Counter[Hashable]) -> Op:
        deps = tuple(dict.fromkeys(d for d in (self.group.get(d, d) for d in e.deps) if d in self.ended and d != e.seq))
        ready = max([_issued(e), *(self.ended[d] for d in deps)])
        pieces = sorted(self.tiles.get(e.seq) or [e], key=lambda p: p.started)
        first = pieces[0]
        idle = self.before[first.thread, first.started] < ready
        inline = e.thread == e.issuer and not self._waiting_at(e.started)
        kind = e.name, e.site, e.shape, e.device, self.step(e.seq)
        seen[kind] += 1
        size = max(_first(e), e.bytes)  # a program has several results, and an update takes no memory
        largest = max(map(_first, e.parts or (e,)))
        return Op(
            e.seq, e.name, e.site, e.device, e.queue or "compute",
            tuple(p.duration + self._pause(p, ready) for p in pieces),
            max(0.0, first.started - ready) if idle else 0.0,
            deps, size, _first(e), largest, inline, _in_place(e), self.step(e.seq), (*kind[:4], seen[kind]),
        )  # fmt: skip

    def _waiting_at(self, time: float) -> bool:
        """Return whether a thread of the program waits then."""
        begun = bisect_right(self.waiting, (time, float("inf")))
        return begun > 0 and time < self.waiting[begun - 1][1]

    def _pause(self, piece: Event, ready: float) -> float:
        """Return the time that a thread with work took to begin a piece."""
        before = self.before[piece.thread, piece.started]
        return max(0.0, piece.started - before) if before >= ready else 0.0

    def _threads(self) -> list[int]:
        return sorted({e.issuer for e in self.ops} | {w.thread for w in self.waits})

    def _acts(self, thread: int) -> list[Act]:
        """Return a thread's actions. A call may issue an op and wait for it, as a save does: the wait comes after the
        issue."""
        issues = [(_issued(e), e.seq, e) for e in self.ops if e.issuer == thread]
        waits = [(w.ended, 0, w) for w in self.waits if w.thread == thread]
        found: list[Act] = []
        seen: Counter[Hashable] = Counter()
        now: float | None = None
        number = 0
        for at, seq, e in sorted(issues + waits, key=lambda x: x[:2]):
            gap = 0.0 if now is None else max(0.0, (at if seq else e.started) - now)
            now, number = (at if seq else max(e.ended, now or at)), max(seq, number)
            step = self.step(seq or number)
            kind = e.name, e.site, e.shape, e.device, step
            seen[kind] += 1
            needs = () if seq else self._needs(e, number)
            released = max((self.ended[n] for n in needs), default=e.ended)
            wake = 0.0 if seq else min(max(0.0, e.ended - released), e.duration)
            found.append(Act(gap, seq, needs, wake, e.site, e.name, e.cause or "", step, (*kind[:4], seen[kind])))
        return found

    def _needs(self, wait: Event, issued: int) -> tuple[int, ...]:
        """Return the operations that a wait waited for: one, or all up to the beginning of a step, or up to the present
        one."""
        waited = self.group.get(wait.waited, wait.waited)
        if waited in self.ended:
            return (waited,)
        before = [e for e in self.ops if e.seq <= issued and e.issued <= wait.ended]
        late = next((e.seq for e in before if e.ended > wait.ended), None)
        if late is None:
            return tuple(e.seq for e in before)
        boundary = self.marks[self.step(late)] if self.step(late) >= 0 else late
        return tuple(e.seq for e in before if e.seq < boundary)


def _same_pace(acts: list[Act], ops: dict[int, Op]) -> None:
    """Let all waits of `pace` in a line be as many steps behind: more may have ended when one of them did."""
    behind: dict[Site, int] = {}
    paces = [a for a in acts if a.name == "pace" and a.needs]
    for a in paces:
        behind[a.site] = max(behind.get(a.site, 0), a.step - max(ops[n].step for n in a.needs))
    for a in paces:
        a.needs = tuple(n for n in a.needs if ops[n].step <= a.step - behind[a.site])


def _unbroken(trace: Trace) -> Trace:
    """Return the longest part of a sample in which all operations were recorded."""
    if not trace.sampled:
        return trace
    count = Counter(e.seq // BLOCK for e in trace.ops)
    best: list[int] = []
    row: list[int] = []
    for block in sorted(count):
        row = [*row, block] if row and block == row[-1] + 1 else [block]
        best = max(best, row, key=lambda r: sum(count[b] for b in r))
    ops = {e.seq: e for e in trace.ops if e.seq // BLOCK in best}
    times = min(e.issued for e in ops.values()), max(e.ended for e in ops.values())
    waits = [w for w in trace.waits if times[0] <= w.started and w.ended <= times[1]]
    events = [e for e in trace.events if e.seq in ops] + waits
    return replace(trace, events=sorted(events, key=lambda e: e.started))


def _issued(e: Event) -> float:
    """When an operation was issued; of a group, its last one."""
    return max((part.issued for part in e.parts), default=e.issued)


def _in_place(e: Event) -> bool:
    """Whether an operation has no result of its own. Those between ranks write their order first, and say nothing."""
    return e.dtype is None and e.queue != "network"


def _first(e: Event) -> int:
    """Return the bytes of an operation's first result."""
    return _itemsize(e.dtype) * _product(e.shape) if e.dtype and e.shape is not None else 0


def _itemsize(dtype: str) -> int:
    """Return the bytes of an element.

    >>> _itemsize("float32"), _itemsize("bfloat16"), _itemsize("bool")
    (4, 2, 1)
    """
    return int("".join(filter(str.isdigit, dtype)) or 8) // 8


def _product(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _marks(ops: list[Event], line: str | None) -> list[int]:
    """Return the number of the first operation of each step."""
    if line is not None:
        at = [e.seq for e in ops if line in (e.line, e.where)]
        if not at:
            raise ValueError(f"whatif: an operation must be issued in the line of a step, got none in {line}")
        others = {e.seq for e in ops} - set(at)
        return [n for i, n in enumerate(at) if i == 0 or any(at[i - 1] < o < n for o in others)]
    single = sorted((part for e in ops for part in (e.parts or (e,))), key=lambda p: p.seq)
    return _after_updates(single) or _recurring(single)


def _after_updates(single: list[Event]) -> list[int]:
    """Return where steps begin that end with updates: with writes in place, of which one line's take longest."""
    seconds: dict[Site, float] = defaultdict(float)
    for e in single:
        if _in_place(e) and e.site:
            seconds[e.site] += e.duration
    if not seconds:
        return []
    updates = max(seconds, key=lambda site: seconds[site])
    found = [single[0].seq]
    begun = False
    for e in single:
        begun = begun or e.site == updates
        if begun and e.site not in seconds:
            found.append(e.seq)
            begun = False
    return found if begun or len(found) < 2 else found[:-1]  # operations after the last updates belong to their step


def _recurring(single: list[Event]) -> list[int]:
    """Return where steps begin, if a step is the recurring sequence of operations."""
    kinds = [(part.name, part.site, part.shape, part.device) for part in single]
    places: dict[Hashable, list[int]] = defaultdict(list)
    for i, kind in enumerate(kinds):
        places[kind].append(i)
    n = _times([len(p) for p in places.values()])
    at = min((p for p in places.values() if len(p) == n), key=lambda p: p[0], default=[0]) if n > 1 else [0]
    back = _alike(kinds, at[0], at[1]) if len(at) > 1 else 0
    return [single[i - back].seq for i in at]


def _alike(kinds: Sequence[Hashable], a: int, b: int) -> int:
    """Return how many kinds before two places are the same.

    >>> _alike([1, 2, 3, 4, 5, 2, 3, 4], 3, 7)
    2
    """
    same = 0
    while same < a and kinds[a - 1 - same] == kinds[b - 1 - same] and b - same > a:
        same += 1
    return same


def _times(counts: Iterable[int]) -> int:
    """Return how often the step ran: the most of which nearly all that recurs is a multiple.

    >>> _times([6, 6, 12, 24, 1])
    6
    """
    recur = [c for c in counts if c > 1]
    for n in sorted(set(recur), reverse=True):
        if sum(c for c in recur if c % n == 0) >= _ALL * sum(recur):
            return n
    return 1
