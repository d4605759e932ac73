"""C1: many times `y = x + 1`, with a wait after each, and with one wait: a model of the time, and measurements.

Of one operation, t1 is the front end's part (issuing), t2 the back end's (running), t3 the way back (learning that the
result is computed). With a wait after each of N operations, that should make N (t1 + t2 + t3); with one wait at the
end t1 + N t2 + t3, provided that N t2 > (N - 1) t1. The script measures the three by themselves and puts the model
beside the clock, for a tiny array, where the condition need not hold, and for a larger one. If it does not hold, the
back end runs dry and waits for the front end: then the time should be N t1 + t2 + t3.

All operations are handed to the back end for that. By default an operation as small as the tiny one is not: it runs in
the call, which costs less than handing it over (docs/explanation/engine.md). Both loops are measured that way, too.

t2 is taken with all operations issued, so with every worker at it; after a single one that is waited for there is
nothing else for the other workers to do.

    python examples/chapters/c1_model.py [--quick]
"""

from __future__ import annotations

import statistics
import threading
from dataclasses import dataclass

from common import options, seconds, table

import forerun
from forerun import np, npx

USUAL = forerun.config()["passes"]
HANDED_OVER = "drop,fuse,reuse"  # all but "at_once"


@dataclass
class Parts:
    """Seconds of one operation."""

    t1: float
    t2: float
    t3: float

    def waiting_each(self, n: int) -> float:
        return n * (self.t1 + self.t2 + self.t3)

    def back_end_is_slower(self, n: int) -> bool:
        return n * self.t2 > (n - 1) * self.t1

    def waiting_once(self, n: int) -> float:
        if self.back_end_is_slower(n):
            return self.t1 + n * self.t2 + self.t3
        return n * self.t1 + self.t2 + self.t3


def issue(x: np.ndarray, n: int) -> np.ndarray:
    for _ in range(n):
        y = x + 1
    return y


def wait_each(x: np.ndarray, n: int) -> None:
    for _ in range(n):
        y = x + 1
        y.wait_to_read()


def parts(x: np.ndarray, n: int) -> Parts:
    """Each part by itself. The back end cannot begin before x is computed, and the script decides when that is."""
    go = threading.Event()
    (late,) = npx.host(lambda values: (go.wait(), values)[1], [x], [(x.shape, x.dtype)])
    results = []
    try:
        t1 = seconds(lambda: results.append(issue(late, n))) / n
    finally:
        go.set()
    t2 = seconds(lambda: results[0].wait_to_read()) / n
    t3 = seconds(lambda: [results[0].wait_to_read() for _ in range(n)]) / n
    return Parts(t1, t2, t3)


def medians(x: np.ndarray, n: int, runs: int) -> tuple[Parts, float, float]:
    found = []
    for _ in range(runs + 1):  # the first run makes threads and memory
        forerun.waitall()
        p = parts(x, n)
        found.append((p.t1, p.t2, p.t3, seconds(lambda: wait_each(x, n)), seconds(lambda: issue(x, n).wait_to_read())))
    t1, t2, t3, each, once = (statistics.median(column) for column in zip(*found[1:]))
    return Parts(t1, t2, t3), each, once


def in_the_call(x: np.ndarray, n: int, runs: int) -> tuple[float, float]:
    """Both loops, where small operations need not be handed over."""
    forerun.configure(passes=USUAL)
    try:
        each = statistics.median(seconds(lambda: wait_each(x, n)) for _ in range(runs))
        once = statistics.median(seconds(lambda: issue(x, n).wait_to_read()) for _ in range(runs))
    finally:
        forerun.configure(passes=HANDED_OVER)
    return each, once


def main() -> None:
    quick, _ = options(__doc__)
    forerun.configure(passes=HANDED_OVER)
    n, runs = (500, 3) if quick else (10_000, 5)
    answers = []
    for shape in ((1, 2), (1 << 15,)):
        x = np.ones(shape)
        p, each, once = medians(x, n, runs)
        table(
            (f"{n:,} x (y = x + 1), x of shape {shape}", "t1", "t2", "t3", "model", "measured"),
            [
                (
                    "a wait after each",
                    *(f"{t * 1e6:.2f} us" for t in (p.t1, p.t2, p.t3)),
                    f"{p.waiting_each(n) * 1e3:.1f} ms",
                    f"{each * 1e3:.1f} ms",
                ),
                (
                    "one wait at the end",
                    "",
                    "",
                    "",
                    f"{p.waiting_once(n) * 1e3:.1f} ms",
                    f"{once * 1e3:.1f} ms",
                ),
            ],
        )
        tiny_each, tiny_once = in_the_call(x, n, runs)
        slower = "back" if p.back_end_is_slower(n) else "front"
        sign = ">" if slower == "back" else "<="
        rest = (each - p.waiting_each(n)) / n * 1e6
        answers.append(
            f"{shape}: {n} t2 {sign} {n - 1} t1, so the {slower} end sets the pace.\n"
            f"  One wait takes {once / each:.0%} of the time that a wait after each takes.\n"
            f"  A single wait costs {rest:+.2f} us that t1 + t2 + t3 do not explain.\n"
            f"  As forerun is set: {tiny_each * 1e3:.1f} ms with a wait after each, {tiny_once * 1e3:.1f} ms with one."
        )
    print("\n".join(answers))


if __name__ == "__main__":
    main()
