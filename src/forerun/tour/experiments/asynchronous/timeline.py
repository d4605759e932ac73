"""A4: how front end and back end work together, drawn from a real run: which thread issued, ran, and waited.

A small loop multiplies matrices and, at the end, asks for one number. The timeline has the front end above (a tick
for each operation issued, hatched where it waited) and the back end's threads below.
"""

from __future__ import annotations

from collections import Counter

from forerun import np, npx, profiler
from forerun.profiler import Trace

from ...finding import Figure, Finding, Run, Table, experiment, percent, seconds


def recorded(n: int, steps: int) -> Trace:
    """The trace of the loop."""
    weights = [np.random.normal(scale=1 / n, size=(n, n)) for _ in range(2)]
    npx.waitall()
    with profiler.record() as p:
        total = np.zeros(())
        for step in range(steps):
            left, right = (np.tanh(w + step) @ w for w in weights)
            total = total + (left * right).sum()
        total.item()  # the only line that needs a value
    return p.trace


@experiment(
    "A4", "Front end and back end", "a picture of a run shows which threads issued, ran and waited.",
)  # fmt: skip
def timeline(run: Run) -> Finding:
    n, steps = run.size("n", 64, 400), run.size("steps", 3, 12)
    recorded(n, steps)  # the first run makes threads and memory
    trace = recorded(n, steps)
    picture = run.out / "a4_timeline.svg"
    profiler.timeline(trace, picture, title="Front end and back end")

    issued = max(e.issued for e in trace.ops) - trace.start
    waited = sum(w.duration for w in trace.waits)
    # A thread that waits helps: it runs ops, too.
    helpers = {w.thread for w in trace.waits}
    ran = Counter("front end, while it waited" if e.thread in helpers else "workers" for e in trace.ops)
    longest = max(trace.waits, key=lambda w: w.duration).line if trace.waits else "no line"
    rows = [
        ("ops", Figure(len(trace.ops))),
        ("the whole run", seconds(trace.span)),
        ("front end: issuing, from the first op to the last", seconds(issued)),
        ("front end: waiting", seconds(waited)),
        *((f"ops run by: {thread}", Figure(count)) for thread, count in sorted(ran.items())),
        ("two or more threads ran ops during", seconds(trace.overlap())),
    ]
    return Finding(
        [Table(("one run", "figure"), rows)],
        [
            f"The front end had issued everything after {percent(issued, trace.span)} of the time. It waited for "
            f"{percent(waited, trace.span)} of it, longest at {longest}."
        ],
        pictures=[picture],
    )
