"""Experiments on asynchronous computation: issuing, waiting, what each part of an operation costs."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy

from .. import np, npx, profiler
from .._runtime import core as _core
from .measure import medians, ms, seconds, settings, times, us
from .screen import Finding

HANDED_OVER = "drop,fuse,reuse"  # passes with which the back end gets the smallest operations, too


def issue_and_wait(out: Path, quick: bool) -> Finding:
    """Measure ten products of random matrices, issued and waited for."""
    n = 300 if quick else 1000

    def in_numpy() -> None:
        for _ in range(10):
            a = numpy.random.normal(size=(n, n))  # noqa: NPY002 - the chapter's own
            numpy.dot(a, a)

    def in_numpy32() -> None:
        generator = numpy.random.default_rng()
        for _ in range(10):
            a = generator.standard_normal((n, n), "float32")
            numpy.dot(a, a)

    def issue() -> list[Any]:  # kept: unused results are not computed
        results = []
        for _ in range(10):
            a = np.random.normal(size=(n, n))
            results.append(np.dot(a, a))
        return results

    def wait() -> None:
        results = issue()
        _core.waitall()
        del results

    programs = {
        "NumPy, float64 as in the chapter": in_numpy, "NumPy, float32": in_numpy32, "forerun, issue": issue,
        "forerun, wait": wait,
    }  # fmt: skip
    found = medians(programs, 3)
    base = found["NumPy, float32"]
    rows = [[name, ms(t), times(t / base)] for name, t in found.items()]
    share = found["forerun, issue"] / found["forerun, wait"]
    return Finding(
        ("", "10 x (normal, dot)", "to NumPy float32"),
        rows,
        [f"Issuing takes {100 * share:.2g}% of the time that the work takes; the wait shows the rest."],
    )


def graph_of_a_snippet(out: Path, quick: bool) -> Finding:
    """Record the graph of z = x * y + 2."""
    with settings(passes=HANDED_OVER), profiler.record() as profile:
        x = np.ones((1, 2))
        y = np.ones((1, 2))
        z = x * y + 2
        shown = str(z)
    profiler.graph(profile.trace, out / "snippet-graph.svg")
    title = "z = x * y + 2: front end and back end"
    profiler.timeline(profile.trace, out / "snippet-timeline.svg", title=title)
    ops, start = profile.trace.ops, profile.trace.ops[0].issued
    reading = [e for e in profile.trace.waits if e.cause == "print"]
    waited = f"print waited {us(reading[0].duration)}" if reading else "it was computed before print"
    return Finding(
        ("", "issued", "ended"),
        [[f"{e.name} (op {e.seq})", us(e.issued - start), us(e.ended - start)] for e in ops],
        [f"z is {shown}; {waited}. Drawn from this run: snippet-graph.svg, snippet-timeline.svg."],
    )


def barriers(out: Path, quick: bool) -> Finding:
    """Waiting for one array while later work goes on."""
    n = 200 if quick else 700
    a = np.random.normal(size=(n, n))
    _core.waitall()

    def one() -> None:
        b = np.dot(a, a)
        later = [np.dot(a, a) for _ in range(10)]
        b.wait_to_read()
        del later

    def everything() -> None:
        b = np.dot(a, a)
        later = [np.dot(a, a) for _ in range(10)]
        npx.waitall()
        del b, later

    found = medians({"b.wait_to_read()": one, "npx.waitall()": everything}, 7)
    share = found["b.wait_to_read()"] / found["npx.waitall()"]
    return Finding(
        ("b = dot(a, a), ten more behind it", "until the wait returns"),
        [[name, ms(t)] for name, t in found.items()],
        [f"Waiting for b alone takes {100 * share:.0f}% of the time of waiting for all."],
    )


def blockers(out: Path, quick: bool) -> Finding:
    """Conversions inside a loop, and the reports that find them."""
    steps = 50 if quick else 300
    data = np.random.normal(size=(128, 128))
    _core.waitall()

    def often() -> float:
        total = 0.0
        for _ in range(steps):
            total += np.tanh(data).sum().item()
        return total

    def once() -> float:
        total = np.zeros(())
        for _ in range(steps):
            total = total + np.tanh(data).sum()
        return total.item()

    found = medians({"item() in each step": often, "item() at the end": once}, 5)
    with profiler.record() as profile:
        often()
    lines: dict[str, int] = {}
    for wait in profile.trace.waits:
        if wait.cause != "end":
            lines[wait.line] = lines.get(wait.line, 0) + 1
    worst = max(lines, key=lambda place: lines[place])
    return Finding(
        (f"sum of tanh, {steps} steps", "time"),
        [[name, ms(t)] for name, t in found.items()],
        [f"The profiler names the line that waits most: {worst}, {lines[worst]} times."],
    )


def improving_computation(out: Path, quick: bool) -> Finding:
    """Measure y = x + 1, many times, and compare it with the chapter's model of measured terms."""
    n = 2_000 if quick else 10_000
    x, plain = np.ones((1, 2)), numpy.ones((1, 2), "float32")

    def in_numpy() -> Any:  # all keep their results: unused ones are not computed
        return [plain + 1 for _ in range(n)]

    def wait_each() -> None:
        for _ in range(n):
            y = x + 1
            y.wait_to_read()

    def wait_once() -> None:
        results = issue()
        _core.waitall()
        del results

    def issue() -> Any:
        return [x + 1 for _ in range(n)]

    programs = {"NumPy": in_numpy, "a wait after each": wait_each, "one wait at the end": wait_once}
    usual = medians(programs, 5)["a wait after each"] / n
    with settings(passes=HANDED_OVER):
        medians(programs, 3)
        found = medians(programs, 9)
        t1 = medians({"issue": issue}, 9)["issue"] / n
        t2, t3 = _run_and_hand_back(n)
    modelled = {"a wait after each": n * (t1 + t2 + t3), "one wait at the end": t1 + n * max(t1, t2) + t3}
    rows = [
        [name, us(t / n), times(t / found["NumPy"]), us(modelled[name] / n) if name in modelled else ""]
        for name, t in found.items()
    ]
    if n * t2 > (n - 1) * t1:
        answer = "N t2 > (N - 1) t1 holds here: the front end is always ahead, and N t2 is what counts."
    else:
        answer = (
            "N t2 > (N - 1) t1 does not hold here: issuing is the slower half, the back end waits for the front end, "
            "and N t1 takes the place of N t2 in the model."
        )
    return Finding(
        (f"y = x + 1 on (1, 2), {n:,} times", "per op", "to NumPy", "the model"),
        rows,
        [
            f"Measured apart: issue t1 = {us(t1)}, run t2 = {us(t2)}, hand back t3 = {us(t3)}. {answer}",
            "Every operation was handed to the back end here. As forerun is set, one so small runs in the call: "
            f"{us(usual)} with a wait after each.",
        ],
    )


