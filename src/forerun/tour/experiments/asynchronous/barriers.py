"""B1: `waitall` waits for everything, `wait_to_read` for one array while later work goes on.

A product z is issued, then more products that z has nothing to do with. How long until the program goes on after
`z.wait_to_read()`, and how long after `npx.waitall()`? With nothing issued behind z, both should be the same; the
more there is, the larger the difference.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from forerun import np, npx

from ...finding import Finding, Run, Table, experiment, percent
from ...finding import seconds as time
from ...measure import seconds


def blocked(a: np.ndarray, later: int, wait: Callable[[np.ndarray], object]) -> float:
    """Seconds that the wait takes when `later` more products have been issued behind z."""
    z = a @ a
    rest = [a @ a for _ in range(later)]
    taken = seconds(lambda: wait(z))
    npx.waitall()
    del rest
    return taken


@experiment(
    "B1", "Barriers", "waitall waits for everything, wait_to_read for one array, while other work goes on.", rounds=7,
)  # fmt: skip
def barriers(run: Run) -> Finding:
    n, counts = run.size("n", 64, 600), (0, 4) if run.quick else (0, 2, 8, 32)
    a = np.random.normal(size=(n, n))
    blocked(a, 2, lambda _: npx.waitall())  # the first run makes threads and memory

    def median(later: int, wait: Callable[[np.ndarray], object]) -> float:
        return statistics.median(blocked(a, later, wait) for _ in range(run.rounds))

    found = [(median(later, np.ndarray.wait_to_read), median(later, lambda _: npx.waitall())) for later in counts]
    one, everything = found[-1]
    return Finding(
        [
            Table(
                ("products issued after z", "z.wait_to_read()", "npx.waitall()", "of it, for z"),
                [(f"{n}", time(a), time(b), percent(a, b)) for n, (a, b) in zip(counts, found)],
            )
        ],
        [f"With {counts[-1]} products behind z, waitall takes {everything / one:.1f} times as long as wait_to_read."],
        [] if run.quick or everything > 2 * one else ["waiting for all took less than twice the time of one"],
    )
