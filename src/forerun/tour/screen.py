"""Output of an experiment: a heading, the promise, figures in columns, and the conclusion."""

from __future__ import annotations

from typing import Any

from .._display.terminal import Terminal
from .finding import Experiment, Figure, Finding

__all__ = ["as_json", "show"]


def show(screen: Terminal, experiment: Experiment, found: Finding) -> None:
    """Print the finding of one experiment."""
    screen.heading(f"{experiment.chapter}  {experiment.title}".strip())
    screen.text(f"Promised: {found.promise}", "2")
    for table in found.tables:
        screen.line()
        screen.table(table.head, [[str(cell) for cell in row] for row in table.rows])
    for answer in found.answers:
        screen.line()
        screen.text(answer)
    for promise in found.missed:
        screen.line()
        screen.text(f"MISSED: {promise}", "1;33")
    if found.pictures:
        screen.line()
    for path in found.pictures:
        screen.line(f"Picture: {path}")


def as_json(experiment: Experiment, found: Finding) -> dict[str, Any]:
    """Return the finding of one experiment, with figures as numbers and their units."""

    def cell(given: Figure | str) -> Any:
        return given if isinstance(given, str) else given._asdict()

    return {
        "name": found.name,
        "chapter": experiment.chapter,
        "title": experiment.title,
        "promise": found.promise,
        "tables": [
            {"head": list(table.head), "rows": [[cell(each) for each in row] for row in table.rows]}
            for table in found.tables
        ],
        "answers": list(found.answers),
        "ok": found.ok,
        "missed": list(found.missed),
        "pictures": [str(path) for path in found.pictures],
    }
