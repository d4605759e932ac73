"""Two devices at once: 50 products of a 4000 x 4000 matrix on each of two logical CPU devices.

    python benchmarks/two_devices.py

Aim: both together take at most 0.6 times the sum of one after the other. The program is the tour's, in
src/forerun/tour/experiments/parallel/two_devices.py.
"""

from __future__ import annotations

import argparse

from experiment import show
from forerun.tour.experiments import two_devices


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--size", type=int, default=4000)
    arguments.add_argument("--rounds", type=int, default=1)
    given = arguments.parse_args()
    show(two_devices, rounds=given.rounds, n=given.size, times=50)


if __name__ == "__main__":
    main()
