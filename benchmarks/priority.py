"""Oldest first: a product issued second, followed by eight larger ones, then waited for.

    python benchmarks/priority.py

Aim: the wait ends within 1.5 times the time of the product alone.
"""

from __future__ import annotations

import statistics
import time

import forerun
from forerun import np
from forerun._display.terminal import Terminal


def main() -> None:
    small, large = np.random.normal(size=(900, 900)), np.random.normal(size=(1300, 1300))
    first = np.random.normal(size=(64, 64))
    forerun.waitall()

    def alone() -> float:
        start = time.perf_counter()
        np.dot(small, small).wait()
        return time.perf_counter() - start

    def crowded() -> tuple[float, float]:
        start = time.perf_counter()
        a = np.dot(first, first)
        product = np.dot(small, small)
        others = [np.dot(large, large) for _ in range(8)]
        product.wait()
        waited = time.perf_counter() - start
        forerun.waitall()
        del a, others
        return waited, time.perf_counter() - start

    alone(), crowded()
    rounds = [(alone(), *crowded()) for _ in range(15)]
    by_itself, waited, everything = (statistics.median(r[i] for r in rounds) for i in range(3))
    ratio = statistics.median(r[1] / r[0] for r in rounds)
    print("a 900 x 900 product issued second, eight 1300 x 1300 ones after it; medians of 15\n")
    rows = [
        ["the product alone", f"{1e3 * by_itself:.1f}", "1.00"],
        ["until the product is computed, eight larger ones behind it", f"{1e3 * waited:.1f}", f"{ratio:.2f}"],
        ["until all are computed", f"{1e3 * everything:.1f}", f"{everything / by_itself:.2f}"],
    ]
    Terminal().table(["", "ms", "times alone"], rows)


if __name__ == "__main__":
    main()
