"""The cost model of a loop: t1 to issue, t2 to run, t3 to notice the end; and the bound of a program."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

from ._devices.lanes import is_on_lane
from ._ranks.late import rank_times
from .blocking_lines import blockers
from .events import Event, Trace
from .intervals import Interval, at_least, fewer_than, length
from .recording import Recording

__all__ = ["Bound", "Cost", "bound", "cost"]

_TELLING = 0.2  # of the time: memory and waits are named first, as they can be changed
_SAYS = {
    "memory": "the memory budget is the limit{at}: smaller batches, fewer arrays kept, or a larger budget",
    "turn": "operations could not run ahead{at}, as memory would have risen above the peak of program order: "
    "release arrays earlier, or issue operations that need less memory first",
    "waits": "waits are the limit{at}: {advice}",
    "front end": "the front end is the limit: hybridize, or issue fewer and larger operations",
    "chain": "one operation at a time: the chain of operations that need one another is the limit",
    "cores": "the cores are the limit: all have work",
    "device": "the device is the limit: it has work all the time",
    "network": "the network is the limit: nothing else ran while it moved data",
    "copies": "copies and files are the limit: nothing else ran meanwhile",
    "nothing": "nothing was run",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """The limit of a program; as text, a sentence.

    Attributes
    ----------
    kind : str
        "memory", "turn", "waits", "front end", "device", "chain", "cores", "network", "copies" or "nothing"; see
        `bound`.
    share : float
        The share of the time.
    line : str or None
        The line of the program, for "memory", "turn" and "waits".
    advice : str
        A change that helps, for "waits".
    rank : int or None
        The rank, of several.

    Examples
    --------
    >>> print(Bound("cores", 0.8))
    80% of the time the cores are the limit: all have work
    """

    kind: str
    share: float
    line: str | None = None
    advice: str = ""
    rank: int | None = None

    def __str__(self) -> str:
        at = f" at line {self.line}" if self.line else ""
        rank = "" if self.rank is None else f"rank {self.rank}: "
        return f"{rank}{self.share:.0%} of the time {_SAYS[self.kind].format(at=at, advice=self.advice)}"


def bound(trace: Trace) -> Bound:
    """Return the limit of a program from a recording of it.

    The kinds are: `memory`, ready operations waited for the memory budget while a core was idle; `turn`, they would
    have raised memory above the peak of program order; `waits`, the time that waits lost (see `blockers`). In the rest
    of the time either nothing ran, because of the `front end`; or a `device` of a plugin computed; or fewer threads ran
    than there are cores, because of the `chain` of dependencies; or the `cores` were busy; or only the `network`
    between ranks was; or only `copies` and files ran. One of the first three is returned if it takes a fifth of the
    time; otherwise the largest of the others is. Of several ranks it is the limit of the one that came latest to
    collectives.

    Parameters
    ----------
    trace : Trace
        A recording of the program.

    Returns
    -------
    Bound
        The kind of the limit, and its share of the time.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     x = np.ones((500, 500))
    ...     y = (x @ x).sum().item()
    >>> 0 < bound(recording.trace).share <= 1
    True
    """
    if len(trace.ranks) > 1:
        slowest = max(rank_times(trace), key=lambda r: (r.late, r.computed)).number
        return replace(bound(trace.of_rank(slowest)), rank=slowest)
    span = _recorded(trace)
    if not trace.pieces or span <= 0:
        return Bound("nothing", 0.0)
    lost = _lost(trace)
    found = max(_blocked(trace, span), lost, key=lambda b: b.share)
    return found if found.share >= _TELLING else _largest(trace, span)


def _largest(trace: Trace, span: float) -> Bound:
    lanes = list(_lanes(trace).values())
    one, all_of = at_least(1, lanes), at_least(max(2, trace.cores), lanes)
    computing = [e for e in trace.pieces if e.queue == "compute"]
    device, compute = (
        length((e.started, e.ended) for e in some) for some in (filter(is_on_lane, computing), computing)
    )
    any_of = length((e.started, e.ended) for e in trace.pieces)
    local = length((e.started, e.ended) for e in trace.pieces if e.queue != "network")
    shares = {
        "front end": span - any_of, "device": device, "cores": all_of, "chain": one - all_of,
        "copies": local - compute, "network": any_of - local,
    }  # fmt: skip
    if trace.cores == 1:  # one at a time is all that there is
        shares["cores"], shares["chain"] = one, 0.0
    kind = max(shares, key=shares.__getitem__)
    return Bound(kind, shares[kind] / span)


def _lanes(trace: Trace) -> dict[int, list[Interval]]:
    """When threads of the processor computed."""
    lanes: dict[int, list[Interval]] = {}
    for e in trace.pieces:
        if e.queue == "compute" and not is_on_lane(e):
            lanes.setdefault(e.thread, []).append((e.started, e.ended))
    return lanes


def _recorded(trace: Trace) -> float:
    """Return seconds from the first issue to the last end; of a sample, of each block of operations."""
    if not trace.sampled:
        return trace.span
    stretches: dict[int, list[float]] = {}
    for e in trace.ops:
        times = stretches.setdefault(e.seq // 1024, [e.issued, e.ended])
        times[0], times[1] = min(times[0], e.issued), max(times[1], e.ended)
    return length((a, b) for a, b in stretches.values())


def _lost(trace: Trace) -> Bound:
    """Return the time that all waits lost, with the line that lost most."""
    found = blockers(trace)
    if not found:
        return Bound("waits", 0.0)
    share = sum(b.lost for b in found) / (trace.span or 1e-9)
    return Bound("waits", min(1.0, share), found[0].line.where, found[0].advice)


def _blocked(trace: Trace, span: float) -> Bound:
    """Return how long ready operations waited while a core was idle: for memory, or for program order."""
    start = trace.start
    idle = fewer_than(trace.cores, _lanes(trace).values(), (start, start + trace.span))
    ended = trace.ends()
    found = [_blocked_by("memory", [e for e in trace.ops if e.over_budget], ended, idle, span)]
    found.append(_blocked_by("turn", [e for e in trace.ops if e.held and not e.over_budget], ended, idle, span))
    return found[0] if found[0].share >= _TELLING else found[1]


def _blocked_by(kind: str, ops: list[Event], ended: dict[int, float], idle: list[Interval], span: float) -> Bound:
    """The share of the time in which one of these was ready and a core idle; the line is of the one held longest."""
    held: list[Interval] = []
    longest, line = 0.0, None
    for e in ops:
        ready = max([e.planned or e.issued, *(ended[d] for d in e.deps if d in ended)])
        if ready < e.started:
            held.append((ready, e.started))
            if e.started - ready > longest:
                longest, line = e.started - ready, e.where
    return Bound(kind, at_least(2, [held, idle]) / span, line)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a step of a loop; as text, a few sentences. Times are seconds per step, but for `seconds`.

    Attributes
    ----------
    steps : int
        The number of steps.
    t1 : float
        The part of the front end: Python, and issuing.
    t2 : float
        The part of the back end: at least one operation ran.
    t3 : float
        The time from the end of the operation that a wait needed until the front end went on, per wait.
    waits : float
        The number of waits per step.
    seconds : float
        The measured time of all steps.
    bound : Bound
        The limit.

    Examples
    --------
    >>> found = Cost(10, t1=1e-5, t2=3e-5, t3=2e-5, waits=0.1, seconds=4e-4, bound=Bound("chain", 0.9))
    >>> round(found.waiting_each, 6), round(found.waiting_once, 6), found.back_end_is_slower
    (0.0006, 0.00033, True)
    """

    steps: int
    t1: float
    t2: float
    t3: float
    waits: float
    seconds: float
    bound: Bound

    @property
    def waiting_each(self) -> float:
        """The model's time of all steps with a wait in each: n (t1 + t2 + t3)."""
        return self.steps * (self.t1 + self.t2 + self.t3)

    @property
    def waiting_once(self) -> float:
        """The model's time with one wait at the end: t1 + n t2 + t3, or n t1 + t2 + t3 if issuing takes longer."""
        n, t1, t2 = self.steps, self.t1, self.t2
        return max(t1 + n * t2, n * t1 + t2) + self.t3

    @property
    def back_end_is_slower(self) -> bool:
        """Whether n t2 > (n - 1) t1: then the front end is always ahead."""
        return self.steps * self.t2 > (self.steps - 1) * self.t1

    def __str__(self) -> str:
        us = [f"{t * 1e6:,.2f} us" for t in (self.t1, self.t2, self.t3)]
        n, m = self.steps, self.steps - 1
        pace = (
            f"{n:,} t2 > {m:,} t1: the front end runs ahead, and issuing costs nothing"
            if self.back_end_is_slower
            else f"{n:,} t2 <= {m:,} t1: the back end runs dry and waits for the front end, which sets the pace"
        )
        return "\n".join(
            [
                f"t1 {us[0]} to issue, t2 {us[1]} to run, t3 {us[2]} to come back; {self.waits:,.2f} waits per step",
                f"{n:,} steps: measured {self.seconds * 1e3:,.2f} ms; by the model {self.waiting_each * 1e3:,.2f} ms "
                f"with a wait in each, {self.waiting_once * 1e3:,.2f} ms with one at the end",
                pace,
                str(self.bound),
            ]
        )


