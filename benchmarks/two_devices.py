"""Two devices at once: 50 products of a 4000 x 4000 matrix on each of two logical CPU devices.

    FORERUN_CPU_DEVICES=2 python benchmarks/two_devices.py

Aim: both together take at most 0.6 times the sum of one after the other.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import forerun
from forerun import np
from table import show


def run(x: Any) -> list[Any]:
    """Fifty products that do not depend on one another."""
    return [x.dot(x) for _ in range(50)]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--size", type=int, default=4000)
    size = arguments.parse_args().size
    if len(forerun.devices()) < 2:
        raise SystemExit("two_devices: there must be two devices, got one; say FORERUN_CPU_DEVICES=2")
    first, second = (np.random.uniform(size=(size, size), device=forerun.cpu(i)) for i in range(2))
    for x in (first, second):
        x.dot(x)
    forerun.waitall()

    def seconds(*inputs: Any) -> float:
        start = time.perf_counter()
        results = [run(x) for x in inputs]
        forerun.waitall()
        del results
        return time.perf_counter() - start

    one, two, both = seconds(first), seconds(second), seconds(first, second)
    work = 2 * 50 * size**3 / 1e9
    print(f"50 products of {size} x {size} on each of two devices, {forerun._core.granted_cores()} cores in all\n")
    rows = [
        ["device 0", f"{one:.2f}", f"{work / one:.0f}", ""],
        ["device 1", f"{two:.2f}", f"{work / two:.0f}", ""],
        ["the sum", f"{one + two:.2f}", "", "1.00"],
        ["both at once", f"{both:.2f}", f"{2 * work / both:.0f}", f"{both / (one + two):.2f}"],
    ]
    show(["", "s", "GFLOP/s", "times the sum"], rows)


if __name__ == "__main__":
    main()
