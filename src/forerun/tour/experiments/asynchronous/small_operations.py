"""C1: many times `y = x + 1`, by when the program waits; and a model of the time, beside measurements.

Of one operation, t1 is the front end's part (issuing), t2 the back end's (running), t3 the return (learning that the
result is computed). With a wait after each of N operations, that should make N (t1 + t2 + t3); with one wait at the end
t1 + N t2 + t3, provided that N t2 > (N - 1) t1. If that does not hold, the back end runs dry and waits for the front
end: then the time should be N t1 + t2 + t3. The three parts are measured by themselves, for a tiny array, where the
condition need not hold, and for a larger one.

All operations are handed to the back end for the model. By default an operation as small as the tiny one is not: it
runs in the call, which costs less than handing it over (docs/explanation/engine.md). The loops beside NumPy's are
measured that way. Where their results are thrown away, most are never computed: those rows show the cost of issuing.
Where results are kept, all are computed, and NumPy keeps them, too.

t2 is taken with all operations issued, so with every worker at it; after a single one that is waited for the other
workers have nothing to do.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy

from forerun import np, npx

from ...finding import Figure, Finding, Row, Run, Table, experiment, percent
from ...finding import seconds as time
from ...measure import HANDED_OVER, in_turn, median_ratio, seconds, settings, wait

N = 10_000
X = TypeVar("X", np.ndarray, numpy.ndarray)


def issue(x: X, n: int) -> X:
    """Results that are thrown away."""
    for _ in range(n):
        y = x + 1
    return y


def issue_and_keep(x: X, n: int) -> list[X]:
    """Results that are kept."""
    return [x + 1 for _ in range(n)]


def wait_at_the_end(x: np.ndarray, n: int) -> None:
    """One wait, for the last result."""
    issue(x, n).wait_to_read()


def wait_for_all(x: np.ndarray, n: int) -> None:
    """One wait, for all results."""
    ys = issue_and_keep(x, n)
    npx.waitall()
    del ys


def wait_after_each(x: np.ndarray, n: int) -> None:
    """A wait for each result."""
    for _ in range(n):
        y = x + 1
        y.wait_to_read()


def wait_after_each_and_keep(x: np.ndarray, n: int) -> None:
    """A wait for each result, which is kept."""
    ys = []
    for _ in range(n):
        ys.append(x + 1)
        ys[-1].wait_to_read()


def each_on_the_one_before(x: np.ndarray, n: int) -> None:
    """A chain, with one wait."""
    for _ in range(n):
        x = x + 1
    x.wait_to_read()


@dataclass
class Parts:
    """Seconds of one operation."""

    t1: float
    t2: float
    t3: float

    def waiting_each(self, n: int) -> float:
        """The model with a wait after each."""
        return n * (self.t1 + self.t2 + self.t3)

    def back_end_is_slower(self, n: int) -> bool:
        """Whether the back end is never without work."""
        return n * self.t2 > (n - 1) * self.t1

    def waiting_once(self, n: int) -> float:
        """The model with one wait."""
        if self.back_end_is_slower(n):
            return self.t1 + n * self.t2 + self.t3
        return n * self.t1 + self.t2 + self.t3


def parts(x: np.ndarray, n: int) -> Parts:
    """Each part by itself. The back end cannot begin before x is computed, which the program controls."""
    go = threading.Event()
    (late,) = npx.host(lambda values: (go.wait(), values)[1], [x], [(x.shape, x.dtype)])
    results: list[np.ndarray] = []  # are kept: an operation whose result no program can read does not run
    try:
        t1 = seconds(lambda: results.extend(issue_and_keep(late, n))) / n
    finally:
        go.set()
    t2 = seconds(npx.waitall) / n
    t3 = seconds(lambda: wait(results)) / n
    return Parts(t1, t2, t3)


def measured(x: np.ndarray, n: int, rounds: int) -> tuple[Parts, float, float]:
    """The parts, and the seconds of both loops."""
    found = []
    for _ in range(rounds + 1):  # the first run makes threads and memory
        npx.waitall()
        p = parts(x, n)
        each = seconds(lambda: wait_after_each_and_keep(x, n))
        once = seconds(lambda: wait_for_all(x, n))
        found.append((p.t1, p.t2, p.t3, each, once))
    t1, t2, t3, each, once = (statistics.median(column) for column in zip(*found[1:]))
    return Parts(t1, t2, t3), each, once


def beside_numpy(n: int, rounds: int) -> Table:
    """The loops as forerun is set."""
    x, a = np.ones((1, 2)), numpy.ones((1, 2), "float32")
    programs: dict[str, Callable[[], object]] = {
        "NumPy": lambda: issue(a, n),
        "NumPy, results kept": lambda: issue_and_keep(a, n),
        "issue only": lambda: issue(x, n),
        "(drain)": npx.waitall,
        "issue, one wait at the end": lambda: wait_at_the_end(x, n),
        "the same, results kept": lambda: wait_for_all(x, n),
        "a wait after each": lambda: wait_after_each(x, n),
        "each on the one before, one wait": lambda: each_on_the_one_before(x, n),
    }
    in_turn(programs, 3)  # the first runs make threads and memory
    found = in_turn(programs, rounds)
    del found["(drain)"]
    rows: list[Row] = []
    for name, taken in found.items():
        to = median_ratio(taken, found["NumPy, results kept" if name.endswith("kept") else "NumPy"])
        rows.append((name, time(statistics.median(taken) / n), time(min(taken) / n), Figure(to, "x")))
    return Table((f"y = x + 1 on (1, 2), {n:,} times", "an op", "least", "to NumPy"), rows)


def beside_model(shape: tuple[int, ...], n: int, rounds: int) -> tuple[Table, str]:
    """The loops with all operations handed over, and the model's times."""
    with settings(passes=HANDED_OVER):
        p, each, once = measured(np.ones(shape), n, rounds)
    slower, sign = ("back", ">") if p.back_end_is_slower(n) else ("front", "<=")
    rows: list[Row] = [
        ("a wait after each", *map(time, (p.t1, p.t2, p.t3, p.waiting_each(n), each))),
        ("one wait at the end", "", "", "", time(p.waiting_once(n)), time(once)),
    ]
    answer = (
        f"{shape}: {n} t2 {sign} {n - 1} t1, so the {slower} end sets the pace. One wait takes {percent(once, each)} "
        "of the time that a wait after each takes. A single wait costs "
        f"{(each - p.waiting_each(n)) / n * 1e6:+.2f} us that t1 + t2 + t3 do not explain."
    )
    return Table((f"{n:,} times, all handed over, x of shape {shape}", "t1", "t2", "t3", "model", "time"), rows), answer


@experiment(
    "C1", "Improving computation",
    "with a wait after each, N (t1 + t2 + t3); with one at the end, t1 + N t2 + t3, if N t2 > (N - 1) t1.",
)  # fmt: skip
def small_operations(run: Run) -> Finding:
    n = run.size("n", 500, N)
    models = [beside_model((1, 2), n, run.rounds), beside_model((1 << 15,), n // 20, run.rounds)]
    return Finding([beside_numpy(n, run.rounds), *(table for table, _ in models)], [answer for _, answer in models])
