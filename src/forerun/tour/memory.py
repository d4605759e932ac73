"""Experiments on memory: running ahead without running full."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .. import autograd, gluon, np, profiler
from .._runtime import core as _core
from .._runtime.engine import memory
from .._runtime.pacing import pace
from ..gluon import nn
from .measure import ms
from .screen import Finding


def _data(batches: int, size: int) -> Iterator[tuple[Any, Any]]:
    for _ in range(batches):
        yield np.random.normal(size=(size, 512)), np.ones((size,))


def _step(quick: bool) -> Callable[[Any, Any], Any]:
    """Return one step of training, for three dense layers."""
    scale = 16 if quick else 1
    net = nn.Sequential()
    net.add(nn.Dense(2048 // scale, activation="relu"), nn.Dense(512 // scale, activation="relu"), nn.Dense(1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    loss = gluon.loss.L2Loss()

    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            cost = loss(net(x), y)
        cost.backward()
        trainer.step(x.shape[0])
        return cost

    return step


def footprint(out: Path, quick: bool) -> Finding:
    """Measure the memory of a training loop with a barrier in each step, and without."""
    batches, size = (5, 64) if quick else (50, 1024)
    step = _step(quick)
    for x, y in _data(2, size):
        step(x, y)
    rows, peaks = [], []
    for barrier in (True, False):
        _core.waitall()
        _core.reset_peak()
        before, start = memory()["live"], time.perf_counter()
        for x, y in _data(batches, size):
            cost = step(x, y)
            if barrier:
                cost.wait_to_read()
        issued = time.perf_counter() - start
        _core.waitall()
        ended = time.perf_counter() - start
        peaks.append(memory()["peak"])
        name = "wait in each step" if barrier else "no wait"
        rows.append([name, ms(issued), ms(ended), f"{(peaks[-1] - before) / 2**20:.1f} MB"])
    return Finding(
        (f"{batches} batches of {size} x 512", "issued", "ended", "most memory above start"),
        rows,
        [f"Without a barrier the peak is {peaks[1] / peaks[0]:.2f} times that with one: oldest operations go first."],
    )


def paced(out: Path, quick: bool) -> Finding:
    """Check one batch of overlap: batch t ends before batch t + 2 begins."""
    step = _step(True)
    batches = 6
    with profiler.record() as profile:
        for x, y in pace(_data(batches, 64), ahead=1):
            step(x, y)
    draws = [e for e in profile.trace.ops if e.name.startswith("normal") or e.name == "random"]
    bounds = sorted(e.seq for e in draws) + [max(e.seq for e in profile.trace.ops) + 1]
    spans = []
    for first, last in zip(bounds, bounds[1:]):  # noqa: RUF007
        ops = [e for e in profile.trace.ops if first <= e.seq < last]
        spans.append((min(e.started for e in ops), max(e.ended for e in ops)))
    kept = sum(a[1] <= b[0] for a, b in zip(spans, spans[2:]))
    return Finding(
        ("for x, y in pace(data, ahead=1)", "pairs"),
        [["batch t ended before batch t + 2 began", f"{kept} of {len(spans) - 2}"]],
    )
