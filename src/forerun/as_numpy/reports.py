"""The report on a program's calls of NumPy: those that ran ahead, and those that fell back, with lines and times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .importing import Line

__all__ = ["Entry", "Report"]


_HEAD = "NumPy's own functions"


@dataclass(slots=True)
class Entry:
    """Calls of one function of NumPy in one line, for one reason."""

    calls: int = 0
    seconds: float = 0.0


class Report:
    """Counts of calls that NumPy did. Those of threads that count at once may be a little short.

    where: gives the file and the number of the line of the program that calls, or None if none is known.

    >>> report = Report(lambda: ("model.py", 3))
    >>> report.fell_back("sort", "arrays have no text", 0.5)
    >>> print(report)
    NumPy's own functions  calls  total ms  why
    -------------------------------------------
    model.py:3  sort           1   500.000  arrays have no text
    """

    def __init__(self, where: Callable[[], Line | None]) -> None:
        self._where = where
        self.entries: dict[tuple[Line | None, str, str], Entry] = {}

    def fell_back(self, name: str, why: str, seconds: float) -> None:
        """Count a call."""
        key = self._where(), name, why
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries.setdefault(key, Entry())
        entry.calls += 1
        entry.seconds += seconds

    def clear(self) -> None:
        """Remove all entries."""
        self.entries.clear()

    def rows(self) -> list[dict[str, Any]]:
        """Each line and function with its calls, seconds and reason; first those that took longest."""
        found = [
            {"where": _where(line), "function": name, "calls": entry.calls, "seconds": entry.seconds, "why": why}
            for (line, name, why), entry in self.entries.items()
        ]
        return sorted(found, key=lambda row: -row["seconds"])

    def __str__(self) -> str:
        rows = self.rows()
        if not rows:
            return f"{_HEAD}: none was needed"
        first = [f"{row['where']}  {row['function']}" for row in rows]
        width = max(len(_HEAD), *map(len, first))
        head = f"{_HEAD.ljust(width)}  calls  total ms  why"
        lines = [
            f"{name.ljust(width)}  {row['calls']:5,}  {row['seconds'] * 1e3:8,.3f}  {row['why']}"
            for name, row in zip(first, rows, strict=True)
        ]
        return "\n".join([head, "-" * len(head), *lines])


def _where(line: Line | None) -> str:
    return f"{line[0]}:{line[1]}" if line is not None else "?"
