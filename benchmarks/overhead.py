"""The cost of an operation: x + 1 on a (1, 2) array, 10,000 times, with NumPy beside forerun in the same run.

    python benchmarks/overhead.py

Where results are thrown away, most are never computed: those rows show the cost of issuing. Where they are kept, all
are computed, and NumPy keeps them too. Aims: one wait at the end at most 0.4 times NumPy, a wait after each at most
once. The program is the tour's, in src/forerun/tour/experiments/asynchronous/small_operations.py.
"""

from __future__ import annotations

import argparse

from experiment import show
from forerun.tour.experiments import small_operations


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=41)
    show(small_operations, rounds=arguments.parse_args().rounds)


if __name__ == "__main__":
    main()
