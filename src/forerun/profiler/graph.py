"""The dependency graph of a trace: which op read the results of which."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from xml.sax.saxutils import escape

from .events import Event, Trace
from .layers import Node, layered
from .marks import tooltip
from .places import places
from .svg import INK, QUIET, document, element, fitted, text, text_width

__all__ = ["graph", "inputs"]

Point = tuple[float, float]

MARGIN, TOP = 28.0, 78.0
BOX, ROW, GAP, BEND = 40.0, 84.0, 22.0, 14.0  # heights of a box and a layer; room beside a box and an edge
_tints = (("#e8f0f9", "#4e79a7"), ("#fdeedd", "#e0801f"), ("#e6f3e4", "#4c9344"), ("#f4e8f2", "#a0659a"))
_tip = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0.8 7.5 4 0 7.2z" fill="#8a97a5"/></marker></defs>'
)


def graph(
    trace: Trace, path: str | os.PathLike[str] | None = None, title: str = "Dependencies", limit: int = 400
) -> str:
    """A picture of the ops of a trace as SVG text: an arrow leads from an op to each op that read its result.

    It reads from top to bottom; the colour of a box is its device. Arrays made before the trace began are left out.

    path: where to write the picture, too. limit: how many ops are drawn, the first ones.

    >>> from forerun import np, profiler
    >>> x, y = np.ones((1, 2)), np.ones((1, 2))
    >>> with profiler.record() as p:
    ...     z = x * y + 2
    >>> picture = profiler.graph(p.trace, title="z = x * y + 2")
    >>> "multiply" in picture, "add" in picture
    (True, True)
    """
    ops = {e.seq: e for e in sorted(trace.ops, key=lambda e: e.seq)[:limit]}
    picture = _picture(trace, ops, title)
    if path is not None:
        Path(path).write_text(picture, encoding="utf-8")
    return picture


def inputs(ops: dict[int, Event]) -> dict[int, list[int]]:
    """The ops that each op read from, without those that are not there."""
    return {seq: [d for d in e.deps if d in ops] for seq, e in ops.items()}


def _picture(trace: Trace, ops: dict[int, Event], title: str) -> str:
    layers = layered(inputs(ops), key=lambda seq: (ops[seq].device, seq))
    widths = {seq: _width(e) for seq, e in ops.items()}

    def room(node: Node) -> float:
        return BEND if isinstance(node, tuple) else widths[node] + GAP

    across = places(layers, room)
    inner = max((x + room(node) / 2 for node, x in across.items()), default=0.0)
    note = _note(trace, ops)
    width = max(inner, text_width(title, 20), text_width(note, 13)) + 2 * MARGIN
    left = (width - inner) / 2
    at = {
        node: (left + across[node], TOP + BOX / 2 + i * ROW)
        for i, row in enumerate(layers.rows)
        for node in row
    }
    legend, bottom = _legend(trace, ops, TOP + len(layers.rows) * ROW - ROW + BOX)
    head = [text(MARGIN, 36, title, 20, font_weight=600), text(MARGIN, 58, note, 13, QUIET)]
    edges = [_edge([at[n] for n in path]) for path in layers.paths]
    start = trace.start
    boxes = [_box(e, *at[seq], widths[seq], start) for seq, e in ops.items()]
    return document(width, bottom, [_tip, *head, *edges, *boxes, *legend], title)


def _note(trace: Trace, ops: dict[int, Event]) -> str:
    files = sorted({PurePath(e.site[0]).name for e in ops.values() if e.site})
    total = len(trace.ops)
    count = f"{total:,} ops" if total == len(ops) else f"the first {len(ops):,} of {total:,} ops"
    return "   ·   ".join([count, *files[:3]])


def _width(e: Event) -> float:
    return max(64.0, min(190.0, max(text_width(e.name, 13), text_width(_line(e), 10.5)) + 18))


def _line(e: Event) -> str:
    return f"line {e.site[1]}" if e.site else f"op {e.seq}"


def _box(e: Event, x: float, y: float, width: float, start: float) -> str:
    """An op: its name, its line, and in the colour of its device."""
    fill, edge = _tints[e.device % len(_tints)]
    shape = element(
        "rect", x=x - width / 2, y=y - BOX / 2, width=width, height=BOX, rx=6, fill=fill, stroke=edge
    )
    name = text(x, y - 2, fitted(e.name, 13, width - 10), 13, INK, text_anchor="middle", font_weight=600)
    line = text(x, y + 13, _line(e), 10.5, QUIET, text_anchor="middle")
    return element("g", element("title", escape(tooltip(e, start))) + shape + name + line, class_="op")


def _edge(points: Sequence[Point]) -> str:
    """A curve from the lower side of a box, through its bends, to the upper side of another."""
    (x, y), (x_end, y_end) = points[0], points[-1]
    way = [(x, y + BOX / 2), *points[1:-1], (x_end, y_end - BOX / 2)]
    steps = zip(way, way[1:], _slopes(way), _slopes(way)[1:])
    d = f"M{x:.1f} {y + BOX / 2:.1f}" + "".join(_curve(*step) for step in steps)
    return element(
        "path", class_="edge", d=d, fill="none", stroke="#8a97a5", stroke_width=1.3, marker_end="url(#tip)"
    )


def _slopes(way: list[Point]) -> list[float]:
    """How far aside the curve goes for each pixel down: nothing at its ends, straight on at bends."""
    inner = [(c[0] - a[0]) / (c[1] - a[1]) for a, c in zip(way, way[2:])]
    return [0.0, *(max(-0.6, min(0.6, slope)) for slope in inner), 0.0]


def _curve(a: Point, b: Point, slope_a: float, slope_b: float) -> str:
    third = (b[1] - a[1]) * 0.4
    numbers = (a[0] + slope_a * third, a[1] + third, b[0] - slope_b * third, b[1] - third, *b)
    return "C" + " ".join(f"{n:.1f}" for n in numbers)


def _legend(trace: Trace, ops: dict[int, Event], y: float) -> tuple[list[str], float]:
    """The devices, if there is more than one; and where the picture ends."""
    devices = sorted({e.device for e in ops.values()})
    if len(devices) < 2:
        return [], y + MARGIN
    parts, x = [], MARGIN
    for device in devices:
        fill, edge = _tints[device % len(_tints)]
        name = trace.device_name(device)
        parts.append(element("rect", x=x, y=y + 28, width=14.0, height=14.0, rx=3, fill=fill, stroke=edge))
        parts.append(text(x + 21, y + 39.5, name, 12))
        x += 21 + text_width(name, 12) + 20
    return parts, y + 28 + 14 + MARGIN
