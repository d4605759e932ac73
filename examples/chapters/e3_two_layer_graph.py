"""E3: a two-layer network trained on a CPU and two further devices; gradients are added as soon as each is ready.

The parameters and the data are on cpu(0). In each step, cpu(1) and cpu(2) get copies of the parameters and half of the
minibatch each, compute gradients, and hand them back to be added and applied. No line says what may run when: the
dependency graph, drawn from the run, and the trace show that the last layer's gradients are added on cpu(0) while the
backward passes are still working on the first layer.

    python examples/chapters/e3_two_layer_graph.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

from common import ms, options, table

import forerun
from forerun import autograd, np, npx, profiler
from forerun.gluon.utils import split_and_load
from forerun.profiler import Event

RATE = 0.01


def issued() -> int:
    return forerun.stats()["issued"]


def step(weights: list[np.ndarray], x: np.ndarray, y: np.ndarray, devices: list[forerun.Device]) -> list[int]:
    """One step of gradient descent, in place. How many ops had been issued before and after the backward passes."""
    losses, copies = [], []
    parts = zip(split_and_load(x, devices), split_and_load(y, devices))
    for device, (x_part, y_part) in zip(devices, parts):
        local = [w.copyto(device) for w in weights]
        for w in local:
            w.attach_grad()
        with autograd.record():
            error = npx.relu(x_part @ local[0]) @ local[1] - y_part
            losses.append((error * error).sum() / len(x))
        copies.append(local)
    marks = [issued()]
    autograd.backward(losses)
    marks.append(issued())
    for layer in reversed(range(len(weights))):  # the last layer's gradients are there first
        first, *others = (local[layer].grad.as_in_ctx(weights[layer].device) for local in copies)
        weights[layer] -= RATE * sum(others, first)
    return marks


def made(features: int, hidden: int, batch: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    npx.random.seed(1)
    weights = [np.random.normal(scale=0.05, size=shape) for shape in ((features, hidden), (hidden, 1))]
    return weights, np.random.normal(size=(batch, features)), np.ones((batch, 1))


def needs(op: Event, ops: dict[int, Event]) -> set[int]:
    """The numbers of all operations that an operation depends on."""
    found: set[int] = set()
    ahead = [op.seq]
    while ahead:
        new = [d for d in ops[ahead.pop()].deps if d in ops and d not in found]
        found.update(new)
        ahead += new
    return found


def main() -> None:
    quick, out = options(__doc__)
    sizes, steps = ((8, 8, 16), 2) if quick else ((800, 800, 512), 5)
    # No small operation runs in the call: each has its place in the queues, and in the graph.
    forerun.configure(cpu_devices=3, passes="drop,fuse,reuse")
    two = [npx.cpu(1), npx.cpu(2)]
    weights, x, y = made(*sizes)
    alone, _, _ = made(*sizes)
    for _ in range(steps):
        step(weights, x, y, two)
        step(alone, x, y, [npx.cpu(0)])
    difference = max(float(abs(a - b).max()) for a, b in zip(weights, alone))

    early = 0
    for _ in range(steps):
        with profiler.record() as p:
            marks = step(weights, x, y, two)
        ops = sorted(p.trace.ops, key=lambda e: e.seq)
        forward, passes = marks  # by number, as dropped operations have no event
        backward = [e for e in ops if forward < e.seq <= passes]
        first = next(e for e in ops if e.seq > passes and e.name == "add")
        ended = max(e.ended for e in backward)
        early += first.started < ended
    profiler.graph(p.trace, out / "e3_graph.svg", title="A two-layer network on a CPU and two further devices")
    profiler.timeline(p.trace, out / "e3_timeline.svg", title="One step, on a CPU and two further devices")

    needed = needs(first, {e.seq: e for e in ops})
    later = [e for e in backward if e.seq not in needed]
    table(
        ("one step", "figure"),
        [
            ("ops", f"{len(ops)}"),
            *((f"ops on {p.trace.device_name(i)}", f"{sum(e.device == i for e in ops)}") for i in range(3)),
            ("ops of the backward passes", f"{len(backward)}"),
            ("  of them not needed by the first sum of gradients", f"{len(later)}"),
            ("the first sum began at", ms(first.started - p.trace.start)),
            ("the backward passes ended at", ms(ended - p.trace.start)),
        ],
    )
    print(f"After {steps} steps, the weights differ by {difference:.1e} from those trained on one device.")
    print(f"In {early} of {steps} further steps the first sum began before the backward passes had ended.")
    print(f"Pictures: {out / 'e3_graph.svg'}, {out / 'e3_timeline.svg'}")


if __name__ == "__main__":
    main()
