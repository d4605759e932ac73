"""Marks: the rectangles of a lane. Ops too short to be seen one by one are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..axis import Axis, milliseconds
from .lanes import Span

if TYPE_CHECKING:
    from ..events import Event

__all__ = ["Mark", "marks", "tooltip"]


@dataclass(slots=True)
class Mark:
    """One rectangle: an op or a wait, or a run of short ones."""

    x: float
    end: float
    spans: list[Span]

    @property
    def width(self) -> float:
        """Pixels; at least a visible line."""
        return max(self.end - self.x, 0.8)

    @property
    def name(self) -> str:
        """The name of the operation that took most of the time."""
        time: dict[str, float] = {}
        for s in self.spans:
            time[s.event.name] = time.get(s.event.name, 0) + s.end - s.start
        return max(time, key=time.__getitem__)

    def title(self, start: float) -> str:
        """Return the tooltip: the op, or the counts of ops by name."""
        if len(self.spans) == 1:
            return tooltip(self.spans[0].event, start)
        first, last = self.spans[0].start, self.spans[-1].end
        kinds = Counter(s.event.name for s in self.spans).most_common(6)
        names = ", ".join(f"{count} {name}" for name, count in kinds)
        kind = f"{self.spans[0].event.kind}s"
        return f"{len(self.spans):,} {kind} in {milliseconds(last - first)}\n{names}"


def marks(spans: Iterable[Span], axis: Axis, pixel: float) -> list[Mark]:
    """Return the rectangles of a lane's spans, which do not overlap and are in order of time.

    Neighbours that are narrower than `pixel` and less than that apart become one; with 0 none do.
    """
    found: list[Mark] = []
    for s in spans:
        x, end = axis.x(s.start), axis.x(s.end)
        last = found[-1] if found else None
        short = end - x < pixel
        if last and short and x - last.end < pixel and (len(last.spans) > 1 or last.end - last.x < pixel):
            last.end = end
            last.spans.append(s)
        else:
            found.append(Mark(x, end, [s]))
    return found


def tooltip(e: Event, start: float) -> str:
    """Name, line and times of an event; times count from `start`."""
    lines = [f"{e.name}  {milliseconds(e.duration)}", e.where]
    if e.kind != "wait":
        lines[0] += f"  (op {e.seq})"
        lines.append(f"issued at {milliseconds(e.issued - start)}")
    did = "waited" if e.kind == "wait" else "ran"
    lines.append(f"{did} from {milliseconds(e.started - start)} to {milliseconds(e.ended - start)}")
    return "\n".join(lines)
