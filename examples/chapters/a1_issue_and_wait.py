"""A1: operations are issued far sooner than their work is done.

Ten times, a matrix of normal numbers is made and multiplied by itself: by NumPy, which returns when each product is
there, and by forerun, whose calls return when the work is written down. The clock is read twice for forerun: when
the loop has ended, and when `waitall` has returned. The second reading is the one to compare with NumPy's.

    python examples/chapters/a1_issue_and_wait.py [--quick]
"""

from __future__ import annotations

import time

import numpy
from common import median, ms, options, seconds, table

from forerun import np, npx

ROUNDS = 10


def numpy_loop(n: int) -> None:
    rng = numpy.random.default_rng(1)
    for _ in range(ROUNDS):
        a = rng.standard_normal((n, n), dtype="float32")
        numpy.dot(a, a)


def our_loop(n: int) -> tuple[float, float]:
    """Seconds until all is issued, and until all is done."""
    begin = time.perf_counter()
    for _ in range(ROUNDS):
        a = np.random.normal(size=(n, n))
        np.dot(a, a)
    issued = time.perf_counter()
    npx.waitall()
    return issued - begin, time.perf_counter() - begin


def main() -> None:
    quick, _ = options(__doc__)
    n, runs = (100, 3) if quick else (1000, 5)
    our_loop(n)  # the first run makes threads and memory
    theirs = median(lambda: seconds(lambda: numpy_loop(n)), runs)
    ours = [our_loop(n) for _ in range(runs)]
    issue = sorted(t for t, _ in ours)[runs // 2]
    done = sorted(t for _, t in ours)[runs // 2]

    table(
        (f"{ROUNDS} x (normal {n} x {n}, dot), float32", "time"),
        [("NumPy", ms(theirs)), ("forerun, issued", ms(issue)), ("forerun, waited for", ms(done))],
    )
    print(f"Issuing took {issue / done:.2%} of the time that the work takes: {done / issue:,.0f} times less.")
    word = "less" if done < theirs else "more"
    print(f"Waited for, the loop takes {word} time than NumPy's: {done / theirs:.2f} times as much.")


if __name__ == "__main__":
    main()
