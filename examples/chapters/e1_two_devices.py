"""E1: the same work on two devices at once takes clearly less time than on one after the other.

`run(x)` issues a number of products of a matrix with itself, on the device where the matrix is. The script splits the
cores into two logical devices, times `run` on each alone, and then issues both without a wait between them: nothing in
the program says "parallel".

    python examples/chapters/e1_two_devices.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

import time

from common import median, ms, options, seconds, table, wait

import forerun
from forerun import np, npx, profiler


def run(x: np.ndarray, times: int) -> list[np.ndarray]:
    return [x @ x for _ in range(times)]


def main() -> None:
    quick, out = options(__doc__)
    n, times, runs = (64, 4, 3) if quick else (500, 50, 5)
    forerun.configure(cpu_devices=2)
    first, second = (np.random.uniform(size=(n, n), device=npx.cpu(i)) for i in range(2))

    def done(*matrices: np.ndarray) -> float:
        return median(lambda: seconds(lambda: wait([y for x in matrices for y in run(x, times)])), runs)

    done(first, second)  # the first run makes threads and memory
    one, other, both = done(first), done(second), done(first, second)
    cpu = time.process_time()
    with profiler.record() as p:
        wait(run(first, times) + run(second, times))
    cores = (time.process_time() - cpu) / p.trace.span
    profiler.timeline(p.trace, out / "e1_two_devices.svg", title=f"{times} products on each of two devices")

    table(
        (f"{times} products of {n} x {n}", "time"),
        [
            (f"on {first.device}", ms(one)),
            (f"on {second.device}", ms(other)),
            ("sum of the two", ms(one + other)),
            ("issued together", ms(both)),
        ],
    )
    share, overlap = both / (one + other), p.trace.overlap() / p.trace.span
    print(f"Together they take {share:.0%} of the sum. In the traced run, both devices were busy for {overlap:.0%}")
    print(f"of the time, with the processor time of {cores:.1f} cores: ", end="")
    if overlap < 0.5:
        print("too little work to run side by side.")
    elif cores < 1.5:
        print("they ran side by side, but other programs had the rest.")
    else:
        print("they ran side by side." if share < 0.8 else "side by side, and yet without a clear gain.")
    print(f"Picture: {out / 'e1_two_devices.svg'}")


if __name__ == "__main__":
    main()
