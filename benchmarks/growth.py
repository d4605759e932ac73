"""How cost grows: with the number of ops issued, the size of arrays, and the number of workers; NumPy beside us.

    python benchmarks/growth.py [--most 10000000]

Ops: y = x + 1 on a (1, 2) array, results dropped at once, and each computed from the one before, with the memory that
the process holds afterwards: it must not grow. Sizes: x*y + 2 and a sum, from ten elements to a hundred million.
Workers: the same program on one worker, two, and so on up to the cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable

import numpy

import forerun
from forerun import np
from forerun._display.terminal import Terminal
from forerun.tour.measure import in_turn, median_ratio


def resident() -> float:
    """MiB of memory that the process holds."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def rounds_for(n: int) -> int:
    """Return the number of rounds: more for short measurements."""
    return max(3, min(31, 10**7 // max(n, 1)))


def ops(most: int) -> None:
    x, a = np.ones((1, 2)), numpy.ones((1, 2), "float32")

    def issue(n: int) -> None:
        for _ in range(n):
            y = x + 1
        y.wait()

    def chain(n: int) -> None:
        y = x
        for _ in range(n):
            y = y + 1
        y.wait()

    def plain(n: int) -> None:
        for _ in range(n):
            b = a + 1  # noqa: F841

    rows = []
    chain(1000)
    n = 1000
    while n <= most:
        programs = {
            "issue": lambda n=n: issue(n),
            "chain": lambda n=n: chain(n),
            "NumPy": lambda n=n: plain(n),
        }
        t = in_turn(programs, rounds_for(n))
        us = {name: f"{1e6 * statistics.median(times) / n:.3f}" for name, times in t.items()}
        ratios = [f"{median_ratio(t[name], t['NumPy']):.2f}" for name in ("issue", "chain")]
        rows.append([f"{n:,}", us["issue"], us["chain"], us["NumPy"], *ratios, f"{resident():.0f}"])
        n *= 10
    head = ["ops", "dropped, us", "chain, us", "NumPy, us", "dropped / NumPy", "chain / NumPy", "resident, MiB"]
    Terminal().table(head, rows)


def sizes(most: int) -> None:
    rows = []
    n = 10
    while n <= most:
        a, b = numpy.full(n, 0.5, "float32"), numpy.full(n, 2, "float32")
        x, y = np.array(a), np.array(b)

        def both(f: Callable[..., object], x=x, y=y, a=a, b=b) -> dict[str, Callable[[], object]]:
            return {"forerun": lambda: f(x, y).wait(), "NumPy": lambda: f(a, b)}

        row = [f"{n:,}"]
        for f in (lambda p, q: p * q + 2, lambda p, q: p.sum()):
            repeat = max(1, 10**5 // n)
            programs = {name: (lambda g=g, repeat=repeat: [g() for _ in range(repeat)]) for name, g in both(f).items()}
            in_turn(programs, 2)
            t = in_turn(programs, rounds_for(10 * n))
            us = {name: 1e6 * statistics.median(times) / repeat for name, times in t.items()}
            row += [f"{us['forerun']:.4g}", f"{us['NumPy']:.4g}", f"{median_ratio(t['forerun'], t['NumPy']):.2f}"]
        rows.append(row)
        del a, b, x, y
        n *= 10
    Terminal().table(["elements", "x*y + 2, us", "NumPy, us", "ratio", "sum, us", "NumPy, us", "ratio"], rows)


def workers() -> None:
    a = numpy.random.default_rng(0).standard_normal((2048, 2048), "float32")
    x = np.array(a)
    programs = {
        "tanh(x) * x + 1": lambda: (np.tanh(x) * x + 1).wait(),
        "softmax of rows": lambda: forerun.npx.softmax(x).wait(),
        "x @ x": lambda: (x @ x).wait(),
        "normal numbers": lambda: np.random.normal(size=x.shape).wait(),
    }
    counts = sorted({1, 2, os.cpu_count() or 1} | {1 << k for k in range(1, (os.cpu_count() or 1).bit_length())})
    counts = [n for n in counts if n <= (os.cpu_count() or 1)]
    times: dict[str, list[float]] = {name: [] for name in programs}
    for n in counts:
        forerun.configure(workers=n)
        in_turn(programs, 2)
        for name, t in in_turn(programs, 9).items():
            times[name].append(1e3 * statistics.median(t))
    rows = [[name, *(f"{t:.2f}" for t in found), f"{found[0] / found[-1]:.2f}"] for name, found in times.items()]
    Terminal().table(["2048 x 2048, ms", *(f"{n} worker{'s' * (n > 1)}" for n in counts), "times as fast"], rows)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--most", type=int, default=10**7, help="ops; sizes go to ten times as many elements")
    most = given.parse_args().most
    for part in (lambda: ops(most), lambda: sizes(10 * most), workers):
        part()
        print()


if __name__ == "__main__":
    main()