def _run_and_hand_back(n: int) -> tuple[float, float]:
    """Return t2 and t3 of one small op: issued while the engine stands still, then let run, then waited for again
    and again."""
    x = np.ones((1, 2))
    y = x + 1
    y.wait_to_read()

    def issue() -> Any:
        return [x + 1 for _ in range(n)]

    def hand_back() -> None:
        for _ in range(n):
            y.wait_to_read()

    best = [1.0, 1.0]
    for _ in range(9):
        _core.waitall()
        _core.gate(True)
        try:
            results = issue()
        finally:
            start = time.perf_counter()
            _core.gate(False)
        _core.waitall()
        t2 = (time.perf_counter() - start) / n
        del results
        best = [min(a, b) for a, b in zip(best, (t2, seconds(hand_back) / n))]
    return best[0], best[1]


def front_ends(out: Path, quick: bool) -> Finding:
    """Measure several threads that issue at once; dependent operations keep their order."""
    steps = 200 if quick else 2000
    results: list[float] = []

    def chain(start: int) -> None:
        y = np.full((4,), float(start))
        for _ in range(steps):
            y = y + 1
        results.append(y[0].item())

    threads = [threading.Thread(target=chain, args=(i,)) for i in range(4)]

    def all_at_once() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    taken = seconds(all_at_once)
    right = sorted(results) == [float(i + steps) for i in range(4)]
    return Finding(
        ("four threads, each a chain of dependent ops", "time", "results"),
        [[f"{4 * steps:,} ops", ms(taken), "right" if right else f"wrong: {results}"]],
    )
