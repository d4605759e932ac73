"""A Trainer on two devices: a timeline of one step, with the purpose of each operation, and the time beside one device.

The gradients of the last layer are summed, the parameters updated and sent to the devices, while the backward passes of
the layers before go on. Written as any Gluon program for several GPUs; logical CPU devices, with half of the cores and
of each batch for each, take their place.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from forerun import autograd, gluon, np, npx, profiler
from forerun.gluon import nn
from forerun.gluon.utils import split_and_load
from forerun.profiler import Trace

from ...._runtime.device import Device, devices
from ...._runtime.engine import stats
from ...finding import Cell, Figure, Finding, Row, Run, Table, experiment, percent, seconds
from ...measure import numbered, settings

PARTS = ("data and forward", "backward", "sums and updates", "broadcast")


def layers(count: int, wide: int) -> nn.HybridSequential:
    """Dense layers of one width."""
    net = nn.HybridSequential()
    net.add(*(nn.Dense(wide, activation="relu", in_units=wide) for _ in range(count)))
    return net


def mlp() -> nn.HybridSequential:
    """A network for images as rows of pixels."""
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(256, activation="relu"), nn.Dense(10))
    return net


def lenet() -> nn.HybridSequential:
    """A network for images."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="sigmoid"), nn.AvgPool2D(),
        nn.Conv2D(16, kernel_size=5, activation="sigmoid"), nn.AvgPool2D(),
        nn.Dense(120, activation="sigmoid"), nn.Dense(84, activation="sigmoid"), nn.Dense(10),
    )  # fmt: skip
    return net


NETS = {"MLP 784-256-256-10": (mlp, (784,)), "LeNet": (lenet, (1, 28, 28))}


class Training:
    """A network on some devices, and a batch; `step` returns how many operations it had issued after each part."""

    def __init__(
        self, net: nn.HybridSequential, shape: Sequence[int], on: list[Device], loss: gluon.loss.Loss, rate: float
    ) -> None:
        npx.random.seed(1)
        self.net, self.loss, self.devices = net, loss, on
        self.x = np.random.normal(size=shape)
        classes = isinstance(loss, gluon.loss.SoftmaxCrossEntropyLoss)
        self.y = np.random.randint(0, 10, size=shape[0]) if classes else np.ones(shape)
        self.net.initialize("xavier", ctx=on)
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": rate, "momentum": 0.9})

    def step(self) -> list[int]:
        """One step of training."""
        before = stats()["issued"]
        parts = zip(*(split_and_load(values, self.devices) for values in (self.x, self.y)))
        with autograd.record():
            losses = [self.loss(self.net(x), y) for x, y in parts]
        marks = [stats()["issued"] - before]
        autograd.backward(losses)
        marks.append(stats()["issued"] - before)
        self.trainer.step(len(self.x))
        return marks

    def seconds(self, steps: int) -> tuple[float, float, float]:
        """Of a step: in all, of all cores together, and of the front end until the last one was issued."""
        start, used, own = time.perf_counter(), time.process_time(), time.thread_time()
        for _ in range(steps):
            self.step()
        issued = time.thread_time() - own
        npx.waitall()
        return (time.perf_counter() - start) / steps, (time.process_time() - used) / steps, issued / steps


def measured(count: int, name: str, batch: int, hybrid: bool, steps: int) -> tuple[float, ...]:
    """Seconds of a step, of all cores, of issuing it; and operations in it."""
    make, shape = NETS[name]
    with settings(cpu_devices=count):
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        training = Training(make(), (batch, *shape), devices(), loss, 0.01)
        if hybrid:
            training.net.hybridize()
            loss.hybridize()
        training.seconds(5)
        before = stats()["issued"]
        return *training.seconds(steps), (stats()["issued"] - before) / steps


