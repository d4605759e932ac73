"""E5: experiments on what runs in parallel.

1. Are products that do not depend on each other run in parallel?
2. Do many small operations gain from more than one thread, on one device?
3. Two devices compute and copy to each other: what does doing all of it at once save?
4. A grid in which each matrix is computed from its neighbours on the left and above: is it right without any wait, and
   faster than with a wait after each step?

    python examples/chapters/e5_experiments.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
from common import median, ms, options, seconds, table, wait

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
    with profiler.record() as p:
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
        "compute on cpu(0)": time(lambda: wait(compute(0))),
        "compute on cpu(1)": time(lambda: wait(compute(1))),
        "copy from cpu(0) to cpu(1)": time(lambda: wait(copy())),
    }
    both = time(lambda: wait(compute(0) + compute(1) + copy()))
    rows = [*parts.items(), ("their sum", sum(parts.values())), ("all at once", both)]
    table((f"3. {times} results of {n} x {n} each", "time"), [(name, ms(t)) for name, t in rows])
    print(f"At once they take {both / sum(parts.values()):.0%} of the sum.\n")


def sweep(lib: ModuleType, edge: Any, w: Any, size: int, step: Callable[[Any], Any]) -> list[list[Any]]:
    """A grid of matrices, each computed from its neighbours on the left and above."""
    grid: list[list[Any]] = []
    for i in range(size):
        row: list[Any] = []
        for j in range(size):
            left = row[j - 1] if j else edge
            above = grid[i - 1][j] if i else edge
            row.append(step(lib.tanh(step(left @ w) - step(above @ w.T))))
        grid.append(row)
    return grid


def many_dependencies(n: int, size: int, out: Path) -> None:
    forerun.configure(cpu_devices=1, workers=2)
    rng = numpy.random.default_rng(1)
    values = [rng.normal(0, n**-0.5, (n, n)).astype("float32") for _ in range(2)]
    edge, w = map(np.array, values)

    def waited(x: np.ndarray) -> np.ndarray:
        x.wait_to_read()
        return x

    def run(step: Callable[[Any], Any]) -> list[list[Any]]:
        return sweep(np, edge, w, size, step)

    waiting, free = time(lambda: run(waited)), time(lambda: run(lambda x: x))
    with profiler.record() as p:
        grid = run(lambda x: x)
    profiler.timeline(p.trace, out / "e5_grid.svg", title="A grid in which each matrix needs two others")
    with profiler.record() as small:
        sweep(np, edge, w, min(size, 4), lambda x: x)
    profiler.graph(small.trace, out / "e5_grid_graph.svg", title="The dependencies of a small grid")
    want = sweep(numpy, *values, size, lambda x: x)
    error = max(float(abs(a.numpy() - b).max()) for ours, theirs in zip(grid, want) for a, b in zip(ours, theirs))
    rows = [("a wait after each step", ms(waiting)), ("one wait at the end", ms(free))]
    table((f"4. a grid of {size} x {size} matrices of {n} x {n}, {len(p.trace.ops)} ops", "time"), rows)
    print(f"The largest difference from NumPy's values is {error:.1e}: {'right' if error < 1e-4 else 'WRONG'}.")
    print(f"Without the waits it takes {free / waiting:.0%} of the time.\n")


def main() -> None:
    quick, out = options(__doc__)
    independent_products(*((64, out) if quick else (500, out)))
    small_operations(*((200, 100) if quick else (8_000, 20_000)))
    everything_at_once(*((64, 3) if quick else (800, 20)))
    many_dependencies(*((8, 3, out) if quick else (256, 8, out)))
    print(f"Pictures: {', '.join(str(out / f'e5_{name}.svg') for name in ('products', 'grid', 'grid_graph'))}")


if __name__ == "__main__":
    main()
