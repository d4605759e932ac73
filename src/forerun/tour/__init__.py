"""The chapters' experiments on this machine, then training on real images, with pictures of the overlap.

`forerun tour` runs it; about a minute.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from .._display.namespaces import dir_of
from .._display.terminal import Terminal
from .._runtime import core as _core
from .._runtime.device import devices, num_gpus
from .._runtime.settings import config
from .experiments import ON_GPUS, TOUR
from .finding import Finding
from .screen import as_json, show

__all__ = ["run"]
__dir__ = dir_of(__name__)

STOPS = list(TOUR)


def run(out: Path, quick: bool = False, silent: bool = False) -> dict[str, Any]:
    """Run all experiments, and return their findings: on the CPU, and then on GPUs, where there are enough of them.

    out: the folder for pictures. quick: at reduced size, to see that they work. silent: prints nothing but the bar.
    """
    out.mkdir(parents=True, exist_ok=True)
    screen, start = Terminal(), time.perf_counter()
    found, n_gpus = [], num_gpus()
    if not silent:
        workers = config()["workers"] or f"{_core.granted_cores()} (all cores)"
        there = f", {n_gpus} GPU{'s' * (n_gpus > 1)}" if n_gpus else ""
        screen.line(f"forerun tour: {len(devices())} device{there}, workers {workers}, {_core.blas_info()}")
        if quick:
            screen.line("Reduced sizes: the figures show that the experiments work, not how fast forerun is.")
    stops = [*STOPS, *(experiment for experiment, needed in ON_GPUS.items() if n_gpus >= needed)]
    for number, experiment in enumerate(stops):
        screen.bar(number, len(stops), experiment.title)
        try:
            finding = experiment.run(quick, out)
        except ModuleNotFoundError as missing:
            finding = Finding(
                answers=[f"Left out: needs {missing.name}. To have all: pip install 'forerun[tour]'"],
                name=experiment.name, promise=experiment.promise,
            )  # fmt: skip
        screen.end()
        found.append(as_json(experiment, finding))
        if not silent:
            show(screen, experiment, finding)
    pictures = [picture for one in found for picture in one["pictures"]]
    seconds = time.perf_counter() - start
    if not silent:
        screen.line(f"\nDone in {seconds:.0f} s. Pictures in {out}.")
    return {"experiments": found, "pictures": pictures, "seconds": seconds}
