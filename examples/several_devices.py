"""A network trained on two devices by a Trainer: a timeline of one step, with what each operation was for.

The gradients of the last layer are summed, the parameters updated and broadcast, while the backward passes of the
layers before go on. Written as any Gluon program for several GPUs; CPU devices take their place.

    python examples/several_devices.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import forerun
from forerun import autograd, gluon, np, npx, profiler
from forerun.gluon import nn
from forerun.gluon.utils import split_and_load
from forerun.profiler import Trace

PARTS = ("data and forward", "backward", "sums and updates", "broadcast")


class Training:
    """A network on some devices, and a batch; `step` returns how many operations it had issued after each part."""

    def __init__(self, devices: list[forerun.Device], layers: int, wide: int, batch: int) -> None:
        npx.random.seed(1)
        self.net = nn.Sequential()
        for _ in range(layers):
            self.net.add(nn.Dense(wide, activation="relu", in_units=wide))
        self.net.initialize("xavier", ctx=devices)
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
        self.x, self.y = np.random.normal(size=(batch, wide)), np.ones((batch, wide))
        self.devices, self.loss = devices, gluon.loss.L2Loss()

    def step(self) -> list[int]:
        before = forerun.stats()["issued"]
        parts = zip(*(split_and_load(values, self.devices) for values in (self.x, self.y)))
        with autograd.record():
            losses = [self.loss(self.net(x), y) for x, y in parts]
        marks = [forerun.stats()["issued"] - before]
        autograd.backward(losses)
        marks.append(forerun.stats()["issued"] - before)
        self.trainer.step(len(self.x))
        return marks


def numbered(trace: Trace, marks: list[int]) -> list[int]:
    """The number of the last operation of each part. A recorded step numbers its operations without gaps."""
    first = min(number for e in trace.ops for number in (e.seq, *e.members))
    return [first + mark - 1 for mark in marks]


def told(trace: Trace, marks: list[int]) -> Trace:
    """The trace with the parts of the step for names."""

    def part(seq: int, name: str) -> str:
        if seq <= marks[1]:
            return PARTS[seq > marks[0]]
        return PARTS[3] if name == "copy" else PARTS[2]

    events = [e if e.kind == "wait" else replace(e, name=part(e.seq, e.name)) for e in trace.events]
    return replace(trace, events=events)


def share(trace: Trace) -> float:
    """Of the time in which two threads or more were at work."""
    return trace.overlap() / trace.span


def figures(trace: Trace, marks: list[int], devices: tuple[int, ...]) -> tuple[float, float, float]:
    """When the first sum began, the last backward operation ended and all did, on devices; in milliseconds."""
    ops = [e for e in trace.ops if e.device in devices]
    sums = [e for e in ops if max(e.members, default=e.seq) > marks[1] and "add" in e.name]
    began = min((e.started for e in sums), default=trace.start)
    ended = max(e.ended for e in ops if any(marks[0] < n <= marks[1] for n in (e.seq, *e.members)))
    return tuple(1e3 * (t - trace.start) for t in (began, ended, max(e.ended for e in ops)))  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for the picture (default: build)")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    sizes, steps = ((4, 100, 64), 2) if given.quick else ((5, 800, 512), 10)
    forerun.configure(cpu_devices=2)
    two, one = Training(forerun.devices(), *sizes), Training(forerun.devices()[:1], *sizes)
    early, drawn = 0, None
    for _ in range(steps):
        one.step()
        forerun.waitall()
        with profiler.record() as p:
            marks = two.step()
        marks = numbered(p.trace, marks)
        began, ended, _ = figures(p.trace, marks, (0, 1))
        early += began < ended
        if drawn is None or share(p.trace) > share(drawn[0]):
            drawn = p.trace, marks
    assert drawn is not None
    trace, marks = drawn
    picture = given.out / "several_devices.svg"
    profiler.timeline(told(trace, marks), picture, title="A training step on two devices")
    print("the step drawn, ms        first sum began   backward ended   step ended")
    for device in (0, 1):
        times = figures(trace, marks, (device,))
        print(f"{trace.device_name(device):24}{times[0]:14.1f}{times[1]:17.1f}{times[2]:13.1f}")
    pairs = zip(one.net.collect_params().values(), two.net.collect_params().values())
    apart = max(float(abs(a.data() - b.data()).max()) for a, b in pairs)
    print(f"In {early} of {steps} steps the first sum began before the backward passes had ended.")
    print(f"After {steps} steps the parameters differ by {apart:.1e} from those trained on one device.")
    print(f"Picture, of the step in which most ran at once: {picture}")


if __name__ == "__main__":
    main()
