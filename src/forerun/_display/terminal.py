"""Output of the commands: with colours and a bar on a terminal, as plain lines elsewhere.

Colours need a terminal that is not called "dumb", and no variable NO_COLOR; FORCE_COLOR=1 asks for them without a
terminal. The bar goes to standard error, and only if that is a terminal.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

__all__ = ["Terminal", "columns", "coloured", "encodes", "moving"]

Row = Sequence[str]


def coloured(stream: TextIO) -> bool:
    """Return whether colours may go to a stream."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or moving(stream)


def moving(stream: TextIO | None) -> bool:
    """Return whether a line of a stream can be overwritten."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


class Terminal:
    """Prints headings, tables and sentences to standard output, and a bar to standard error."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out, self.err = out or sys.stdout, err or sys.stderr
        self.width = min(100, shutil.get_terminal_size((100, 24)).columns)
        self._colours = coloured(self.out)
        self._wide = encodes(self.out, "─")

    def style(self, text: str, code: str) -> str:
        """Return text in a style, such as "1" (bold), "2" (dim), "32" (green), where there are colours."""
        return f"\033[{code}m{text}\033[0m" if self._colours and text else text

    def line(self, text: str = "") -> None:
        """Print a line as it is."""
        print(text, file=self.out)

    def heading(self, text: str) -> None:
        """Print a heading with a rule below it."""
        self.line(f"\n{self.style(text, '1;36')}\n{self.style(('─' if self._wide else '-') * self.width, '2')}")

    def text(self, sentence: str, code: str = "") -> None:
        """Print wrapped text."""
        for line in textwrap.wrap(sentence, self.width):
            self.line(self.style(line, code) if code else line)

    def table(self, head: Row, rows: Sequence[Row]) -> None:
        """Print columns: the first to the left, in several lines if need be, the others to the right."""
        for i, cells in enumerate(columns([head, *rows], self.width)):
            self.line(self.style(cells, "2") if i == 0 else cells)

    def bar(self, done: int, of: int, title: str) -> None:
        """Show the progress, and the title of the current step."""
        if moving(self.err):
            full = round(24 * done / of)
            marks = "█·" if encodes(self.err, "█·") else "#."
            bar = marks[0] * full + marks[1] * (24 - full)
            bar = f"\033[36m{bar}\033[0m" if coloured(self.err) else bar
            room = max(0, shutil.get_terminal_size((100, 24)).columns - 35)
            print(f"\r\033[K{bar} {done}/{of} {title[:room]}", end="", file=self.err, flush=True)

    def end(self) -> None:
        """Remove the bar."""
        if moving(self.err):
            print("\r\033[K", end="", file=self.err, flush=True)


def encodes(stream: TextIO, text: str) -> bool:
    """Return whether text can be written to a stream."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def columns(rows: Sequence[Row], width: int) -> list[str]:
    """Return lines of a table at most so wide, if the first column can be broken enough; its first row is the head.

    >>> columns([("what", "ms"), ("a rather long name", "12")], 16)
    ['  what      ms', '  a rather  12', '  long name']
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    gap = 3 if sum(widths) + 3 * len(widths) <= width else 2
    first = max(8, min(widths[0], width - 2 - sum(w + gap for w in widths[1:])))
    lines = []
    for row in rows:
        names = textwrap.wrap(row[0], first) or [""]
        figures = [cell.rjust(w + gap) for cell, w in zip(row[1:], widths[1:])]
        lines.append(("  " + names[0].ljust(first) + "".join(figures)).rstrip())
        lines += [f"  {name}" for name in names[1:]]
    return lines
