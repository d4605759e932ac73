"""A2: the back end runs independent work in parallel, and keeps dependent operations in order.

Two chains of operations are issued, one after the other. Inside a chain every operation reads the result of the one
before; between the chains nothing is shared. The trace says when each operation ran, so that both halves of the claim
can be counted. Then four threads issue a chain each, to the one back end.
"""

from __future__ import annotations

import threading

from forerun import np, npx, profiler
from forerun.profiler import Event, Trace

from ...finding import Figure, Finding, Run, Table, experiment, percent
from ...finding import seconds as time
from ...measure import seconds

THREADS = 4


def chain(x: np.ndarray, links: int) -> np.ndarray:
    """Products, each of the result of the one before."""
    for _ in range(links):
        x = x @ x  # rows that sum to 1 still do so afterwards
    return x


def two_chains(n: int, links: int) -> Trace:
    """The trace of two chains that share nothing."""
    starts = [np.full((n, n), 1 / n) for _ in range(2)]
    npx.waitall()
    with profiler.record() as p:
        ends = [chain(x, links) for x in starts]
        npx.waitall()
    del ends
    return p.trace


def issue_from_threads(links: int) -> list[float]:
    """Several front ends: each thread adds to a number of its own."""
    results: list[float] = []

    def front_end(start: int) -> None:
        y = np.full((4,), float(start))
        for _ in range(links):
            y = y + 1
        results.append(y[0].item())

    threads = [threading.Thread(target=front_end, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(results)


def dependent(trace: Trace) -> list[tuple[Event, Event]]:
    """Each op with each op whose result it read."""
    by_number = {e.seq: e for e in trace.ops}
    return [(by_number[d], e) for e in trace.ops for d in e.deps if d in by_number]


def together(a: Event, b: Event) -> bool:
    """Whether two operations ran at the same time."""
    return min(a.ended, b.ended) > max(a.started, b.started)


@experiment(
    "A2", "Several front ends, one back end",
    "the back end has threads and queues of its own and tracks which operation depends on which.",
)  # fmt: skip
def chains(run: Run) -> Finding:
    # A product of this size is run by one core; a larger one would be cut, and take all cores for itself.
    n, links, steps = run.size("n", 256, 384), run.size("links", 8, 20), run.size("steps", 200, 2000)
    two_chains(n, links)  # the first run makes threads and memory
    trace = two_chains(n, links)
    picture = run.out / "a2_chains.svg"
    profiler.timeline(trace, picture, title="Two chains of products")

    pairs = dependent(trace)
    in_order = sorted(trace.ops, key=lambda e: e.seq)
    first, second = in_order[:links], in_order[links:]
    apart = sum(not together(a, b) for a, b in pairs)
    across = sum(any(together(a, b) for b in second) for a in first)
    results: list[float] = []
    taken = seconds(lambda: results.extend(issue_from_threads(steps)))
    right = results == [float(i + steps) for i in range(THREADS)]
    busy = percent(trace.overlap(), trace.span)
    return Finding(
        [
            Table(
                (f"two chains of {links} ops", "figure"),
                [
                    ("time of all ops, summed", time(sum(e.duration for e in trace.ops))),
                    ("time from the first issue to the last end", time(trace.span)),
                    ("time in which two threads ran ops", time(trace.overlap())),
                    ("pairs where one op reads the other's result", Figure(len(pairs))),
                    ("  of them never at the same time", Figure(apart)),
                    ("ops of chain 1 that ran while one of chain 2 did", Figure(across)),
                ],
            ),
            Table(
                (f"{THREADS} threads, each a chain of dependent ops", "time", "results"),
                [(f"{THREADS * steps:,} ops", time(taken), "right" if right else f"WRONG: {results}")],
            ),
        ],
        [f"Two threads were busy for {busy} of the time."],
        [
            *(["dependent operations ran at the same time"] if apart < len(pairs) else []),
            *([] if right else ["results of several front ends are WRONG"]),
        ],
        [picture],
    )
