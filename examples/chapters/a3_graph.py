"""A3: the dependency graph of `z = x*y + 2`, drawn from the running program.

A program declares no graph: the engine finds it while operations are issued. The script records the four operations,
prints which one read which results, says who waited (the line that prints z, and no other), and draws the graph.

    python examples/chapters/a3_graph.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from common import ms, options, table

from forerun import np, profiler


def main() -> None:
    _, out = options(__doc__)
    with profiler.record() as p:
        x = np.ones((1, 2))
        y = np.ones((1, 2))
        z = x * y + 2
        print(f"z = {z}\n")  # the first line that needs numbers
    profiler.graph(p.trace, out / "a3_graph.svg", title="z = x*y + 2")

    ops = sorted(p.trace.ops, key=lambda e: e.seq)
    name = {e.seq: f"{e.name} #{e.seq - ops[0].seq + 1}" for e in ops}
    table(
        ("operation", "line", "read the results of", "issued", "ended"),
        [
            (
                name[e.seq],
                e.line,
                ", ".join(name[d] for d in e.deps if d in name) or "nothing",
                ms(e.issued - p.trace.start),
                ms(e.ended - p.trace.start),
            )
            for e in ops
        ],
    )
    free = [name[e.seq] for e in ops if not any(d in name for d in e.deps)]
    print(f"Could run at any time, also in parallel: {', '.join(free)}.")
    here = [w for w in p.trace.waits if w.cause != "end"]
    places = ", ".join(w.line for w in here) or "no line: all was done before it was asked for"
    print(f"Waits inside the snippet: {len(here)}, at {places}.")
    print(f"Picture: {out / 'a3_graph.svg'}")


if __name__ == "__main__":
    main()
