"""Cost of an operation: x + 1 on a (1, 2) array, 10,000 times, with NumPy beside forerun in the same run.

    python benchmarks/overhead.py

Where results are thrown away, most are never computed: those rows say what issuing costs. Where they are kept, all are
computed, and NumPy keeps them too. Aims: one wait at the end at most 0.4 times NumPy, a wait after each at most once.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy

import forerun
from forerun import np
from table import in_turn, median_ratio, show

N = 10_000


def waiting(x: np.ndarray) -> dict[str, Callable[[], None]]:
    """Programs of `N` operations on x, by when they wait."""

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

    return {
        "results kept": kept, "one wait at the end": one_wait, "each on the one before": chain,
        "wait after each": wait_each,
    }  # fmt: skip


def main() -> None:
    x, a = np.ones((1, 2)), numpy.ones((1, 2), "float32")
    ours = waiting(x)

    def plain() -> None:
        for _ in range(N):
            y = a + 1  # noqa: F841

    def plain_kept() -> None:
        kept = [a + 1 for _ in range(N)]  # noqa: F841

    def issue() -> None:
        for _ in range(N):
            y = x + 1  # noqa: F841

    def drain() -> None:
        forerun.waitall()

    programs = {
        "NumPy": plain, "NumPy, results kept": plain_kept, "issue only": issue, "(drain)": drain,
        "issue, one wait at the end": ours["one wait at the end"], "the same, results kept": ours["results kept"],
        "wait after each": ours["wait after each"],
        "each on the one before, one wait": ours["each on the one before"],
    }  # fmt: skip
    in_turn(programs, 5)  # warm
    seconds = in_turn(programs, 41)
    print(f"x + 1 on a (1, 2) float32 array, {N:,} times; {forerun.stats()['issued']:,} operations issued\n")
    del seconds["(drain)"]
    rows = []
    for name, t in seconds.items():
        ratio = median_ratio(t, seconds["NumPy, results kept" if name.endswith("kept") else "NumPy"])
        rows.append([name, f"{1e6 * statistics.median(t) / N:.3f}", f"{1e6 * min(t) / N:.3f}", f"{ratio:.2f}"])
    show(["", "us per op, median", "least", "times NumPy"], rows)


if __name__ == "__main__":
    main()
