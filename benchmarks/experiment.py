"""Experiments of the tour as benchmarks: more rounds, other sizes."""

from __future__ import annotations

import os

from forerun._display.terminal import Terminal
from forerun._runtime.core import granted_cores
from forerun.tour import screen
from forerun.tour.finding import Experiment


def show(experiment: Experiment, rounds: int, **sizes: int) -> None:
    """Run an experiment of the tour with more rounds or at other sizes, and print its finding."""
    load = os.getloadavg()[0]
    found = experiment.run(rounds=rounds, **sizes)
    print(f"{granted_cores()} cores, {rounds} rounds; load {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    screen.show(Terminal(), experiment, found)
