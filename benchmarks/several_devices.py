"""Training on two logical devices, half of the cores and of each batch for each, beside one device with all of it.

    python benchmarks/several_devices.py

Both take turns, so that what else the machine does meets both. Aim: a step on two devices takes at most 1.1 times a
step on one. Also printed: the time of all cores together, the front end's until a step is issued, operations.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import forerun
from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from forerun.gluon.utils import split_and_load
from table import show


def mlp() -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(256, activation="relu"), nn.Dense(10))
    return net


def lenet() -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="sigmoid"), nn.AvgPool2D(),
        nn.Conv2D(16, kernel_size=5, activation="sigmoid"), nn.AvgPool2D(),
        nn.Dense(120, activation="sigmoid"), nn.Dense(84, activation="sigmoid"), nn.Dense(10),
    )  # fmt: skip
    return net


NETS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "MLP 784-256-256-10": (mlp, (784,)),
    "LeNet": (lenet, (1, 28, 28)),
}


class Run:
    """Training as Gluon programs write it, on all devices that there are."""

    def __init__(self, name: str, batch: int, hybrid: bool) -> None:
        make, shape = NETS[name]
        npx.random.seed(1)
        self.net, self.loss = make(), gluon.loss.SoftmaxCrossEntropyLoss()
        self.devices, self.batch = forerun.devices(), batch
        self.x, self.y = np.random.normal(size=(batch, *shape)), np.random.randint(0, 10, size=batch)
        self.net.initialize("xavier", ctx=self.devices)
        if hybrid:
            self.net.hybridize(), self.loss.hybridize()
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.01})

    def step(self) -> None:
        parts = zip(*(split_and_load(v, self.devices) for v in (self.x, self.y)))
        with autograd.record():
            losses = [self.loss(self.net(x), y) for x, y in parts]
        autograd.backward(losses)
        self.trainer.step(self.batch)

    def seconds(self, steps: int) -> tuple[float, float, float]:
        """Of a step: in all, of all cores together, and of the front end until the last one was issued."""
        start, used, own = time.perf_counter(), time.process_time(), time.thread_time()
        for _ in range(steps):
            self.step()
        issued = time.thread_time() - own
        forerun.waitall()
        return (time.perf_counter() - start) / steps, (time.process_time() - used) / steps, issued / steps


def measured(devices: int, name: str, batch: int, hybrid: bool, steps: int) -> tuple[float, ...]:
    """Seconds of a step, of all cores, of issuing it; and operations in it."""
    forerun.configure(cpu_devices=devices)
    run = Run(name, batch, hybrid)
    run.seconds(5)
    before = forerun.stats()["issued"]
    return *run.seconds(steps), (forerun.stats()["issued"] - before) / steps


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--batch", type=int, default=256)
    given = arguments.parse_args()
    cores = forerun._core.granted_cores()
    print(f"{cores} cores, batches of {given.batch}; medians of {given.rounds} rounds; load {os.getloadavg()[0]:.1f}\n")
    rows = []
    for name in NETS:
        for hybrid in (False, True):
            both = lambda name=name, hybrid=hybrid: [
                measured(n, name, given.batch, hybrid, given.steps) for n in (1, 2)
            ]
            rounds = [both() for _ in range(given.rounds)]
            one, two = ([statistics.median(r[k][i] for r in rounds) for i in range(4)] for k in (0, 1))
            ratio = statistics.median(r[1][0] / r[0][0] for r in rounds)
            rows.append([
                name + (", hybridized" if hybrid else ""), f"{1e3 * one[0]:.2f}", f"{1e3 * two[0]:.2f}", f"{ratio:.2f}",
                *(f"{1e3 * x[1]:.2f}" for x in (one, two)), *(f"{1e3 * x[2]:.2f}" for x in (one, two)),
                *(f"{x[3]:.0f}" for x in (one, two)),
            ])  # fmt: skip
    head = ["one", "two", "ratio", "one: CPU", "two: CPU", "one: issue", "two: issue", "one: ops", "two: ops"]
    show(["ms of a step", *head], rows)
    print(f"load after {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
