"""The options of the scripts, and how they print the finding of an experiment."""

from __future__ import annotations

import argparse
from pathlib import Path

from forerun._display.terminal import Terminal
from forerun.tour.finding import Experiment
from forerun.tour.screen import show

__all__ = ["main"]


def main(experiment: Experiment, about: str | None, on_gpus: Experiment | None = None) -> None:
    """Run an experiment, with `--quick` at small sizes, and pictures in `--out FOLDER` (which is made if need be).

    on_gpus: the one that runs instead with `--device gpu`.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, not how fast")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for pictures (default: build)")
    if on_gpus:
        parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu", help="where it runs (default: cpu)")
    given = parser.parse_args()
    if on_gpus and given.device == "gpu":
        experiment = on_gpus
    given.out.mkdir(parents=True, exist_ok=True)
    show(Terminal(), experiment, experiment.run(given.quick, given.out))
