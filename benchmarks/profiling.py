"""Cost of a recording where it matters most: x + 1 on a (1, 2) array, with a recording and without.

    python benchmarks/profiling.py

Processor time of the thread that issues. Aim: at most 5% more with a recording, but for loops that wait in each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import forerun
from forerun import np, profiler
from overhead import N, waiting
from table import show

ROUNDS, RUNS = 10, 15


def seconds(program: Callable[[], object]) -> float:
    """Per operation; the least disturbed of some runs."""
    found = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        program()
        found.append(time.thread_time() - start)
        forerun.waitall()
    return statistics.median(found) / N


def main() -> None:
    rows = []
    for name, program in waiting(np.ones((1, 2))).items():
        program()
        without, with_one = [], []
        for _ in range(RUNS):
            without.append(seconds(program))
            with profiler.record():
                with_one.append(seconds(program))
        a, b = statistics.median(without), statistics.median(with_one)
        rows.append([name, f"{a * 1e6:.3f}", f"{b * 1e6:.3f}", f"{b / a - 1:+.1%}"])
    show(["", "us per op", "recorded", "more"], rows)


if __name__ == "__main__":
    main()
