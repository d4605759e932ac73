"""Predictions: the time of a program's step on another machine, its error, and the line to change first."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePath
from statistics import median
from typing import Any

from ..axis import milliseconds
from ..causes import ADVICE
from ..events import Event, Trace
from .critical import Share, path
from .machine import Link, Machine
from .program import LINKS, NETWORK, Program, made
from .recorded import Recorded, Site
from .scaling_svg import scaling_svg
from .simulate import Run, run

__all__ = ["Change", "Prediction", "whatif"]

LIMIT = 6000  # operations of a simulated device
RANKS = tuple(2**k for k in range(11))  # of the scaling curve: 1 to 1,024
_DRAWN = 3  # steps in the picture
CHECKED = 0.15  # benchmarks/processes/whatif.py compares predictions with runs: its aim
_CHECKED_DEVICES, _CHECKED_RANKS = 2, 4
_ADVICE = {
    "operations": "its operations are the limit: fewer or smaller ones, float16 or bfloat16, a faster device",
    "network": "the network is the limit: larger batches between updates, gradients in bfloat16, a faster link",
    "front end": "issuing is the limit: hybridize, or issue fewer and larger operations",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A line to change, and the time of a step if its part of the work took half the time, or if it did not wait.

    Attributes
    ----------
    kind : {"operations", "network", "front end", "wait"}
        The part of the line's work.
    site : (str, int) or None
        The file and the line.
    seconds : float
        The time of a step with the change.
    gain : float
        The share of a step that it saves.
    advice : str
        A change that helps.

    Examples
    --------
    >>> print(Change("wait", ("train.py", 12), 0.003, 0.25, "read the loss later"))
    train.py:12: without its waits a step would take 3.00 ms (25% less); read the loss later
    """

    kind: str
    site: Site
    seconds: float
    gain: float
    advice: str

    @property
    def where(self) -> str:
        """The line as "file:line", without the folder."""
        return f"{PurePath(self.site[0]).name}:{self.site[1]}" if self.site else "?"

    def __str__(self) -> str:
        what = "without its waits" if self.kind == "wait" else f"with its {self.kind} twice as fast"
        then = f"a step would take {milliseconds(self.seconds)} ({self.gain:.0%} less)"
        return f"{self.where}: {what} {then}; {self.advice}"


@dataclass(slots=True)
class _State:
    """The parts of a prediction that are computed on demand."""

    curve: list[tuple[int, float]] = field(default_factory=list)
    changes: list[Change] | None = None


