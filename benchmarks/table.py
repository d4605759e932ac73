"""Timing in turn and tables, for the benchmarks."""

from __future__ import annotations

import os
from collections.abc import Sequence

from forerun._display.terminal import Terminal
from forerun._runtime.core import granted_cores
from forerun.tour.finding import Experiment
from forerun.tour.measure import in_turn as in_turn
from forerun.tour.measure import median_ratio as median_ratio
from forerun.tour.screen import show as show_in


def show(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table: the first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * w for w in widths], *rows]:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))


def show_finding(experiment: Experiment, rounds: int, **sizes: int) -> None:
    """Run an experiment of the tour with more rounds or at other sizes, and print what it found."""
    load = os.getloadavg()[0]
    found = experiment.run(rounds=rounds, **sizes)
    print(f"{granted_cores()} cores, {rounds} rounds; load {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    show_in(Terminal(), experiment, found)
