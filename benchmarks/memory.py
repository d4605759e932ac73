"""Memory of programs that never wait, beside the same programs with a barrier in each iteration.

    python benchmarks/memory.py

(a) the training loop of the chapter on asynchronous computation: 150 batches of 1024 x 512 through three dense layers;
(b) 150 times dw += dot(x, dy) with 1024 x 1024 operands made inside the loop.
Aim: without a barrier at most 1.15 times the peak with one. Each loop runs in processes of its own; the peak is the
engine's (bytes of live arrays) and the system's (resident set). The program is the tour's, in
src/forerun/tour/experiments/asynchronous/memory.py.
"""

from __future__ import annotations

import argparse

from experiment import show
from forerun.tour.experiments import memory


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--batches", type=int, default=150)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    show(memory, rounds=given.runs, batches=given.batches)


if __name__ == "__main__":
    main()
