"""D2: a training loop that runs one minibatch ahead, no more: minibatch t ends before minibatch t + 2 begins.

`forerun.pace(data, ahead=1)` lets a loop run one iteration ahead of its work. The program trains a small network under
it and reads from the trace when the operations of each minibatch ran: each may overlap with its neighbours, none with
the next but one. The same is counted for a loop with a wait in each minibatch, and for one that never waits.

And with several devices? There, a wait in each minibatch makes all devices wait for the slowest. Two devices, simulated
by tasks that only take time, get minibatches that are heavy for one and light for the other, in turn: with one
minibatch of overlap this evens out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise

import numpy

from forerun import np, npx, profiler
from forerun.profiler import Trace

from ...._runtime.engine import stats
from ...._runtime.pacing import pace
from ...finding import Figure, Finding, Row, Run, Table, experiment, percent, ratio
from ...finding import seconds as time_of
from ...measure import numbered, seconds, settings
from .memory import WAITS, Step, data, training

Spans = list[tuple[float, float]]


def train(step: Step, batches: Iterable[np.ndarray], wait: bool) -> list[int]:
    """Trains; returns how many operations it had issued at the beginning and after each minibatch."""
    before, issued = stats()["issued"], [0]
    for x in batches:
        step(x)
        issued.append(stats()["issued"] - before)
        if wait:
            npx.waitall()
    return issued


def spans(trace: Trace, issued: list[int]) -> Spans:
    """For each minibatch, when its first operation started and its last one ended."""
    found = []
    for before, after in pairwise(numbered(trace, issued)):
        ops = [e for e in trace.ops if any(before < number <= after for number in (e.seq, *e.members))]
        found.append((min(e.started for e in ops), max(e.ended for e in ops)))
    return found


def overlaps(found: Spans, distance: int) -> int:
    """How many minibatches began before the one `distance` earlier had ended."""
    return sum(later[0] < earlier[1] for earlier, later in zip(found, found[distance:]))


def busy_for(x: np.ndarray, span: float) -> np.ndarray:
    """Simulates a device that takes so many seconds, and none of this processor."""

    def work(values: numpy.ndarray) -> numpy.ndarray:
        time.sleep(span)
        return values

    return npx.host(work, [x], [(x.shape, x.dtype)], name="device")[0]


def uneven(batches: Iterable[int], wait: bool, unit: float) -> None:
    """Minibatch t takes six units of time on device t % 2, and one on the other."""
    state = [np.zeros(1, device=npx.cpu(i)) for i in range(2)]
    for t in batches:
        state = [busy_for(x, 6 * unit if t % 2 == i else unit) for i, x in enumerate(state)]
        if wait:
            npx.waitall()
    npx.waitall()


def two_devices(count: int, unit: float) -> Table:
    """The times of the uneven devices."""
    with settings(cpu_devices=2):
        uneven(range(2), False, unit)
        found = {
            "a wait in each": seconds(lambda: uneven(range(count), True, unit)),
            "forerun.pace, one ahead": seconds(lambda: uneven(pace(range(count), ahead=1), False, unit)),
            "no wait": seconds(lambda: uneven(range(count), False, unit)),
        }
    each = found["a wait in each"]
    rows = [(name, time_of(t / count), ratio(t, each)) for name, t in found.items()]
    return Table(("two uneven devices, simulated", "each minibatch", "to a wait"), rows)


@experiment("D2", "One minibatch of overlap", "minibatch t ends before minibatch t + 2 begins, with forerun.pace.")
def one_ahead(run: Run) -> Finding:
    count, batch, hidden = run.size("batches", 8, 24), run.size("batch", 32, 512), run.size("hidden", 32, 64)
    step = training(batch, 64, hidden)
    rows: list[Row] = []
    found: dict[str, Spans] = {}
    pictures = []
    for (name, (wait, paced)), short in zip(WAITS.items(), ("wait", "pace", "free")):
        npx.waitall()
        with profiler.record() as p:
            issued = train(step, paced(data(count, batch, 64)), wait)
        found[name] = spans(p.trace, issued)
        pictures.append(run.out / f"d2_{short}.svg")
        profiler.timeline(p.trace, pictures[-1], title=f"Training, {name}")
        beginnings = [Figure(overlaps(found[name], distance)) for distance in (1, 2)]
        rows.append((name, time_of(p.trace.span / count), *beginnings))
    near, far = (overlaps(found["forerun.pace, one ahead"], distance) for distance in (1, 2))
    head = (f"{count} minibatches", "each", "t+1 began before t ended", "t+2 began before t ended")
    return Finding(
        [Table(head, rows), two_devices(*((4, 1e-4) if run.quick else (30, 1e-3)))],
        [f"With pace, {percent(near, count - 1)} of the minibatches overlap with the one before."],
        [f"{far} minibatches began before the one before the last had ended"] if far else [],
        pictures,
    )
