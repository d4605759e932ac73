"""What a recording costs where it weighs most: x + 1 on a (1, 2) array, with a recording and without.

    python benchmarks/profiling.py

Processor time of the thread that issues. Aim: at most 5% more with a recording, but for loops that wait in each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import forerun
from forerun import np, profiler
from table import show

N, ROUNDS, RUNS = 10_000, 10, 15


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
    x = np.ones((1, 2))

    def kept() -> None:
        ys = [x + 1 for _ in range(N)]
        ys[-1].wait()
        forerun.waitall()

    def one_wait() -> None:
        for _ in range(N):
            y = x + 1
        y.wait()

    def chain() -> None:
        y = x
        for _ in range(N):
            y = y + 1
        y.wait()

    def wait_each() -> None:
        for _ in range(N):
            y = x + 1
            y.wait()

    programs = {
        "results kept": kept, "one wait at the end": one_wait, "each on the one before": chain,
        "wait after each": wait_each,
    }  # fmt: skip
    rows = []
    for name, program in programs.items():
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
