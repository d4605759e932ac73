"""Cost of a recording where it matters most: x + 1 on a (1, 2) array, with a recording and without.

    python benchmarks/engine/profiling.py

Processor time of the thread that issues. Aim: at most 5% more with a recording, but for loops that wait in each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import forerun
from forerun import np, profiler
from forerun._display.terminal import Terminal
from forerun.tour.experiments.asynchronous.small_operations import N, issue, wait_after_each, wait_at_the_end

ROUNDS, RUNS = 10, 15
LOOPS = {"issue only": issue, "a wait at the end": wait_at_the_end, "a wait after each": wait_after_each}


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
    x, rows = np.ones((1, 2)), []
    for name, loop in LOOPS.items():
        program = partial(loop, x, N)
        program()
        without, with_one = [], []
        for _ in range(RUNS):
            without.append(seconds(program))
            with profiler.record():
                with_one.append(seconds(program))
        a, b = statistics.median(without), statistics.median(with_one)
        rows.append([name, f"{a * 1e6:.3f}", f"{b * 1e6:.3f}", f"{b / a - 1:+.1%}"])
    Terminal().table(["", "us per op", "recorded", "more"], rows)


if __name__ == "__main__":
    main()
