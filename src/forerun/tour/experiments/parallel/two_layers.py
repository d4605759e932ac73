"""E3: a two-layer network trained on a CPU and two further devices; gradients are added as soon as each is computed.

The parameters and the data are on cpu(0). In each step, cpu(1) and cpu(2) get copies of the parameters and half of the
minibatch each, compute gradients, and hand them back to be added and applied. No line says when an operation may run:
the dependency graph, drawn from the run, and the trace show that the last layer's gradients are added on cpu(0) while
the backward passes are still working on the first layer.
"""

from __future__ import annotations

from forerun import autograd, np, npx, profiler
from forerun.gluon.utils import split_and_load
from forerun.profiler import Event

from ...._runtime.device import Device
from ...._runtime.engine import stats
from ...finding import Figure, Finding, Row, Run, Table, experiment, seconds
from ...measure import HANDED_OVER, gpus, numbered, settings

RATE = 0.01


def step(weights: list[np.ndarray], x: np.ndarray, y: np.ndarray, devices: list[Device]) -> tuple[int, int]:
    """One step of gradient descent, in place. How many ops it had issued before and after the backward passes."""
    before = stats()["issued"]
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
    forward = stats()["issued"] - before
    autograd.backward(losses)
    backward = stats()["issued"] - before
    for layer in reversed(range(len(weights))):  # the last layer's gradients are computed first
        first, *others = (local[layer].grad.as_in_ctx(weights[layer].device) for local in copies)
        weights[layer] -= RATE * sum(others, first)
    return forward, backward


def network(features: int, hidden: int, batch: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights, inputs and targets."""
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


PROMISE = "gradients are exchanged as soon as each is ready, while the backward pass goes on."


@experiment("E3", "A two-layer network on a CPU and two further devices", PROMISE)
def two_layers(run: Run) -> Finding:
    with settings(cpu_devices=3):
        return trained(run, [npx.cpu(1), npx.cpu(2)], "a CPU and two further devices", "e3")


@experiment("E3", "A two-layer network on a CPU and two GPUs", PROMISE)
def two_layers_on_gpus(run: Run) -> Finding:
    return trained(run, gpus(2), "a CPU and two GPUs", "e3_gpus")


def trained(run: Run, two: list[Device], where: str, prefix: str) -> Finding:
    """The steps on two devices and on cpu(0), the graph and the timeline of one of them, and how early sums began."""
    sizes, steps = ((8, 8, 16), 2) if run.quick else ((800, 800, 512), 5)
    # No small operation runs in the call: each is in the queues, and in the graph.
    with settings(passes=HANDED_OVER):
        weights, x, y = network(*sizes)
        alone, _, _ = network(*sizes)
        for _ in range(steps):
            step(weights, x, y, two)
            step(alone, x, y, [npx.cpu(0)])
        difference = max(float(abs(a - b).max()) for a, b in zip(weights, alone))

        early = 0
        for _ in range(steps):
            with profiler.record() as p:
                marks = step(weights, x, y, two)
            ops = sorted(p.trace.ops, key=lambda e: e.seq)
            forward, passes = numbered(p.trace, marks)  # by number, as operations that no other needs have no event
            backward = [e for e in ops if forward < e.seq <= passes]
            first = next(e for e in ops if e.seq > passes and e.name == "add")
            ended = max(e.ended for e in backward)
            early += first.started < ended
    pictures = [run.out / f"{prefix}_{name}.svg" for name in ("graph", "timeline")]
    profiler.graph(p.trace, pictures[0], title=f"A two-layer network on {where}")
    profiler.timeline(p.trace, pictures[1], title=f"One step, on {where}")

    needed = needs(first, {e.seq: e for e in ops})
    rows: list[Row] = [
        ("ops", Figure(len(ops))),
        *((f"ops on {d}", Figure(sum(e.device == d.index for e in ops))) for d in (npx.cpu(0), *two)),
        ("ops of the backward passes", Figure(len(backward))),
        ("  of them not needed by the first sum of gradients", Figure(sum(e.seq not in needed for e in backward))),
        ("the first sum began at", seconds(first.started - p.trace.start)),
        ("the backward passes ended at", seconds(ended - p.trace.start)),
    ]
    return Finding(
        [Table(("one step", "figure"), rows)],
        [
            f"After {steps} steps, the weights differ by {difference:.1e} from those trained on one device.",
            f"In {early} of {steps} further steps the first sum began before the backward passes had ended.",
        ],
        [f"the weights are WRONG: they differ by {difference:.1e}"] if difference > 1e-4 else [],
        pictures,
    )
