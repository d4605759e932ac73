"""A2: the back end runs independent work in parallel, and keeps dependent operations in order.

Two chains of operations are issued, one after the other. Inside a chain every operation reads the result of the one
before; between the chains nothing is shared. The trace of the run says when each operation ran and on which thread,
so that both halves of the claim can be counted.

    python examples/chapters/a2_chains.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from common import ms, options, table

import forerun
from forerun import np, profiler
from forerun.profiler import Event, Trace


def chain(x: np.ndarray, links: int) -> np.ndarray:
    for _ in range(links):
        x = x @ x  # rows that sum to 1 still do so afterwards
    return x


def recorded(n: int, links: int, chains: int) -> Trace:
    starts = [np.full((n, n), 1 / n) for _ in range(chains)]
    forerun.waitall()
    with profiler.record() as p:
        for x in starts:
            chain(x, links)
    return p.trace


def dependent(trace: Trace) -> list[tuple[Event, Event]]:
    """Each op with each op whose result it read."""
    by_number = {e.seq: e for e in trace.ops}
    return [(by_number[d], e) for e in trace.ops for d in e.deps if d in by_number]


def together(a: Event, b: Event) -> bool:
    return min(a.ended, b.ended) > max(a.started, b.started)


def main() -> None:
    quick, out = options(__doc__)
    # A product of this size is run by one core; a larger one would be cut, and take all cores for itself.
    n, links = (256, 8) if quick else (384, 20)
    recorded(n, links, 2)  # the first run makes threads and memory
    trace = recorded(n, links, 2)
    profiler.timeline(trace, out / "a2_chains.svg", title="Two chains of products")

    pairs = dependent(trace)
    in_order = sorted(trace.ops, key=lambda e: e.seq)
    first, second = in_order[:links], in_order[links:]
    in_turn = sum(not together(a, b) for a, b in pairs)
    across = sum(any(together(a, b) for b in second) for a in first)
    work = sum(e.duration for e in trace.ops)
    table(
        (f"two chains of {links} ops", "figure"),
        [
            ("time of all ops, summed", ms(work)),
            ("time from the first issue to the last end", ms(trace.span)),
            ("time in which two threads ran ops", ms(trace.overlap())),
            ("pairs where one op reads the other's result", f"{len(pairs)}"),
            ("  of them never at the same time", f"{in_turn}"),
            ("ops of chain 1 that ran while one of chain 2 did", f"{across} of {links}"),
        ],
    )
    print(f"Dependent ops {'never ran' if in_turn == len(pairs) else 'RAN'} at the same time.")
    print(f"The chains {'ran in parallel' if trace.overlap() > 0 else 'did not run in parallel'}: ", end="")
    print(f"two threads were busy for {trace.overlap() / trace.span:.0%} of the time.")
    print(f"Picture: {out / 'a2_chains.svg'}")


if __name__ == "__main__":
    main()
