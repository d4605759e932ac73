"""The picture of a prediction: the scaling curve over ranks, and a predicted step of one rank as a timeline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from .._picture.lanes import lanes
from ..axis import Axis, milliseconds
from ..events import Trace
from ..intervals import merged
from ..svg import FAINT, INK, QUIET, colours, document, element, fitted, ink_on, text

__all__ = ["scaling_svg"]

WIDTH, LEFT, RIGHT = 1100.0, 150.0, 40.0
TOP, HEIGHT = 90.0, 260.0  # of the curve
BOX, GAP = 18.0, 6.0
MOST_LANES, MOST_BOXES = 24, 4000
_NETWORK = "#e15759"


def scaling_svg(
    machine: str,
    curve: Sequence[tuple[int, float]],
    ranks: int,
    seconds: float,
    ideal: float,
    error: float,
    trace: Trace,
) -> str:
    """Return the picture as SVG text.

    machine: in words. curve: numbers of ranks with seconds of a step. ideal: seconds of a step on one device.
    """
    head = [
        text(24, 34, f"Predicted: {machine}", 20, font_weight=600),
        text(24, 58, f"{milliseconds(seconds)} a step; replay of the recorded machine: error {error:+.1%}", 13, QUIET),
    ]
    body, bottom = _lanes(trace, TOP + HEIGHT + 90)
    return document(WIDTH, bottom + 40, [*head, *_curve(curve, ranks, ideal), *body], f"Predicted: {machine}")


def _curve(curve: Sequence[tuple[int, float]], ranks: int, ideal: float) -> list[str]:
    """Return step time over ranks, on a logarithmic axis, with the time of one device as the ideal."""
    most = max([s for _, s in curve] + [ideal]) * 1.15 or 1.0
    last = math.log2(max(2, curve[-1][0]))

    def x(n: int) -> float:
        return LEFT + math.log2(n) / last * (WIDTH - LEFT - RIGHT)

    def y(s: float) -> float:
        return TOP + HEIGHT * (1 - s / most)

    parts = [element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(0), y2=y(0), stroke=QUIET)]
    for share in (0.25, 0.5, 0.75, 1.0):
        s = most / 1.15 * share
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(s), y2=y(s), stroke=FAINT))
        parts.append(text(LEFT - 10, y(s) + 4, milliseconds(s), 11, QUIET, text_anchor="end"))
    line = element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(ideal), y2=y(ideal), stroke=INK, stroke_dasharray="5 4")
    parts += [line, text(WIDTH - RIGHT, y(ideal) - 6, "ideal: one device's step", 11, QUIET, text_anchor="end")]
    points = " ".join(f"{x(n):.1f},{y(s):.1f}" for n, s in curve)
    parts.append(element("polyline", points=points, fill="none", stroke=_NETWORK, stroke_width=2.0))
    for n, s in curve:
        title = element("title", escape(f"{n:,} ranks: {milliseconds(s)}, {curve[0][1] / s:.0%} of one rank's speed"))
        parts.append(element("circle", title, cx=x(n), cy=y(s), r=6 if n == ranks else 3.5, fill=_NETWORK))
        parts.append(text(x(n), y(0) + 16, f"{n:,}", 11, QUIET, text_anchor="middle"))
        parts.append(text(x(n), y(s) - 10, f"{curve[0][1] / s:.0%}", 10, QUIET, text_anchor="middle"))
    parts.append(text(LEFT - 10, y(0) + 16, "ranks", 11, QUIET, text_anchor="end"))
    return parts


def _lanes(trace: Trace, top: float) -> tuple[list[str], float]:
    """Return the drawn lanes of a rank's threads and queues, and where they end."""
    axis = Axis(trace.start, trace.span, LEFT, WIDTH - LEFT - RIGHT)
    colour = colours(e.name for e in trace.ops)
    parts = [text(24, top - 16, "A rank", 14, font_weight=600)]
    rows: list[str] = []
    y, drawn = top, 0
    found = lanes(trace)
    for lane in found[:MOST_LANES]:
        network = bool(lane.spans) and lane.spans[0].event.queue == "network"
        rows.append(text(24, y + 13, "network" if network else f"{lane.label} {lane.device}", 11))
        rows.append(element("rect", x=LEFT, y=y, width=axis.width, height=BOX, fill=INK, fill_opacity=0.035))
        for a, b in merged((w.started, w.ended) for w in lane.waits):
            rows.append(element("rect", x=axis.x(a), y=y, width=axis.x(b) - axis.x(a), height=BOX, fill=FAINT))
        if issues := "".join(f"M{x:g} {y + 5:g}v8" for x in sorted({round(axis.x(e.issued), 1) for e in lane.issues})):
            rows.append(element("path", d=issues, stroke=QUIET, stroke_width=0.7))
        for span in lane.spans:
            width = axis.x(span.end) - axis.x(span.start)
            if width < 0.4 or drawn > MOST_BOXES:
                continue
            drawn += 1
            fill = _NETWORK if network else colour[span.event.name]
            title = element(
                "title", escape(f"{span.event.name} {span.event.line}: {milliseconds(span.event.duration)}")
            )
            rows.append(element("rect", title, x=axis.x(span.start), y=y, width=width, height=BOX, fill=fill))
            if label := fitted(span.event.name, 10, width - 6):
                rows.append(text(axis.x(span.start) + 3, y + 13, label, 10, ink_on(fill)))
        y += BOX + GAP
    if len(found) > MOST_LANES:
        rows.append(text(24, y + 13, f"... and {len(found) - MOST_LANES} more lanes", 11, QUIET))
        y += BOX
    return [*parts, *axis.drawn(top - 6, y), *rows], y + 24
