"""Cost of a recording where it matters most: x + 1 on a (1, 2) array, with a recording and without.

    python benchmarks/engine/profiling.py

Processor time of the thread that issues, where operations run in the call, and where they are handed over. Aim: at most
5 % more where they are handed over, but for loops that wait in each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import forerun
from forerun import np, profiler
from forerun._display.terminal import Terminal
from forerun.tour.experiments.asynchronous.small_operations import N, issue, wait_after_each, wait_at_the_end
from forerun.tour.measure import HANDED_OVER, settings

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


def rows() -> Iterator[list[str]]:
    """A row for each loop: its time per operation without a recording and with one."""
    x = np.ones((1, 2))
    for name, loop in LOOPS.items():
        program = partial(loop, x, N)
        program()
        without, with_one = [], []
        for _ in range(RUNS):
            without.append(seconds(program))
            with profiler.record():
                with_one.append(seconds(program))
        a, b = statistics.median(without), statistics.median(with_one)
        yield [name, f"{a * 1e6:.3f}", f"{b * 1e6:.3f}", f"{(b - a) * 1e6:.3f}"]


def main() -> None:
    for title, passes in {"in the call": forerun.config()["passes"], "handed over": HANDED_OVER}.items():
        with settings(passes=passes):
            Terminal().table([title, "us per op", "recorded", "more"], list(rows()))


if __name__ == "__main__":
    main()
