"""Experiments on automatic parallelism: two devices at once, and copies while computing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import np, profiler
from .._runtime import core as _core
from .._runtime.device import cpu
from .measure import medians, ms, settings, times
from .screen import Finding


def _run(x: Any, n: int) -> list[Any]:
    return [x.dot(x) for _ in range(n)]


def two_devices(out: Path, quick: bool) -> Finding:
    """Measure products on each of two devices, one after the other and at once."""
    size, n = (200, 10) if quick else (1500, 10)
    with settings(cpu_devices=2):
        x, y = (np.random.uniform(size=(size, size), device=cpu(i)) for i in range(2))
        _run(x, 1), _run(y, 1)
        _core.waitall()

        def program(*inputs: Any) -> Any:
            def go() -> None:
                results = [_run(v, n) for v in inputs]
                _core.waitall()
                del results

            return go

        found = medians({"device 0": program(x), "device 1": program(y), "both at once": program(x, y)}, 3)
    total = found["device 0"] + found["device 1"]
    return Finding(
        (f"{n} products of {size} x {size} each", "time", "to the sum"),
        [[name, ms(t), times(t / total)] for name, t in found.items()],
        ["Each device has half of the cores and its own queue; no line of the program says what goes in parallel."],
    )


def copies(out: Path, quick: bool) -> Finding:
    """Results copied to another device, after the computation and while it goes on."""
    size, n = (200, 6) if quick else (1200, 12)
    with settings(cpu_devices=2):
        x = np.random.uniform(size=(size, size), device=cpu(1))
        _run(x, 1)
        _core.waitall()

        def waited(results: list[Any]) -> list[Any]:  # kept until they are computed: unused results are dropped
            _core.waitall()
            return results

        def copied(results: list[Any]) -> list[Any]:
            return waited([y.copyto(cpu(0)) for y in results])

        def run() -> None:
            waited(_run(x, n))

        def copy() -> None:
            copied(ready)

        def apart() -> None:
            copied(waited(_run(x, n)))

        def together() -> None:
            copied(_run(x, n))

        ready = _run(x, n)
        _core.waitall()
        found = medians({"run": run, "copy": copy, "run, wait, copy": apart, "run and copy": together}, 3)
        with profiler.record() as profile:
            together()
    title = "results are copied while later ones are computed"
    profiler.timeline(profile.trace, out / "copies-timeline.svg", title=title)
    products = [e for e in profile.trace.ops if e.name == "matmul"]
    first_copy = min(e.started for e in profile.trace.ops if e.name == "copy")
    behind = sum(e.started > first_copy for e in products)
    return Finding(
        (f"{n} products of {size} x {size} on cpu(1), copied to cpu(0)", "time"),
        [[name, ms(t)] for name, t in found.items()],
        [f"{behind} of {n} products began after the first copy had begun. Drawn from this run: copies-timeline.svg."],
    )
