"""D2: a training loop that runs one minibatch ahead, no more: minibatch t ends before minibatch t + 2 begins.

`forerun.pace(data, ahead=1)` lets a loop run one iteration ahead of its work. The script trains a small network under
it and reads from the trace when the operations of each minibatch ran: each may overlap with its neighbours, none with
the next but one. The same is counted for a loop with a wait in each minibatch, and for one that never waits.

And with several devices? There, a wait in each minibatch makes all devices wait for the slowest. Two devices, simulated
by tasks that only take time, get minibatches that are heavy for one and light for the other, in turn: with one
minibatch of overlap this evens out.

    python examples/chapters/d2_one_ahead.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from common import ms, options, seconds, table

import forerun
from forerun import autograd, gluon, np, npx, profiler
from forerun.gluon import nn
from forerun.profiler import Event, Trace


def network(hidden: int) -> tuple[nn.Sequential, gluon.Trainer]:
    net = nn.Sequential()
    net.add(nn.Dense(hidden, activation="relu"), nn.Dense(hidden, activation="relu"), nn.Dense(1))
    net.initialize()
    return net, gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})


def data(batches: int, size: int) -> Iterator[np.ndarray]:
    for _ in range(batches):
        yield np.random.normal(size=(size, 64))


def train(net: nn.Sequential, trainer: gluon.Trainer, batches: Iterable[np.ndarray], wait: bool = False) -> list[int]:
    """Trains; returns how many operations had been issued after each minibatch."""
    issued = []
    for x in batches:
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(x), np.ones(len(x)))
        loss.backward()
        trainer.step(len(x))
        issued.append(forerun.stats()["issued"])
        if wait:
            forerun.waitall()
    return issued


def spans(trace: Trace, issued: list[int], before: int) -> list[tuple[float, float]]:
    """For each minibatch, when its first operation started and its last one ended."""
    ops: list[Event] = sorted(trace.ops, key=lambda e: e.seq)
    bounds = [0, *(n - before for n in issued)]
    parts = [ops[a:b] for a, b in pairwise(bounds)]
    return [(min(e.started for e in part), max(e.ended for e in part)) for part in parts]


def overlaps(found: list[tuple[float, float]], distance: int) -> int:
    """How many minibatches began before the one `distance` earlier had ended."""
    return sum(later[0] < earlier[1] for earlier, later in zip(found, found[distance:]))


def main() -> None:
    quick, out = options(__doc__)
    count, size, hidden = (8, 32, 32) if quick else (24, 512, 256)
    net, trainer = network(hidden)
    train(net, trainer, data(2, size))
    ways = {"a wait in each": "wait", "pace, ahead=1": "pace", "neither": "free"}
    rows, found = [], {}
    for name, way in ways.items():
        batches = data(count, size)
        forerun.waitall()
        before = forerun.stats()["issued"]
        with profiler.record() as p:
            issued = train(net, trainer, forerun.pace(batches, ahead=1) if way == "pace" else batches, way == "wait")
        found[way] = spans(p.trace, issued, before)
        draw(p.trace, out / f"d2_{way}.svg", name)
        near, far = overlaps(found[way], 1), overlaps(found[way], 2)
        rows.append((name, ms(p.trace.span / count), f"{near} of {count - 1}", f"{far} of {count - 2}"))
    table(("loop", "each minibatch", "t+1 began before t ended", "t+2 began before t ended"), rows)

    near, far = overlaps(found["pace"], 1), overlaps(found["pace"], 2)
    print(f"With pace, {near} of {count - 1} minibatches overlap with the one before, and ", end="")
    print("none with the one before that." if far == 0 else f"{far} with the one before that: TOO EARLY.")
    print(f"Pictures: {', '.join(str(out / f'd2_{way}.svg') for way in ways.values())}\n")
    two_devices(*((4, 1e-4) if quick else (30, 1e-3)))


def busy_for(x: np.ndarray, span: float) -> np.ndarray:
    """Stands for a device that takes so many seconds, and none of this processor."""
    return npx.host(lambda values: (time.sleep(span), values)[1], [x], [(x.shape, x.dtype)], name="device")[0]


def uneven(batches: Iterable[int], wait: bool, unit: float) -> None:
    """Minibatch t takes six units of time on device t % 2, and one on the other."""
    state = [np.zeros(1, device=npx.cpu(i)) for i in range(2)]
    for t in batches:
        state = [busy_for(x, 6 * unit if t % 2 == i else unit) for i, x in enumerate(state)]
        if wait:
            forerun.waitall()
    forerun.waitall()


def two_devices(count: int, unit: float) -> None:
    forerun.configure(cpu_devices=2)
    uneven(range(2), False, unit)
    found = {
        "a wait in each": seconds(lambda: uneven(range(count), True, unit)),
        "pace, ahead=1": seconds(lambda: uneven(forerun.pace(range(count), ahead=1), False, unit)),
        "neither": seconds(lambda: uneven(range(count), False, unit)),
    }
    table(("two devices, simulated", "each minibatch"), [(name, ms(t / count)) for name, t in found.items()])
    share = found["pace, ahead=1"] / found["a wait in each"]
    print(f"With one minibatch of overlap it takes {share:.0%} of the time with a wait in each: ", end="")
    print("waiting for all devices costs." if share < 0.9 else "no clear difference here.")


def draw(trace: Trace, path: Path, name: str) -> None:
    profiler.timeline(trace, path, title=f"Training, {name}")


if __name__ == "__main__":
    main()
