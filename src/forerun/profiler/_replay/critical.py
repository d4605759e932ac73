"""The critical path of a step: the work without which the step would have been shorter, from its end backward."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from .program import NETWORK, Program
from .recorded import Site
from .simulate import Cause, Run

__all__ = ["Share", "path"]


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a step's time. `kind`: "operations", "network", "front end", "wake-up" or "wait"."""

    kind: str
    name: str
    site: Site
    seconds: float  # per step
    after: str = ""  # the operation that it waited for


def path(program: Program, run: Run) -> list[Share]:
    """Return the parts of the time of the later steps, longest first."""
    ends = run.step_ends(program)
    first, last = (ends[0], ends[-1]) if len(ends) > 1 else (0.0, run.seconds)
    steps = max(1, len(ends) - 1)
    found: dict[tuple[str, str, Site], float] = defaultdict(float)
    after: dict[tuple[str, str, Site], str] = {}
    for key, began, ended, reason in _segments(program, run, last):
        if ended <= first:
            break
        found[key] += ended - max(began, first)
        after.setdefault(key, reason)
    shares = [Share(*key, seconds / steps, after.get(key, "")) for key, seconds in found.items() if seconds > 0]
    return sorted(shares, key=lambda s: -s.seconds)


_Segment = tuple[tuple[str, str, Site], float, float, str]


def _segments(program: Program, run: Run, end: float) -> list[_Segment]:
    """Return the path from the end backward, as stretches of time."""
    links: list[Cause] = []
    cause: Cause = _last(run)
    while cause[0]:
        links.append(cause)
        cause = run.pieces[cause[1]].cause if cause[0] == "piece" else _before(run, cause[1])
    found: list[_Segment] = []
    now = end
    for link, earlier in pairwise([*links, ("", 0)]):
        key, began, ended = _stretch(program, run, link)
        if now > ended:  # nothing ran: a thread woke up, or a lane
            found.append((("wake-up", "of a thread", key[2]), ended, now, ""))
        if now > began:
            found.append((key, began, min(ended, now), _name(program, run, earlier)))
        now = min(now, began)
    return found


def _last(run: Run) -> Cause:
    pieces = [(p.ended, "piece", n) for n, p in enumerate(run.pieces)]
    acts = [(a.ended, "act", n) for n, a in enumerate(run.acts)] if not pieces else []
    _, kind, n = max([*pieces, *acts], default=(0.0, "", 0))
    return kind, n


def _before(run: Run, number: int) -> Cause:
    act = run.acts[number]
    return act.cause if act.cause[0] else act.before


def _stretch(program: Program, run: Run, link: Cause) -> tuple[tuple[str, str, Site], float, float]:
    if link[0] == "piece":
        piece = run.pieces[link[1]]
        task = program.tasks[piece.task]
        kind = "network" if task.lane[0] == NETWORK[0] else "operations"
        return (kind, task.name, task.site), piece.started, piece.ended
    act = run.acts[link[1]]
    if act.cause[0]:  # it waited: from then on it was the awaited operation's time
        return ("wait", act.issue.name, act.issue.site), act.ended - act.issue.wake, act.ended
    return ("front end", "Python and issuing", act.issue.site), act.began - act.issue.gap, act.began


def _name(program: Program, run: Run, link: Cause) -> str:
    if link[0] == "piece":
        return program.tasks[run.pieces[link[1]].task].name
    return run.acts[link[1]].issue.name if link[0] else ""
