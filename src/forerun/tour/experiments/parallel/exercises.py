"""E5: the exercises' experiments on parallel execution.

1. Are products that do not depend on each other run in parallel?
2. Do many small operations gain from more than one thread, on one device?
3. Two devices compute and copy to each other: what does doing all of it at once save?
4. A grid in which each matrix is computed from its neighbours on the left and above: is it right without any wait, and
   faster than with a wait after each step?
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import numpy

from forerun import np, npx, profiler

from ...finding import Finding, Row, Run, Table, experiment, percent, seconds
from ...measure import medians, settings, wait

M = TypeVar("M", np.ndarray, numpy.ndarray)


def times(programs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds until all is computed, without a first round, which makes threads and memory."""

    def done(program: Callable[[], object]) -> None:
        kept = program()
        npx.waitall()
        del kept

    apart = {name: lambda program=program: done(program) for name, program in programs.items()}
    medians(apart, 1)
    return medians(apart, rounds)


def independent_products(n: int, rounds: int, picture: Path) -> tuple[Table, str]:
    """The first experiment."""
    x = np.random.uniform(size=(n, n))

    def products(each: bool) -> list[np.ndarray]:
        found = []
        for _ in range(10):
            y = x @ x
            if each:
                y.wait_to_read()
            found.append(y)
        return found

    found = times({"a wait after each": lambda: products(True), "one wait": lambda: products(False)}, rounds)
    with profiler.record() as p:
        wait(products(False))
    profiler.timeline(p.trace, picture, title="Ten products of a matrix with itself")
    one, free = found.values()
    rows = [*((name, seconds(t)) for name, t in found.items()), ("two at once, in a trace", seconds(p.trace.overlap()))]
    return Table(
        (f"1. ten products of {n} x {n}", "time"), rows
    ), f"1. With one wait, {percent(free, one)} of the time."


def small_operations(count: int, n: int, rounds: int) -> tuple[Table, str]:
    """The second one."""
    found = {}
    for workers in (1, 2):
        with settings(workers=workers):
            chains = [np.ones(n) for _ in range(4)]

            def run(chains: list[np.ndarray] = chains) -> None:
                for _ in range(count // 4):
                    for i in range(4):
                        chains[i] = np.sqrt(chains[i])

            found[workers] = times({"run": run}, rounds)["run"]
    rows = [(f"{workers}", seconds(t), seconds(t / count)) for workers, t in found.items()]
    return (
        Table((f"2. {count:,} square roots of {n:,} numbers; workers", "time", "each"), rows),
        f"2. With two workers, {percent(found[2], found[1])} of the time.",
    )


def everything_at_once(n: int, count: int, rounds: int) -> tuple[Table, str]:
    """The third one."""
    with settings(cpu_devices=2, workers=1):
        x = [np.random.uniform(size=(n, n // 8), device=npx.cpu(i)) for i in range(2)]
        big = np.random.uniform(size=(n, n), device=npx.cpu(0))

        def compute(i: int) -> list[np.ndarray]:
            return [x[i] @ x[i].T for _ in range(count)]

        def copy() -> list[np.ndarray]:
            return [big.copyto(npx.cpu(1)) for _ in range(count)]

        found = times(
            {
                "compute on cpu(0)": lambda: compute(0),
                "compute on cpu(1)": lambda: compute(1),
                "copy from cpu(0) to cpu(1)": copy,
                "all at once": lambda: compute(0) + compute(1) + copy(),
            },
            rounds,
        )
    *parts, both = found.values()
    rows = [*((name, seconds(t)) for name, t in found.items()), ("the sum of the first three", seconds(sum(parts)))]
    return (
        Table((f"3. {count} results of {n} x {n} each", "time"), rows),
        f"3. At once, {percent(both, sum(parts))} of the sum.",
    )


def sweep(lib: ModuleType, edge: M, w: M, size: int, step: Callable[[M], M]) -> list[M]:
    """A grid of matrices, each computed from its neighbours on the left and above; row by row."""
    grid: list[M] = []
    for i in range(size):
        for j in range(size):
            left = grid[-1] if j else edge
            above = grid[-size] if i else edge
            grid.append(step(lib.tanh(step(left @ w) - step(above @ w.T))))
    return grid


def many_dependencies(n: int, size: int, rounds: int, pictures: list[Path]) -> tuple[Table, str, float]:
    """The fourth one."""
    rng = numpy.random.default_rng(1)
    values = [rng.normal(0, n**-0.5, (n, n)).astype("float32") for _ in range(2)]

    def waited(x: np.ndarray) -> np.ndarray:
        x.wait_to_read()
        return x

    with settings(workers=2):
        edge, w = map(np.array, values)

        def run(step: Callable[[np.ndarray], np.ndarray]) -> Callable[[], object]:
            return lambda: sweep(np, edge, w, size, step)

        found = times({"a wait after each step": run(waited), "one wait at the end": run(lambda x: x)}, rounds)
        with profiler.record() as p:
            grid = sweep(np, edge, w, size, lambda x: x)
            wait(grid)
        with profiler.record() as small:
            wait(sweep(np, edge, w, min(size, 4), lambda x: x))
    profiler.timeline(p.trace, pictures[0], title="A grid in which each matrix needs two others")
    profiler.graph(small.trace, pictures[1], title="The dependencies of a small grid")
    want = sweep(numpy, values[0], values[1], size, lambda x: x)
    error = max(float(abs(a.asnumpy() - b).max()) for a, b in zip(grid, want))
    each, free = found.values()
    rows: list[Row] = [(name, seconds(t)) for name, t in found.items()]
    return (
        Table((f"4. a grid of {size} x {size} matrices of {n} x {n}, {len(p.trace.ops)} ops", "time"), rows),
        f"4. Without the waits, {percent(free, each)} of the time; NumPy's values within {error:.1e}.",
        error,
    )


@experiment(
    "E5", "What else gains, and is it still right?",
    "independent work runs in parallel on one device and several; results are those of the program in order.",
)  # fmt: skip
def exercises(run: Run) -> Finding:
    pictures = [run.out / f"e5_{name}.svg" for name in ("products", "grid", "grid_graph")]
    quick, rounds = run.quick, run.rounds
    table, answer, error = many_dependencies(*((8, 3) if quick else (256, 8)), rounds, pictures[1:])
    found = [
        independent_products(64 if quick else 500, rounds, pictures[0]),
        small_operations(*((200, 100) if quick else (8_000, 20_000)), rounds),
        everything_at_once(*((64, 3) if quick else (800, 20)), rounds),
        (table, answer),
    ]
    missed = ["values of the grid are WRONG"] if error > 1e-4 else []
    return Finding([table for table, _ in found], [answer for _, answer in found], missed, pictures)
