"""HTML for notebooks: tables and values."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html import escape
from typing import Any

__all__ = ["Shown", "nbytes", "preformatted", "show", "table"]

_number = re.compile(r"[-\d.,]+( ?[^\W\d]+| ?%)?")


class Shown(str):
    """Text that a notebook shows as HTML.

    >>> Shown("1 < 2", "<b>1 &lt; 2</b>")._repr_html_()
    '<b>1 &lt; 2</b>'
    """

    html: str

    def __new__(cls, text: str, html: str) -> Shown:
        shown = super().__new__(cls, text)
        shown.html = html
        return shown

    def _repr_html_(self) -> str:
        return self.html

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> str:
    """Return an HTML table; columns of numbers, with or without a unit, are flush right.

    >>> table(("op", "ms"), [("<a>", "1.5")])
    '<table><thead><tr><th style="text-align:left">op</th><th style="text-align:right">ms</th></tr></thead>...'
    """
    numbers = [all(_number.fullmatch(cell) or not cell for cell in column) for column in zip(*rows)]
    align = ["right" if n else "left" for n in numbers or [False] * len(head)]
    lines = ["".join(_cell(c, "td", side) for c, side in zip(row, align)) for row in rows]
    heads = "".join(_cell(c, "th", side) for c, side in zip(head, align))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    caption = f'<caption style="text-align:left">{escape(title)}</caption>' if title else ""
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str, tag: str, side: str) -> str:
    return f'<{tag} style="text-align:{side}">{escape(text)}</{tag}>'


def preformatted(text: str, note: str = "") -> str:
    """Return text as it is, and a note in small print above it.

    >>> preformatted("[1 2]", "int64")
    '<small>int64</small><pre>[1 2]</pre>'
    """
    above = f"<small>{escape(note)}</small>" if note else ""
    return f"{above}<pre>{escape(text)}</pre>"


def nbytes(n: float) -> str:
    """Return a number of bytes with a unit.

    >>> nbytes(8), nbytes(16_000_000)
    ('8 bytes', '15.3 MiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n < 1024:
            return f"{n:.3g} {unit}" if unit != "bytes" else f"{n:.0f} {unit}"
        n /= 1024
    return f"{n:.3g} TiB"


def show(what: Shown) -> None:
    """Print the text; in a notebook, it is shown.

    >>> show(Shown("plain", "<b>rich</b>"))
    plain
    """
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(what)
    else:
        print(what)
