"""Which rank the others waited for: of each collective, when each rank came to it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..intervals import length

if TYPE_CHECKING:
    from ..events import Event, Rank, Trace

__all__ = ["RankTimes", "rank_times", "rank_title"]


@dataclass(frozen=True, slots=True)
class RankTimes:
    """The times of a rank, in seconds; `late`: after the first rank, in all collectives together."""

    number: int
    host: str
    computed: float
    waited: float  # the program, for values
    network: float
    late: float
    last: int  # how often it came last
    collectives: int


def rank_times(trace: Trace) -> list[RankTimes]:
    """Return the times of each rank of a trace, and how often the others waited for it."""
    late: dict[int, float] = defaultdict(float)
    last: dict[int, int] = defaultdict(int)
    groups = _together(trace)
    for group in groups:
        came = {e.rank: e.started for e in group}
        for rank, at in came.items():
            late[rank] += at - min(came.values())
        last[max(came, key=lambda r: came[r])] += 1
    return [
        RankTimes(
            r.number, r.host,
            length((e.started, e.ended) for e in trace.pieces if e.rank == r.number and e.queue != "network"),
            length((e.started, e.ended) for e in trace.waits if e.rank == r.number),
            length((e.started, e.ended) for e in trace.pieces if e.rank == r.number and e.queue == "network"),
            late[r.number], last[r.number], len(groups),
        )
        for r in trace.ranks
    ]  # fmt: skip


def rank_title(trace: Trace, of: Rank) -> str:
    """Return the words for a rank in a picture: its host where there are several, and a remark if it has one."""
    parts = [f"rank {of.number}"]
    if len({r.host for r in trace.ranks}) > 1:
        parts.append(f"host {of.host}")
    if of.error:
        parts.append(f"times within {of.error * 1e6:,.0f} us")
    if not of.complete:
        parts.append("died while it recorded")
    return ", ".join(parts)


def _together(trace: Trace) -> list[list[Event]]:
    """Return the operations of each collective on all ranks, by their order; none of a sample, which has gaps."""
    if trace.sampled:
        return []
    rows = [
        [e for e in sorted(trace.ops, key=lambda e: e.seq) if e.rank == r.number and _collective(e)]
        for r in trace.ranks
    ]
    return [list(group) for group in zip(*rows) if len({e.name for e in group}) == 1]


def _collective(e: Event) -> bool:
    return e.queue == "network" and e.name not in ("send", "recv")