def beside_one_device(batch: int, steps: int, rounds: int) -> Table:
    """Steps of networks on one device and on two, in turn, so that other work of the machine meets both."""
    rows: list[Row] = []
    for name in NETS:
        for hybrid in (False, True):
            taken = [[measured(n, name, batch, hybrid, steps) for n in (1, 2)] for _ in range(rounds)]
            one, two = ([statistics.median(r[k][i] for r in taken) for i in range(4)] for k in (0, 1))
            row: list[Cell] = [name + (", hybridized" if hybrid else ""), *map(seconds, (one[0], two[0]))]
            row.append(Figure(statistics.median(r[1][0] / r[0][0] for r in taken), "x"))
            for i, make in ((1, seconds), (2, seconds), (3, Figure)):
                row.append(" / ".join(str(make(x[i])).removesuffix(" ms") for x in (one, two)))
            rows.append(row)
    head = ("a step on one device / on two", "one", "two", "to one", "all cores", "to issue", "ops")
    return Table(head, rows)


def with_parts(trace: Trace, marks: list[int]) -> Trace:
    """The trace with the parts of the step for names."""

    def part(seq: int, name: str) -> str:
        if seq <= marks[1]:
            return PARTS[seq > marks[0]]
        return PARTS[3] if name == "copy" else PARTS[2]

    events = [e if e.kind == "wait" else replace(e, name=part(e.seq, e.name)) for e in trace.events]
    return replace(trace, events=events)


def moments(trace: Trace, marks: list[int], on: tuple[int, ...]) -> tuple[float, float, float]:
    """When the first sum began, the last backward operation ended and all did, on devices; from the start on."""
    ops = [e for e in trace.ops if e.device in on]
    sums = [e for e in ops if max(e.members, default=e.seq) > marks[1] and "add" in e.name]
    began = min((e.started for e in sums), default=trace.start)
    ended = max(e.ended for e in ops if any(marks[0] < n <= marks[1] for n in (e.seq, *e.members)))
    return began - trace.start, ended - trace.start, max(e.ended for e in ops) - trace.start


def steps_beside_one_device(
    count: int, wide: int, batch: int, steps: int
) -> tuple[list[tuple[Trace, list[int]]], float]:
    """Steps on two devices, and by how much the parameters differ from those of the same steps on one."""
    loss, shape = gluon.loss.L2Loss(), (batch, wide)
    two, one = (Training(layers(count, wide), shape, on, loss, 0.1) for on in (devices(), devices()[:1]))
    found = []
    for _ in range(steps):
        one.step()
        npx.waitall()
        with profiler.record() as p:
            marks = two.step()
        found.append((p.trace, numbered(p.trace, marks)))
    pairs = zip(one.net.collect_params().values(), two.net.collect_params().values())
    return found, max(float(abs(a.data() - b.data()).max()) for a, b in pairs)


@experiment(
    "", "Training on two devices",
    "gradients are summed as soon as each is ready, while the backward pass goes on; two devices take no longer than "
    "one.",
    rounds=3,
)  # fmt: skip
def several_devices(run: Run) -> Finding:
    steps = 2 if run.quick else 10
    with settings(cpu_devices=2):
        found, apart = steps_beside_one_device(*((4, 100, 64) if run.quick else (5, 800, 512)), steps)
    firsts = [moments(trace, marks, (0, 1)) for trace, marks in found]
    early = sum(began < ended for began, ended, _ in firsts)
    trace, marks = max(found, key=lambda step: step[0].overlap() / step[0].span)
    picture = run.out / "several_devices.svg"
    profiler.timeline(with_parts(trace, marks), picture, title="A training step on two devices")
    rows: list[Row] = [(trace.device_name(i), *map(seconds, moments(trace, marks, (i,)))) for i in (0, 1)]
    table = beside_one_device(run.size("batch", 32, 256), run.size("steps", 1, 20), 1 if run.quick else run.rounds)
    return Finding(
        [Table(("the step drawn", "first sum began", "backward ended", "step ended"), rows), table],
        [
            f"In {early} of {steps} steps the first sum began before the backward passes had ended.",
            f"After {steps} steps the parameters differ by {apart:.1e} from those trained on one device.",
            f"In the step drawn, two threads were busy for {percent(trace.overlap(), trace.span)} of the time.",
        ],
        [f"the parameters are WRONG: they differ by {apart:.1e}"] if apart > 1e-4 else [],
        [picture],
    )
