"""Small pieces of SVG: text, shapes, and colours that stay with a name."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

__all__ = ["FONT", "INK", "QUIET", "FAINT", "number", "element", "text", "text_width", "fitted", "colours"]
__all__ += ["ink_on", "document"]

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
INK, QUIET, FAINT = "#1f2933", "#697785", "#e4e8ec"

# Twelve hues that stay apart beside each other, on white.
_palette = (
    "#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2",
    "#edc948", "#9c755f", "#ff9da7", "#2f5d8a", "#a0cb7d", "#8d6bb8",
)  # fmt: skip


def number(x: float) -> str:
    """Return a coordinate: at most two decimals.

    >>> number(3.0), number(2.71828)
    ('3', '2.72')
    """
    return f"{x:.2f}".rstrip("0").rstrip(".")


def element(tag: str, /, content: str = "", **attributes: object) -> str:
    """Return an element; `font_size=12` becomes the attribute `font-size`, `class_` becomes `class`.

    >>> element("rect", x=1.5, class_="op")
    '<rect x="1.5" class="op"/>'
    """
    parts = [tag]
    for name, value in attributes.items():
        shown = number(value) if isinstance(value, float) else str(value)
        parts.append(f"{name.rstrip('_').replace('_', '-')}={quoteattr(shown)}")
    head = " ".join(parts)
    return f"<{head}>{content}</{tag}>" if content else f"<{head}/>"


def text(x: float, y: float, words: str, size: float = 12, fill: str = INK, **attributes: object) -> str:
    """Return a line of text; `y` is its baseline."""
    return element("text", escape(words), x=float(x), y=float(y), font_size=size, fill=fill, **attributes)


def text_width(words: str, size: float) -> float:
    """About how wide a line of text is: on the safe side for the usual fonts."""
    return sum(0.36 if c in "ijlft.,:;()[]|' " else 0.9 if c in "mwMW@%" else 0.63 for c in words) * size


def fitted(words: str, size: float, width: float) -> str:
    """Return the words if they fit into the width, cut with an ellipsis if most do, else nothing."""
    if text_width(words, size) <= width:
        return words
    cut = words
    while cut and text_width(cut + "…", size) > width:
        cut = cut[:-1]
    return cut + "…" if len(cut) >= 4 else ""


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name: the same name has the same colour in every picture, where that leaves names apart."""
    taken: dict[str, int] = {}
    for name in sorted(set(names)):
        first = zlib.crc32(name.encode()) % len(_palette)
        free = [i % len(_palette) for i in range(first, first + len(_palette))]
        taken[name] = next((i for i in free if i not in taken.values()), first)
    return {name: _palette[i] for name, i in taken.items()}


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour."""
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return INK if 0.299 * r + 0.587 * g + 0.114 * b > 140 else "#ffffff"


def document(width: float, height: float, body: Iterable[str], title: str) -> str:
    """Return a picture of its own, on white, with its size in pixels."""
    w, h = number(width), number(height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'font-family="{escape(FONT)}">'
    )
    ground = element("rect", width=w, height=h, fill="#ffffff")
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *body, "</svg>\n"])
