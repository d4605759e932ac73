"""Training on two logical devices, half of the cores and of each batch for each, beside one device with all of it.

    python benchmarks/several_devices.py

Both take turns, so that other work on the machine affects both. Aim: a step on two devices takes at most 1.1 times a
step on one. Also printed: the time of all cores together, the front end's until a step is issued, operations. The
program is the tour's, in src/forerun/tour/experiments/parallel/several_devices.py.
"""

from __future__ import annotations

import argparse

from experiment import show
from forerun.tour.experiments import several_devices


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--batch", type=int, default=256)
    given = arguments.parse_args()
    show(several_devices, rounds=given.rounds, steps=given.steps, batch=given.batch)


if __name__ == "__main__":
    main()
