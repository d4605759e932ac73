"""Output of the tour for an experiment: a heading, the claim, and figures in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._display.terminal import Row, Terminal


@dataclass
class Finding:
    """The result of an experiment: columns of figures, and sentences that follow from them."""

    head: Row = ("",)
    rows: Sequence[Row] = ()
    answers: Sequence[str] = ()


def show(screen: Terminal, rows: str, title: str, claim: str, finding: Finding) -> None:
    """Print what one experiment found."""
    screen.heading(f"{rows}  {title}".strip())
    screen.text(f"The chapter: {claim}", "2")
    if finding.rows:
        screen.line()
        screen.table(finding.head, finding.rows)
    for answer in finding.answers:
        screen.line()
        screen.text(answer)