class Prediction:
    """A step of a recorded program on another machine; as text, with its error and the line to change. Made by
    `whatif`.

    Times are seconds.

    Parameters
    ----------
    recorded : Recorded
        The steps of the recording.
    machine : Machine
        The machine.

    Attributes
    ----------
    seconds : float
        The time of a step there.
    recorded : float
        The time of a step in the recording, the median; `quartiles` has those of half of the steps.
    replayed : float
        The time of a step by the same replay on the recorded machine. `error`, its relative difference from `recorded`,
        tells how good the replay is.
    alone : float
        The time of a step on one device of one rank.
    steps : int
        The number of recorded steps.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> x = np.ones((64, 64))
    >>> with profiler.record() as recording:
    ...     for _ in range(4):
    ...         y = (x @ x).wait()
    >>> found = profiler.whatif(recording.trace, ranks=4)
    >>> [ranks for ranks, seconds in found.scaling()][:3], 0 < found.efficiency
    ([1, 2, 4], True)
    """

    def __init__(self, recorded: Recorded, machine: Machine) -> None:
        self.machine = machine
        self._run = recorded
        self.recorded, self.quartiles, self.steps = recorded.seconds, recorded.quartiles, recorded.steps
        self.replayed = _seconds(recorded, None)
        self.alone = _seconds(recorded, Machine()) if recorded.ranks > 1 else self.replayed
        self.program: Program = made(recorded, machine)
        self.simulated: Run = run(self.program)
        self.seconds = _step(self.program, self.simulated)
        self._state = _State()

    @property
    def error(self) -> float:
        """How much the replay of the recorded machine differs from the recording, as a share of it."""
        return self.replayed / self.recorded - 1 if self.recorded else 0.0

    @property
    def uncertainty(self) -> float:
        """Return the seconds by which the prediction may be wrong: the error of the replay, and at least 15 %."""
        return max(abs(self.error), CHECKED) * self.seconds

    @property
    def checked(self) -> bool:
        """Whether benchmarks/processes/whatif.py compares predictions for as many devices and ranks with runs."""
        return self.machine.devices <= _CHECKED_DEVICES and self.machine.ranks <= _CHECKED_RANKS

    @property
    def efficiency(self) -> float:
        """The time of a step on one device over the time there: each device has as much data."""
        return self.alone / self.seconds if self.seconds else 1.0

    @property
    def speed(self) -> float:
        """How many times as many examples a second as on one device."""
        return self.efficiency * self.machine.devices * self.machine.ranks

    @cached_property
    def waits(self) -> list[Share]:
        """Return the parts of a step's time on the critical path, longest first."""
        return path(self.program, self.simulated)

    def scaling(self) -> list[tuple[int, float]]:
        """Return numbers of ranks with the seconds of a step, from 1 to 1,024, or to the machine's if it has more."""
        if not self._state.curve:
            ranks = sorted({*RANKS, self.machine.ranks})
            self._state.curve = [(n, _seconds(self._run, replace(self.machine, ranks=n))) for n in ranks]
        return self._state.curve

    def changes(self) -> list[Change]:
        """Return lines to change, those that gain most first: each was replayed with less work there."""
        if self._state.changes is None:
            self._state.changes = _changes(self)
        return self._state.changes

    @property
    def trace(self) -> Trace:
        """The predicted run of a rank as a trace, for `timeline`, `report` and `graph`."""
        return _trace(self.program, self.simulated)

    @property
    def svg(self) -> str:
        """A picture: the scaling curve to 1,024 ranks, and a step of a rank as a timeline."""
        ends = self.simulated.step_ends(self.program)
        since = ends[-1 - _DRAWN] if len(ends) > _DRAWN else 0.0
        drawn = Trace([e for e in self.trace.events if e.started >= since], {})
        figures = self.machine.ranks, self.seconds, self.alone, self.error
        return scaling_svg(str(self.machine), self.scaling(), *figures, drawn)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the picture. ValueError for another ending than .svg."""
        if Path(file).suffix.lower() != ".svg":
            raise ValueError(f"whatif: path must end in .svg, got {os.fspath(file)!r}")
        Path(file).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<prediction of {milliseconds(self.seconds)} a step, {self.machine}>"

    def __str__(self) -> str:
        return "\n".join([*self._head(), "", *self._table(), "", *self._curve(), "", *self._advice()])

    def _head(self) -> list[str]:
        low, high = self.quartiles
        on = f" on {self._run.ranks} ranks" if self._run.ranks > 1 else ""
        known = (
            ""
            if self.checked
            else ", beyond the 2 devices and 4 ranks that benchmarks/processes/whatif.py compares with runs"
        )
        return [
            f"recorded: {milliseconds(self.recorded)} a step{on} (half of {self.steps} steps: {milliseconds(low)} to "
            f"{milliseconds(high)})",
            f"replayed: {milliseconds(self.replayed)} a step on the recorded machine, an error of {self.error:+.1%}",
            f"predicted: {milliseconds(self.seconds)} a step on {self.machine}; +- {milliseconds(self.uncertainty)}"
            f"{known}",
            f"{self.efficiency:.0%} of a device's speed, {self.speed:,.1f} x as many examples a second",
        ]

    def _table(self, limit: int = 8) -> list[str]:
        rows = [("critical path", "ms a step", "share")]
        for s in self.waits[:limit]:
            where = f"{PurePath(s.site[0]).name}:{s.site[1]}" if s.site else "?"
            work = s.kind in ("network", "operations")
            behind = f", after {s.after}" if s.after and s.after != s.name and work else ""
            share = s.seconds / (self.seconds or 1.0)
            rows.append((f"{where}  {s.kind}: {s.name}{behind}", f"{s.seconds * 1e3:,.3f}", f"{share:.0%}"))
        return _columns(rows)

    def _curve(self) -> list[str]:
        first = self.scaling()[0][1]
        rows = [("ranks", "ms a step", "of ideal")]
        rows += [(f"{n:,}", f"{s * 1e3:,.3f}", f"{first / s:.0%}") for n, s in self.scaling()]
        return _columns(rows)

    def _advice(self) -> list[str]:
        found = self.changes()
        if not found:
            return ["no single line is worth a change"]
        return [f"change next  {found[0]}", *(f"then         {change}" for change in found[1:3])]


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([r[0].ljust(widths[0]), r[1].rjust(widths[1]), r[2].rjust(widths[2])]) for r in rows]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def whatif(
    trace: Trace,
    devices: int = 1,
    ranks: int = 1,
    link: str = "25GB/s,2us",
    collective: str = "ring",
    local_link: str | None = None,
    step: str | None = None,
    slowdown: float = 1.0,
    cores: float | None = None,
) -> Prediction:
    """Predict a step of a recorded program on another machine, by a replay.

    The recorded operations are replayed with their durations and dependencies: each lane takes the oldest that is
    ready, each thread of the program issues and waits as in the recording. Every device of every rank has as much data
    as the recorded one, and gradients are summed over all of them: those that the line of the updates reads.

    Parameters
    ----------
    trace : Trace
        A recording of some steps of a loop on one device, or of several ranks with one device each.
    devices, ranks : int
        Devices of a rank, and ranks.
    link : str
        Between ranks: bytes a second and latency, as "25GB/s,2us". If messages take a core, too, bytes that it copies
        and adds a second, and its time for a call: "8GB/s,1us,copy=4GB/s,call=20us".
    collective : str
        How ranks sum: "ring", "tree", "halving" or "best".
    local_link : str, optional
        Between devices of a rank; without it they share memory.
    step : str, optional
        The line whose first operation begins a step, as "train.py:12". Without it, a step is the recurring sequence of
        operations.

    slowdown : float
        How many times as long an operation takes while all devices and ranks run: they may share memory and caches.
    cores : float, optional
        Cores of processors that all devices and ranks share, where they run on one machine. Operations and Python take
        longer while there is more of them than cores; messages between ranks have the cores that these leave.

    Returns
    -------
    Prediction
        As text: the times with their error, the critical path, the scaling curve, and the line to change next.

    Raises
    ------
    ValueError
        If nothing was recorded; for a link, collective or line that there is not.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> x = np.ones((64, 64))
    >>> with profiler.record() as p:
    ...     for _ in range(4):
    ...         y = (x @ x).wait()
    >>> found = profiler.whatif(p.trace, devices=2)
    >>> found.steps, found.machine.devices, found.seconds > 0
    (4, 2, True)
    """
    local = None if local_link is None else Link.parse(local_link)
    machine = Machine(devices, ranks, Link.parse(link), collective, local, slowdown, cores)
    return Prediction(Recorded.of(trace, step).typical().cut(LIMIT), machine)


def _step(program: Program, simulated: Run) -> float:
    """Return the seconds of a step, from end to end."""
    ends = simulated.step_ends(program)
    return median(b - a for a, b in pairwise(ends)) if len(ends) > 1 else simulated.seconds


def _seconds(recorded: Recorded, machine: Machine | None) -> float:
    program = made(recorded, machine)
    return _step(program, run(program))


def _changes(found: Prediction) -> list[Change]:
    """Replay the program with less work in the lines on the critical path."""
    lines = dict.fromkeys((s.kind, s.site) for s in found.waits if s.kind in _ADVICE and s.site)
    waits = {("wait", i.site): i.cause for thread in found.program.threads for i in thread if i.task < 0 and i.site}
    changes = []
    for kind, site in [*list(lines)[:6], *list(waits)[:6]]:
        program = made(found._run, found.machine)
        _lighten(program, kind, site)
        seconds = _step(program, run(program))
        gain = 1 - seconds / found.seconds if found.seconds else 0.0
        advice = _ADVICE.get(kind) or ADVICE.get(waits.get((kind, site), ""), "")
        if gain >= 0.005 and advice:
            changes.append(Change(kind, site, seconds, gain, advice))
    return sorted(changes, key=lambda c: -c.gain)


def _lighten(program: Program, kind: str, site: Site) -> None:
    """Halve the work of a kind in a line, or take its waits away."""
    if kind in ("operations", "network"):
        for task in program.tasks:
            on_network = task.lane in (NETWORK, LINKS)
            if task.site == site and on_network == (kind == "network"):
                task.pieces, task.core = tuple(p / 2 for p in task.pieces), task.core / 2
    for thread in program.threads:
        for issue in thread:
            if issue.site == site and kind == "front end":
                issue.gap /= 2
            elif issue.site == site and kind == "wait" and issue.task < 0:
                issue.needs, issue.wake = (), 0.0


def _trace(program: Program, simulated: Run) -> Trace:
    """Return the run as events: threads of the program have the first numbers, then each server of a lane one."""
    threads = len(program.threads)
    devices = max((d for d, _ in program.servers), default=0) + 1  # the network's lanes come below all others
    number: dict[tuple[Any, int], int] = {}
    issued = {a.issue.task: a for a in simulated.acts if a.issue.task >= 0}
    deps: Callable[[int], tuple[int, ...]] = lambda t: tuple(d + 1 for d in program.tasks[t].deps)
    events: list[Event] = []
    for piece in sorted(simulated.pieces, key=lambda p: p.task):
        task, act = program.tasks[piece.task], issued[piece.task]
        if piece.server < 0:
            thread = act.thread
        else:
            thread = number.setdefault((task.lane, piece.server), threads + len(number))
        device = task.lane[0] if task.lane[0] >= 0 else devices
        queue = task.lane[1] if task.lane[1] in ("compute", "copy", "io") else "network"
        first = not events or events[-1].seq != piece.task + 1
        event = Event(
            "op", piece.task + 1, task.name, task.site, thread, device, queue, act.began, piece.started, piece.ended,
            deps=deps(piece.task), issuer=act.thread,
        )  # fmt: skip
        if len(task.pieces) > 1:
            if first:
                events.append(replace(event, ended=simulated.ended[piece.task]))
            event = replace(event, kind="tile")
        events.append(event)
    for a in simulated.acts:
        if a.cause[0]:
            times = a.began, a.began, a.ended
            events.append(Event("wait", 0, a.issue.name, a.issue.site, a.thread, 0, None, *times, cause=a.issue.cause))
    trace = Trace.from_events(events, {})
    trace.cores = sum(n for (d, queue), n in program.servers.items() if d >= 0 and queue == "compute")
    trace.recorded = trace.issued = len(program.tasks)
    return trace
