"""The timeline: who issued, who ran, who waited, as one picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from .._ranks.late import rank_title
from ..axis import Axis, counted, milliseconds
from ..svg import INK, QUIET, colours, document, element, fitted, ink_on, text, text_width
from .lanes import Lane, Span, lanes
from .marks import Mark, marks

if TYPE_CHECKING:
    from ..events import Event, Trace

__all__ = ["figures", "picture"]

WIDTH, LEFT, RIGHT, TOP = 1200.0, 190.0, 30.0, 82.0
BOX, GAP = 26.0, 14.0  # heights: of a rectangle, and between lanes
_few = 500  # ops up to which each has a rectangle of its own
_limit = 900_000  # characters
_hatch = (
    '<defs><pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="#eef0f3"/>'
    '<path d="M-1 7 7 -1M-1 1 1 -1M5 7 7 5" stroke="#c3cad2"/></pattern></defs>'
)


def picture(trace: Trace, title: str) -> str:
    """Return the timeline as SVG text. Ops narrower than a pixel are joined with their neighbours."""
    pixel = 0.8 if len(trace.ops) > _few else 0.0
    drawn = _picture(trace, title, pixel)
    while len(drawn) > _limit and pixel < 64:
        pixel = max(0.8, 2 * pixel)
        drawn = _picture(trace, title, pixel)
    return drawn


def _picture(trace: Trace, title: str, pixel: float) -> str:
    axis = Axis(trace.start, trace.span, LEFT, WIDTH - LEFT - RIGHT)
    colour = colours(e.name for e in trace.ops)
    rows: list[str] = []
    y, rank = TOP, None
    for lane in (found := lanes(trace)):
        if lane.rank is not None and lane.rank != rank:
            rank = lane.rank
            rows += _title(next(rank_title(trace, r) for r in trace.ranks if r.number == rank), y)
            y += 30
        draw: Callable[..., tuple[list[str], float]] = _front if lane.front else _worker
        parts, y = draw(lane, axis, colour, pixel, y)
        rows += parts
    head = [text(24, 36, title, 20, font_weight=600), text(24, 58, figures(trace, found), 13, QUIET)]
    legend, bottom = _legend(colour, y + 44, bool(trace.waits))
    body = [_hatch, *head, *axis.drawn(TOP - 6, y), *rows, *legend]
    return document(WIDTH, bottom, body, title)


def figures(trace: Trace, found: list[Lane]) -> str:
    """Return the timeline in numbers."""
    span = trace.span or 1e-9
    waited = sum(lane.waited for lane in found)
    parts = [milliseconds(trace.span), counted(len(trace.ops), "op")]
    if len(trace.ranks) > 1:
        parts.insert(0, counted(len(trace.ranks), "rank"))
    parts.append(f"{counted(len(trace.waits), 'wait')}, {milliseconds(waited)}")
    parts.append(f"two or more lanes busy for {trace.overlap() / span:.0%} of the time")
    if trace.sampled:
        parts.append(f"a sample: {trace.recorded:,} of {trace.issued:,} operations")
    if trace.unfinished:
        parts.append(f"{counted(len(trace.unfinished), 'op')} had not ended")
    return "   ·   ".join(parts)


def _labels(y: float, name: str, detail: str) -> list[str]:
    return [text(24, y + 13, name, 13, font_weight=600), text(24, y + 28, detail, 11, QUIET)]


def _title(words: str, y: float) -> list[str]:
    """Return the title above the lanes of a rank."""
    ground = element("rect", x=24.0, y=y, width=WIDTH - 24 - RIGHT, height=18.0, fill=INK, fill_opacity=0.07)
    return [ground, text(30, y + 13, words, 12, font_weight=600)]


def _front(lane: Lane, axis: Axis, colour: dict[str, str], pixel: float, y: float) -> tuple[list[str], float]:
    """Ticks of the ops issued, waits, and below them the ops that ran while the thread waited."""
    share = f"{lane.waited / (axis.span or 1e-9):.0%} in waits"
    parts = _labels(y, lane.label, share)
    parts += _ticks(lane.issues, axis, colour, y)
    parts += _wait_boxes(lane.waits, axis, pixel, y + 14)
    y += 14 + 20
    if lane.spans:
        parts.append(text(LEFT - 14, y + 18, "helps", 11, QUIET, text_anchor="end"))
        parts += _op_boxes(lane.spans, axis, colour, pixel, y)
        y += BOX
    return parts, y + GAP


def _worker(lane: Lane, axis: Axis, colour: dict[str, str], pixel: float, y: float) -> tuple[list[str], float]:
    share = f"{lane.device}, ".lstrip(", ") + f"{lane.busy / (axis.span or 1e-9):.0%} busy"
    parts = _labels(y, lane.label, share) + _op_boxes(lane.spans, axis, colour, pixel, y)
    return parts, y + BOX + GAP


def _ticks(ops: list[Event], axis: Axis, colour: dict[str, str], y: float) -> list[str]:
    """Return a line where each op was issued, of its colour."""
    places: dict[float, str] = {}
    for e in ops:
        places.setdefault(round(axis.x(e.issued) * 2) / 2, e.name)
    by_name: dict[str, list[float]] = {}
    for x, name in places.items():
        by_name.setdefault(name, []).append(x)
    return [
        element("path", class_="issue", d="".join(f"M{x:g} {y:g}v11" for x in xs), stroke=colour[name])
        for name, xs in by_name.items()
    ]


def _wait_boxes(waits: list[Event], axis: Axis, pixel: float, y: float) -> list[str]:
    spans = [Span(w, w.started, w.ended) for w in waits]
    found = marks(spans, axis, pixel)
    return [_box(m, axis, "url(#wait)", y, 16.0, "wait", f"{m.name} {m.spans[0].event.line}") for m in found]


def _op_boxes(spans: list[Span], axis: Axis, colour: dict[str, str], pixel: float, y: float) -> list[str]:
    ground = element("rect", x=LEFT, y=y, width=axis.width, height=BOX, fill=INK, fill_opacity=0.035)
    return [ground, *(_box(m, axis, colour[m.name], y, BOX, "op", m.name) for m in marks(spans, axis, pixel))]


def _box(mark: Mark, axis: Axis, fill: str, y: float, height: float, kind: str, words: str) -> str:
    """Return a rectangle, with words if they fit, and a tooltip."""
    # A hair of white keeps neighbours of one colour apart.
    width = mark.width - 0.5 if mark.width > 3 else mark.width
    box = element("rect", x=mark.x, y=y, width=width, height=height, fill=fill, class_=kind)
    label = fitted(words, 11, width - 8) if len(mark.spans) == 1 else ""
    ink = INK if kind == "wait" else ink_on(fill)
    shown = text(mark.x + 4, y + height / 2 + 4, label, 11, ink) if label else ""
    return element("g", element("title", escape(mark.title(axis.start))) + box + shown)


def _legend(colour: dict[str, str], y: float, waits: bool) -> tuple[list[str], float]:
    """Return a swatch for each name, in as many lines as it takes; and where the picture ends."""
    parts, x = [], LEFT
    for name, fill in [*sorted(colour.items()), *([("wait", "url(#wait)")] if waits else [])]:
        width = 18 + text_width(name, 12) + 18
        if x + width > WIDTH - RIGHT:
            x, y = LEFT, y + 20
        parts.append(element("rect", x=x, y=y - 10, width=12.0, height=12.0, rx=2, fill=fill))
        parts.append(text(x + 18, y, name, 12))
        x += width
    return parts, y + 24
