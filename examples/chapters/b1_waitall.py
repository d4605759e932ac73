"""B1: `waitall` waits for everything, `wait_to_read` for one array while later work goes on.

A product z is issued, then more products that z has nothing to do with. How long until the program goes on after
`z.wait_to_read()`, and how long after `npx.waitall()`? With nothing issued behind z, both should be the same; the
more there is, the larger the difference.

    python examples/chapters/b1_waitall.py [--quick]
"""

from __future__ import annotations

from collections.abc import Callable

from common import median, ms, options, seconds, table

from forerun import np, npx


def held_up(a: np.ndarray, later: int, wait: Callable[[np.ndarray], object]) -> float:
    """Seconds that the wait takes when `later` more products have been issued behind z."""
    z = a @ a
    rest = [a @ a for _ in range(later)]
    time = seconds(lambda: wait(z))
    npx.waitall()
    del rest
    return time


def main() -> None:
    quick, _ = options(__doc__)
    n, runs, counts = (64, 3, (0, 4)) if quick else (600, 7, (0, 2, 8, 32))
    a = np.random.normal(size=(n, n))
    held_up(a, 2, lambda _: npx.waitall())  # the first run makes threads and memory

    waits = {"wait_to_read": lambda z: z.wait_to_read(), "waitall": lambda _: npx.waitall()}
    found = {
        (kind, later): median(lambda later=later, wait=wait: held_up(a, later, wait), runs)
        for later in counts
        for kind, wait in waits.items()
    }
    table(
        ("products issued after z", "z.wait_to_read()", "npx.waitall()", "difference"),
        [
            (
                f"{later}",
                ms(one := found["wait_to_read", later]),
                ms(everything := found["waitall", later]),
                ms(everything - one),
            )
            for later in counts
        ],
    )
    alone = found["waitall", 0] / found["wait_to_read", 0]
    most = found["waitall", counts[-1]] / found["wait_to_read", counts[-1]]
    print(f"With nothing behind z, waitall takes {alone:.1f} times as long as wait_to_read;")
    print(f"with {counts[-1]} products behind it, {most:.1f} times as long: ", end="")
    print("it waits for work whose results are not read." if most > 1.5 * alone else "no clear difference here.")


if __name__ == "__main__":
    main()
