"""The chapters' experiments on this machine, then training on real images, with pictures of what overlapped.

`forerun tour` runs it; about a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from .._display.terminal import Terminal
from .._runtime import core as _core
from .._runtime.device import devices
from .._runtime.settings import config
from .asynchronous import (
    barriers,
    blockers,
    front_ends,
    graph_of_a_snippet,
    improving_computation,
    issue_and_wait,
)
from .memory import footprint, paced
from .parallel import copies, two_devices
from .screen import Finding, show
from .training import images, picture

__all__ = ["run"]


class Stop(NamedTuple):
    """An experiment, and what the chapters say about it."""

    rows: str  # of the chapters
    title: str
    experiment: Callable[[Path, bool], Finding]
    claim: str


STOPS = [
    Stop(
        "A1", "Issuing is not computing", issue_and_wait,
        "issuing returns orders of magnitude sooner than the work is done; a barrier shows the true time.",
    ),
    Stop(
        "A2", "Several front ends, one back end", front_ends,
        "the back end has threads and queues of its own and tracks which operation depends on which.",
    ),
    Stop(
        "A3 A4", "Which threads compute z = x * y + 2, and which one waits", graph_of_a_snippet,
        "each statement only hands a task to the back end; printing z waits.",
    ),
    Stop(
        "B1", "Barriers", barriers,
        "waitall waits for everything, wait_to_read for one array, while other work goes on.",
    ),
    Stop(
        "B2", "Blockers", blockers,
        "print, asnumpy and item wait, too; frequent small conversions ruin a good program.",
    ),
    Stop(
        "C1", "Improving computation", improving_computation,
        "with a wait after each, N (t1 + t2 + t3); with one at the end, t1 + N t2 + t3, if N t2 > (N - 1) t1.",
    ),
    Stop(
        "D1", "Memory footprint", footprint,
        "without a barrier in each step, memory may pile up; here it must not.",
    ),
    Stop(
        "D2", "One batch of overlap", paced,
        "how does batch t end before batch t + 2 begins? With pace.",
    ),
    Stop(
        "E1", "Parallel computation on two devices", two_devices,
        "two devices together take less than the sum of both.",
    ),
    Stop(
        "E2", "Computation and communication", copies,
        "results can be copied while later ones are still computed.",
    ),
    Stop(
        "", "Training on real images", images,
        "(not in the chapters) the same network, data split and epochs as scikit-learn's MLPClassifier.",
    ),
    Stop(
        "E3", "A timeline of what overlapped", picture,
        "gradients are exchanged as soon as each is ready, while the backward pass goes on.",
    ),
]  # fmt: skip


def run(out: Path, quick: bool = False, silent: bool = False) -> dict[str, Any]:
    """Run all experiments, and return what they found.

    out: the folder for pictures. quick: at reduced size, to see that they work. silent: prints nothing but the bar.
    """
    out.mkdir(parents=True, exist_ok=True)
    screen, start = Terminal(), time.perf_counter()
    found = []
    if not silent:
        workers = config()["workers"] or f"{_core.granted_cores()} (all cores)"
        screen.line(f"forerun tour: {len(devices())} device, workers {workers}, {_core.blas_info()}")
    for number, stop in enumerate(STOPS):
        screen.bar(number, len(STOPS), stop.title)
        try:
            finding = stop.experiment(out, quick)
        except ModuleNotFoundError as missing:
            finding = Finding(answers=[f"Left out: needs {missing.name}. To have all: pip install 'forerun[tour]'"])
        screen.end()
        found.append({"chapter": stop.rows.split(), "title": stop.title, "claim": stop.claim, **asdict(finding)})
        if not silent:
            show(screen, stop.rows, stop.title, stop.claim, finding)
    pictures = sorted(p.name for p in out.glob("*.svg"))
    seconds = time.perf_counter() - start
    if not silent:
        screen.line(f"\nDone in {seconds:.0f} s. Pictures in {out}: {', '.join(pictures)}")
    return {"experiments": found, "pictures": [str(out / name) for name in pictures], "seconds": seconds}