def cost(step: Callable[[], object], n: int = 100) -> Cost:
    """Run a step of a loop `n` times and return its cost, and its bound.

    The first step is not counted. The steps are recorded, so parts of very small operations are a little too long. An
    error of the step is raised.

    Parameters
    ----------
    step : callable
        The step, a function without parameters.
    n : int, default 100
        How many steps.

    Returns
    -------
    Cost
        The times of a step and their parts.

    Raises
    ------
    ValueError
        For n < 1.
    RuntimeError
        While something else is recorded.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> x = np.ones((1, 2))
    >>> found = profiler.cost(lambda: (x + 1).wait(), 50)
    >>> found.steps, found.t1 > 0, found.waiting_once < found.waiting_each
    (50, True, True)
    """
    if n < 1:
        raise ValueError(f"cost: n must be at least 1, got {n}")
    step()
    with Recording() as recording:
        begun = time.perf_counter()
        for _ in range(n):
            step()
        issued = time.perf_counter()
    return model(recording.trace, n, begun, issued)


def model(trace: Trace, n: int, begun: float, issued: float) -> Cost:
    """Return the cost of `n` steps that were recorded: the front end ran them from `begun` to `issued`."""
    found = blockers(trace)
    waited = sum(b.line.seconds for b in found)
    ran = length((e.started, e.ended) for e in trace.pieces)
    whole = trace.issued / trace.recorded if trace.sampled else 1.0
    back = _ways_back(trace)
    waits = sum(b.line.waits for b in found)
    return Cost(
        n,
        max(0.0, issued - begun - waited) / n,
        ran * whole / n,
        sum(back) / len(back) if back else 0.0,
        waits / n,
        max(issued, trace.start + trace.span) - begun,
        bound(trace),
    )


def _ways_back(trace: Trace) -> list[float]:
    """Return for each wait the seconds from the end of the awaited op, or of the last op, to the end of the wait."""
    ended = trace.ends()
    ends = sorted(ended.values())
    found = []
    for wait in trace.waits:
        last = bisect_right(ends, wait.ended)
        end = ended.get(wait.waited) or (ends[last - 1] if last else 0.0)
        if end > wait.started:
            found.append(max(0.0, wait.ended - end))
    return found
