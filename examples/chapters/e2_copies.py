"""E2: results are copied to another device while later ones are still computed.

Products are computed on one device and copied to another: with a wait between computing and copying, and without.
Without it, y[i - 1] is copied while y[i] is computed, because copies have a queue of their own. The trace says how
many copies had begun before the last product was computed.

    python examples/chapters/e2_copies.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from collections.abc import Callable

from common import median, ms, options, seconds, table, wait

import forerun
from forerun import np, npx, profiler
from forerun.profiler import Trace


def run(x: np.ndarray, times: int) -> list[np.ndarray]:
    """Results that take a while to copy, for the work that they are."""
    return [x @ x.T for _ in range(times)]


def copied(results: list[np.ndarray]) -> list[np.ndarray]:
    return [y.copyto(npx.cpu(0)) for y in results]


def main() -> None:
    quick, out = options(__doc__)
    n, inner, times, runs = (64, 8, 4, 3) if quick else (1000, 100, 24, 5)
    forerun.configure(cpu_devices=2)
    x = np.random.uniform(size=(n, inner), device=npx.cpu(1))

    def with_wait() -> None:
        y = run(x, times)
        wait(y)
        wait(copied(y))

    def without() -> None:
        wait(copied(run(x, times)))

    def traced(program: Callable[[], None]) -> Trace:
        with profiler.record() as p:
            program()
        return p.trace

    with_wait()  # the first run makes threads and memory
    y = run(x, times)
    wait(y)
    rows = {
        "compute": median(lambda: seconds(lambda: wait(run(x, times))), runs),
        "copy": median(lambda: seconds(lambda: wait(copied(y))), runs),
        "compute, wait, copy": median(lambda: seconds(with_wait), runs),
        "compute and copy": median(lambda: seconds(without), runs),
    }
    table((f"{times} products, results of {n} x {n}", "time"), [(name, ms(t)) for name, t in rows.items()])

    for name, program in (("with the wait", with_wait), ("without the wait", without)):
        trace = traced(program)
        profiler.timeline(trace, out / f"e2_{name.split()[0]}.svg", title=f"Compute and copy, {name}")
        last = max(e.ended for e in trace.ops if e.queue == "compute")
        copies = [e for e in trace.ops if e.queue == "copy"]
        early = sum(e.started < last for e in copies)
        print(f"Traced {name}: {early} of {len(copies)} copies began before the last product was done.")
    saved = rows["compute, wait, copy"] - rows["compute and copy"]
    word = "less" if saved > 0 else "more"
    print(f"Without the wait it takes {ms(abs(saved))} {word}; all copies alone take {ms(rows['copy'])}.")
    print(f"Pictures: {out / 'e2_with.svg'}, {out / 'e2_without.svg'}")


if __name__ == "__main__":
    main()
