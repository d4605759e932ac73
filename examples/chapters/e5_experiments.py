"""E5: experiments on what runs in parallel.

1. Are products that do not depend on each other run in parallel?
2. Do many small operations gain from more than one thread, on one device?
3. Two devices compute and copy to each other: what does doing all of it at once save?
4. A Cholesky factorisation in blocks, whose steps depend on each other in many ways: is it right without any wait,
   and faster than with a wait after each step?

    python examples/chapters/e5_experiments.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy
from common import median, ms, options, seconds, table, watch

import forerun
from forerun import np, npx, profiler

RUNS = 5


def time(work: Callable[[], object]) -> float:
    """The median of several runs, after one that does not count."""

    def once() -> float:
        return seconds(lambda: (work(), forerun.waitall()))

    once()
    return median(once, RUNS)


def independent_products(n: int, out: Path) -> None:
    x = np.random.uniform(size=(n, n))

    def products(wait: bool) -> None:
        for _ in range(10):
            y = x @ x
            if wait:
                y.wait_to_read()

    one, free = time(lambda: products(True)), time(lambda: products(False))
    with profiler.profile() as p:
        products(False)
    profiler.timeline(p.trace, out / "e5_products.svg", title="Ten products of a matrix with itself")
    rows = [
        ("a wait after each", ms(one)),
        ("one wait", ms(free)),
        ("two at once, in a trace", ms(p.trace.overlap())),
    ]
    table((f"1. ten products of {n} x {n}", "time"), rows)
    side_by_side = p.trace.overlap() > 0.2 * p.trace.span
    print(f"They run {'in parallel' if side_by_side else 'one by one here'}: {free / one:.0%} of the time.\n")


def small_operations(count: int, n: int) -> None:
    found = {}
    for workers in (1, 2):
        forerun.configure(workers=workers)
        chains = [np.ones(n) for _ in range(4)]

        def run(chains: list[np.ndarray] = chains) -> None:
            for _ in range(count // 4):
                for i in range(4):
                    chains[i] = np.sqrt(chains[i])

        found[workers] = time(run)
    rows = [(f"{workers}", ms(t), f"{t / count * 1e6:.2f} us") for workers, t in found.items()]
    table((f"2. {count:,} square roots of {n} numbers; workers", "time", "each"), rows)
    print(f"With two workers they take {found[2] / found[1]:.0%} of the time.\n")


def everything_at_once(n: int, times: int) -> None:
    forerun.configure(cpu_devices=2, workers=1)
    x = [np.random.uniform(size=(n, n // 8), device=npx.cpu(i)) for i in range(2)]
    big = np.random.uniform(size=(n, n), device=npx.cpu(0))

    def compute(i: int) -> list[np.ndarray]:
        return [x[i] @ x[i].T for _ in range(times)]

    def copy() -> list[np.ndarray]:
        return [big.copyto(npx.cpu(1)) for _ in range(times)]

    parts = {
        "compute on cpu(0)": time(lambda: watch(compute(0))),
        "compute on cpu(1)": time(lambda: watch(compute(1))),
        "copy from cpu(0) to cpu(1)": time(lambda: watch(copy())),
    }
    both = time(lambda: watch(compute(0) + compute(1) + copy()))
    rows = [*parts.items(), ("their sum", sum(parts.values())), ("all at once", both)]
    table((f"3. {times} results of {n} x {n} each", "time"), [(name, ms(t)) for name, t in rows])
    print(f"At once they take {both / sum(parts.values()):.0%} of the sum.\n")


def cholesky(a: list[list[np.ndarray]], wait: bool) -> list[list[np.ndarray]]:
    """The lower factor of a symmetric matrix in blocks, block by block."""
    a = [list(row) for row in a]

    def done(x: np.ndarray) -> np.ndarray:
        if wait:
            x.wait_to_read()
        return x

    for k in range(len(a)):
        a[k][k] = done(np.linalg.cholesky(a[k][k]))
        inverse = done(np.linalg.inv(a[k][k]))
        for i in range(k + 1, len(a)):
            a[i][k] = done(a[i][k] @ inverse.T)
        for i in range(k + 1, len(a)):
            for j in range(k + 1, i + 1):
                a[i][j] = done(a[i][j] - a[i][k] @ a[j][k].T)
    return a


def many_dependencies(n: int, blocks: int, out: Path) -> None:
    forerun.configure(cpu_devices=1, workers=2)
    rng = numpy.random.default_rng(1)
    m = rng.normal(size=(n * blocks, n * blocks))
    whole = m @ m.T + n * blocks * numpy.eye(n * blocks)
    parts = [[np.array(whole[i * n : (i + 1) * n, j * n : (j + 1) * n], dtype="float64") for j in range(blocks)]
             for i in range(blocks)]  # fmt: skip
    waiting, free = time(lambda: cholesky(parts, True)), time(lambda: cholesky(parts, False))
    with profiler.profile() as p:
        factor = cholesky(parts, False)
    profiler.timeline(p.trace, out / "e5_cholesky.svg", title="A Cholesky factorisation in blocks")
    profiler.graph(p.trace, out / "e5_cholesky_graph.svg", title="Its dependencies")
    found = numpy.block([[factor[i][j].numpy() if j <= i else numpy.zeros((n, n)) for j in range(blocks)]
                         for i in range(blocks)])  # fmt: skip
    error = abs(found - numpy.linalg.cholesky(whole)).max() / abs(found).max()
    rows = [("a wait after each step", ms(waiting)), ("one wait at the end", ms(free))]
    table((f"4. Cholesky, {blocks} x {blocks} blocks of {n} x {n}, {len(p.trace.ops)} ops", "time"), rows)
    print(
        f"Largest difference from NumPy's factor: {error:.1e}, so it is {'right' if error < 1e-10 else 'WRONG'}."
    )
    print(f"Without the waits it takes {free / waiting:.0%} of the time.\n")


def main() -> None:
    quick, out = options(__doc__)
    independent_products(*((64, out) if quick else (500, out)))
    small_operations(*((200, 100) if quick else (8_000, 20_000)))
    everything_at_once(*((64, 3) if quick else (800, 20)))
    many_dependencies(*((8, 3, out) if quick else (192, 6, out)))
    print(
        f"Pictures: {', '.join(str(out / f'e5_{name}.svg') for name in ('products', 'cholesky', 'cholesky_graph'))}"
    )


if __name__ == "__main__":
    main()
