"""A3: the dependency graph of `z = x * y + 2`, drawn from the running program.

The program declares no graph: the engine finds it while operations are issued. The trace has the four operations, which
read which results, and the line that waited: it prints z, and no other line waits.
"""

from __future__ import annotations

from forerun import np, profiler

from ...finding import Finding, Run, Table, experiment, seconds
from ...measure import HANDED_OVER, settings


@experiment(
    "A3", "The graph of z = x * y + 2, and the line that waits",
    "each statement only hands a task to the back end; printing z waits.",
)  # fmt: skip
def graph(run: Run) -> Finding:
    with settings(passes=HANDED_OVER), profiler.record() as p:
        x = np.ones((1, 2))
        y = np.ones((1, 2))
        z = x * y + 2
        shown = f"{z}"  # the first line that needs numbers
    trace = p.trace
    pictures = [run.out / f"a3_{name}.svg" for name in ("graph", "timeline")]
    profiler.graph(trace, pictures[0], title="z = x * y + 2")
    profiler.timeline(trace, pictures[1], title="z = x * y + 2: front end and back end")

    ops = sorted(trace.ops, key=lambda e: e.seq)
    name = {e.seq: f"{e.name} #{e.seq - ops[0].seq + 1}" for e in ops}
    rows = [
        (
            name[e.seq],
            ", ".join(name[d] for d in e.deps if d in name) or "nothing",
            seconds(e.issued - trace.start),
            seconds(e.ended - trace.start),
        )
        for e in ops
    ]
    free = [name[e.seq] for e in ops if not any(d in name for d in e.deps)]
    waits = ", ".join(w.line for w in trace.waits if w.cause != "end")
    return Finding(
        [Table(("operation", "read the results of", "issued", "ended"), rows)],
        [
            f"z is {shown}. Could run at any time, also in parallel: {', '.join(free)}.",
            f"It waited at {waits}." if waits else "All was computed before it was asked for.",
        ],
        [] if shown == "[[3. 3.]]" else [f"z is WRONG: {shown}"],
        pictures,
    )
