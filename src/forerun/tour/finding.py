"""Experiments and their results: figures with units, and the promises that were not kept."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

__all__ = [
    "Cell",
    "Experiment",
    "Figure",
    "Finding",
    "Row",
    "Run",
    "Table",
    "experiment",
    "percent",
    "ratio",
    "seconds",
    "size",
]


class Figure(NamedTuple):
    """A number and its unit: "s", "x" (a ratio), "%", "MiB", "GFLOP/s"; "" where things are counted."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        value, unit = self
        if unit == "s":
            return next(f"{value * n:,.2f} {name}" for limit, n, name in _TIMES if value < limit)
        if unit == "":
            return f"{value:,.0f}"
        return f"{value:.3g}%" if unit == "%" else f"{value:,.{_DIGITS[unit]}f} {unit}"


_TIMES = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1, 1e3, "ms"), (float("inf"), 1, "s"))
_DIGITS = {"x": 2, "MiB": 1, "GFLOP/s": 0}

Cell: TypeAlias = Figure | str
Row: TypeAlias = Sequence[Cell]


def seconds(value: float) -> Figure:
    """Return a time."""
    return Figure(value, "s")


def ratio(value: float, base: float) -> Figure:
    """Return a value as a multiple of another."""
    return Figure(value / base, "x")


def percent(value: float, whole: float) -> Figure:
    """Return a value as a share of a whole."""
    return Figure(100 * value / whole, "%")


def size(value: float) -> Figure:
    """Return a number of bytes."""
    return Figure(value / 2**20, "MiB")


@dataclass(frozen=True)
class Table:
    """Rows of figures; the first cell of each row is its name."""

    head: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Finding:
    """The result of an experiment.

    `answers` are sentences that follow from the figures. `missed` says which promises this run did not keep: wrong
    results and a wrong order always, times and memory only at full size.
    """

    tables: Sequence[Table] = ()
    answers: Sequence[str] = ()
    missed: Sequence[str] = ()
    pictures: Sequence[Path] = ()
    name: str = ""
    promise: str = ""

    @property
    def ok(self) -> bool:
        """Whether all promises were kept."""
        return not self.missed


class Run(NamedTuple):
    """How an experiment is to run."""

    quick: bool  # at sizes that show that it works, not how fast
    out: Path  # the folder for pictures
    rounds: int  # of which times are medians
    sizes: dict[str, int]  # those that differ from the experiment's own

    def size(self, name: str, small: int, usual: int) -> int:
        """Return a size by its name: the one asked for, or that of a quick or of a usual run."""
        return self.sizes.pop(name, small if self.quick else usual)


@dataclass(frozen=True)
class Experiment:
    """A program, and a claim about it. The tour, the chapters' scripts, benchmarks and `forerun bench` run it alike."""

    name: str
    chapter: str  # the row of docs/tutorial/chapters.md
    title: str
    promise: str
    rounds: int
    program: Callable[[Run], Finding]

    def run(self, quick: bool = False, out: Path | None = None, rounds: int = 0, **sizes: int) -> Finding:
        """Run the program, and return its finding.

        quick: at small sizes. out: the folder for pictures; without it no pictures are drawn. rounds: how many to take
        medians of, if not the usual number. sizes: those that the program has names for.
        """
        with tempfile.TemporaryDirectory() as unseen:
            found = self.program(Run(quick, out or Path(unseen), rounds or (3 if quick else self.rounds), sizes))
        if sizes:
            raise TypeError(f"run: {self.name} has no size {', '.join(sizes)}")
        pictures = found.pictures if out else ()
        return dataclasses.replace(found, name=self.name, promise=self.promise, pictures=pictures)


def experiment(
    chapter: str, title: str, promise: str, rounds: int = 5
) -> Callable[[Callable[[Run], Finding]], Experiment]:
    """Make an experiment of a function, by whose name it is known."""
    return lambda program: Experiment(program.__name__, chapter, title, promise, rounds, program)
