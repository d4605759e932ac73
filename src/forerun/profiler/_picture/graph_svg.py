"""The dependency graph as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import PurePath
from typing import Any, cast
from xml.sax.saxutils import escape

from ..._runtime.core import FIRST_ACCELERATOR
from ..svg import FAINT, INK, QUIET, document, element, fitted, text, text_width
from .boxes import Box, Boxes, Op
from .layers import Node, layered
from .places import places

__all__ = ["picture"]

Point = tuple[float, float]

MARGIN, TOP = 28.0, 78.0
APART, GAP, BEND = 44.0, 22.0, 14.0  # between rows; room beside a box and an edge
WIDEST, NARROWEST = 200.0, 64.0
FRAME, HEAD, BETWEEN = 8.0, 16.0, 6.0  # of ops that run as one: beside and above them, and between them
_tints = (("#e8f0f9", "#4e79a7"), ("#fdeedd", "#e0801f"), ("#e6f3e4", "#4c9344"), ("#f4e8f2", "#a0659a"))
_leaf = ("#ffffff", "#697785")
_tip = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0.8 7.5 4 0 7.2z" fill="#8a97a5"/></marker></defs>'
)


def _tint(device: int) -> tuple[str, str]:
    """Return the colours of a device; those of gpu(0) are not those of cpu(0)."""
    return _tints[(device if device < FIRST_ACCELERATOR else device - FIRST_ACCELERATOR + 1) % len(_tints)]


def picture(boxes: Boxes, title: str, names: Mapping[int, str], left_out: int = 0) -> str:
    """Return the graph as SVG text. names: of devices. left_out: how many ops are not in it."""
    layers = layered({n: box.reads for n, box in boxes.items()}, key=lambda n: (boxes[n].device, n))
    widths = {n: _width(box) for n, box in boxes.items()}

    def room(node: Node) -> float:
        return BEND if isinstance(node, tuple) else widths[node] + GAP

    across = places(layers, room)
    tall = [max((_height(boxes[n]) for n in row if isinstance(n, int)), default=0.0) for row in layers.rows]
    tops = list(accumulate((h + APART for h in tall), initial=TOP))
    row_of = {node: i for i, row in enumerate(layers.rows) for node in row}
    inner = max((x + room(node) / 2 for node, x in across.items()), default=0.0)
    note = _note(boxes, left_out)
    width = max(inner, text_width(title, 20), text_width(note, 13)) + 2 * MARGIN
    left = (width - inner) / 2

    def middle(node: Node) -> Point:
        return left + across[node], tops[row_of[node]] + tall[row_of[node]] / 2

    def way(path: Sequence[Node]) -> list[Point]:
        """From the lower side of a box, straight through the rows that it passes, to the upper side of another."""
        (x, y), (x_end, y_end) = middle(path[0]), middle(path[-1])
        points = [(x, y + _height(boxes[cast("int", path[0])]) / 2)]  # its ends are boxes
        for bend in path[1:-1]:
            at, row = left + across[bend], row_of[bend]
            points += [(at, tops[row]), (at, tops[row] + tall[row])]
        return [*points, (x_end, y_end - _height(boxes[cast("int", path[-1])]) / 2)]

    legend, bottom = _legend(boxes, names, tops[-1] - (APART if boxes else 0))
    head = [text(MARGIN, 36, title, 20, font_weight=600), text(MARGIN, 58, note, 13, QUIET)]
    edges = [_edge(way(path)) for path in layers.paths]
    drawn = [_box(box, *middle(n), widths[n]) for n, box in boxes.items()]
    return document(width, bottom, [_tip, *head, *edges, *drawn, *legend], title)


def _note(boxes: Boxes, left_out: int) -> str:
    ops = [op for box in boxes.values() if box.kind != "leaf" for op in box.ops]
    files = sorted({PurePath(op.site[0]).name for op in ops if op.site})
    count = f"the first {len(boxes):,} of {len(boxes) + left_out:,} boxes" if left_out else f"{len(ops):,} ops"
    return "   ·   ".join([count, *files[:3]])


# --- boxes ---


def _words(op: Op) -> list[str]:
    return [words for words in (op.line, op.form) if words]


def _op_height(op: Op) -> float:
    return 26.0 + 14 * len(_words(op))


def _height(box: Box) -> float:
    inside = sum(map(_op_height, box.ops)) + BETWEEN * (len(box.ops) - 1)
    return inside if len(box.ops) == 1 else inside + HEAD + FRAME


def _width(box: Box) -> float:
    words = [text_width(op.name, 13) for op in box.ops]
    words += [text_width(line, 10.5) for op in box.ops for line in _words(op)]
    inside = max(NARROWEST, min(WIDEST, max(words) + 18))
    return inside if len(box.ops) == 1 else inside + 2 * FRAME


def _box(box: Box, x: float, y: float, width: float) -> str:
    """Return an op, in the colour of its device; or a frame with those that run as one."""
    fill, edge = _leaf if box.kind == "leaf" else _tint(box.device)
    thick = 2.6 if box.kind == "result" else 1.0
    height = _height(box)
    top, left = y - height / 2, x - width / 2
    parts = [element("title", escape(box.tip))] if box.tip else []
    if len(box.ops) == 1:
        return element("g", "".join([*parts, *_op(box.ops[0], x, top, width, fill, edge, thick)]), class_="op")
    look: dict[str, Any] = {"fill": FAINT, "fill_opacity": 0.5, "stroke_dasharray": "5 3", "stroke_width": thick}
    parts.append(element("rect", x=left, y=top, width=width, height=height, rx=9, stroke=edge, **look))
    parts.append(text(x, top + 12, "run as one", 10.5, QUIET, text_anchor="middle"))
    at = top + HEAD
    for op in box.ops:
        parts += _op(op, x, at, width - 2 * FRAME, fill, edge, 1.0)
        at += _op_height(op) + BETWEEN
    return element("g", "".join(parts), class_="op group")


def _op(op: Op, x: float, top: float, width: float, fill: str, edge: str, thick: float) -> list[str]:
    look: dict[str, Any] = {"fill": fill, "stroke": edge, "stroke_width": thick}
    shape = element("rect", x=x - width / 2, y=top, width=width, height=_op_height(op), rx=6, **look)
    name = text(x, top + 17, fitted(op.name, 13, width - 10), 13, INK, text_anchor="middle", font_weight=600)
    lines = [
        text(x, top + 32 + 14 * i, fitted(words, 10.5, width - 6), 10.5, QUIET, text_anchor="middle")
        for i, words in enumerate(_words(op))
    ]
    return [shape, name, *lines]


# --- edges ---


def _edge(way: list[Point]) -> str:
    """Return a curve through points."""
    steps = zip(way, way[1:], _slopes(way), _slopes(way)[1:])
    d = f"M{way[0][0]:.1f} {way[0][1]:.1f}" + "".join(_curve(*step) for step in steps)
    look: dict[str, Any] = {"fill": "none", "stroke": "#8a97a5", "stroke_width": 1.3, "marker_end": "url(#tip)"}
    return element("path", class_="edge", d=d, **look)


def _slopes(way: list[Point]) -> list[float]:
    """Return how far aside the curve goes for each pixel down: nothing at its ends, straight on at bends."""
    inner = [(c[0] - a[0]) / (c[1] - a[1]) for a, c in zip(way, way[2:])]
    return [0.0, *(max(-0.6, min(0.6, slope)) for slope in inner), 0.0]


def _curve(a: Point, b: Point, slope_a: float, slope_b: float) -> str:
    third = (b[1] - a[1]) * 0.4
    numbers = (a[0] + slope_a * third, a[1] + third, b[0] - slope_b * third, b[1] - third, *b)
    return "C" + " ".join(f"{n:.1f}" for n in numbers)


def _legend(boxes: Boxes, names: Mapping[int, str], y: float) -> tuple[list[str], float]:
    """Return the devices, if there is more than one; and where the picture ends."""
    devices = sorted({box.device for box in boxes.values()})
    if len(devices) < 2:
        return [], y + MARGIN
    parts, x = [], MARGIN
    for device in devices:
        fill, edge = _tint(device)
        name = names.get(device, f"device {device}")
        parts.append(element("rect", x=x, y=y + 28, width=14.0, height=14.0, rx=3, fill=fill, stroke=edge))
        parts.append(text(x + 21, y + 39.5, name, 12))
        x += 21 + text_width(name, 12) + 20
    return parts, y + 28 + 14 + MARGIN
