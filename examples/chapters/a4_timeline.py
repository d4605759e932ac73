"""A4: how front end and back end work together, drawn from a real run: who issued, who ran, who waited.

A small loop multiplies matrices and, at the end, asks for one number. The timeline has the front end above (a tick
for each operation issued, hatched where it waited) and the back end's threads below. The table says the same in
figures.

    python examples/chapters/a4_timeline.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from collections import Counter

from common import ms, options, table

import forerun
from forerun import np, profiler
from forerun.profiler import Trace


def recorded(n: int, steps: int) -> Trace:
    weights = [np.random.normal(scale=1 / n, size=(n, n)) for _ in range(2)]
    forerun.waitall()
    with profiler.record() as p:
        total = np.zeros(())
        for step in range(steps):
            left, right = (np.tanh(w + step) @ w for w in weights)
            total = total + (left * right).sum()
        total.item()  # the only line that needs a value
    return p.trace


def main() -> None:
    quick, out = options(__doc__)
    n, steps = (64, 3) if quick else (400, 12)
    recorded(n, steps)  # the first run makes threads and memory
    trace = recorded(n, steps)
    profiler.timeline(trace, out / "a4_timeline.svg", title="Front end and back end")

    issued = max(e.issued for e in trace.ops) - trace.start
    waited = sum(w.duration for w in trace.waits)
    # A thread that waits helps: it runs ops, too.
    helpers = {w.thread for w in trace.waits}
    ran = Counter("front end, while it waited" if e.thread in helpers else "workers" for e in trace.ops)
    table(
        ("", "figure"),
        [
            ("ops", f"{len(trace.ops)}"),
            ("the whole run", ms(trace.span)),
            ("front end: issuing, from the first op to the last", ms(issued)),
            ("front end: waiting", ms(waited)),
            *((f"ops run by: {who}", f"{count}") for who, count in sorted(ran.items())),
            ("two or more threads ran ops during", ms(trace.overlap())),
        ],
    )
    place = max(trace.waits, key=lambda w: w.duration).line if trace.waits else "no line"
    print(f"The front end had said everything after {issued / trace.span:.0%} of the time.")
    print(f"It waited for {waited / trace.span:.0%} of it, longest at {place}.")
    print(f"Picture: {out / 'a4_timeline.svg'}")


if __name__ == "__main__":
    main()
