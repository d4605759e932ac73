"""What the tour prints: a bar while it works, then a heading, the claim, and figures in columns."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

Row = Sequence[str]


@dataclass
class Finding:
    """What an experiment found: columns of figures, and sentences that follow from them."""

    head: Row = ("",)
    rows: Sequence[Row] = ()
    answers: Sequence[str] = ()


class Screen:
    """Prints to standard output; the bar goes to standard error, and only if that is a terminal."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.step = 0
        self.width = min(100, shutil.get_terminal_size((100, 24)).columns)

    def begin(self, title: str) -> None:
        """Shows how far the tour is, and what comes now."""
        self.step += 1
        if sys.stderr.isatty():
            done = round(24 * (self.step - 1) / self.steps)
            bar = "█" * done + "·" * (24 - done)
            print(f"\r\033[K{bar} {self.step}/{self.steps} {title}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Takes the bar away."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def show(self, rows: str, title: str, claim: str, finding: Finding) -> None:
        """Prints what one experiment found."""
        self.end()
        print(f"\n{rows}  {title}\n{'─' * self.width}")
        self.text(f"The chapter: {claim}")
        if finding.rows:
            print()
            self.table(finding.head, finding.rows)
        for answer in finding.answers:
            print()
            self.text(answer)

    def text(self, sentence: str) -> None:
        """Prints wrapped text."""
        print(textwrap.fill(sentence, self.width))

    def table(self, head: Row, rows: Sequence[Row]) -> None:
        """Prints columns: the first to the left, figures to the right."""
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        for row in [head, *rows]:
            cells = (c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
            print(("  " + "   ".join(cells)).rstrip())
