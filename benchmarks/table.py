"""Timing in turn and tables, for the benchmarks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence


def in_turn(programs: Mapping[str, Callable[[], object]], rounds: int, pause: float = 0.0) -> dict[str, list[float]]:
    """Seconds of each program in each round; they run one after the other within a round, so that a slow spell of the
    machine hits all of them. `pause`: seconds before each, in which threads of the one before may stop spinning."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            if pause:
                time.sleep(pause)
            start = time.perf_counter()
            program()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def median_ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """The median over rounds of a's time as a multiple of b's in the same round."""
    return statistics.median(x / y for x, y in zip(a, b, strict=True))


def show(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table: the first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * w for w in widths], *rows]:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
