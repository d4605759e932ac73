"""Memory of programs that never wait, beside the same programs with a barrier in each iteration.

    python benchmarks/memory.py

(a) the training loop of the chapter on asynchronous computation: 150 batches of 1024 x 512 through three dense layers;
(b) 150 times dw += dot(x, dy) with 1024 x 1024 operands made inside the loop.
Aim: without a barrier at most 1.15 times the peak with one. Each program runs in processes of its own; the peak is the
engine's (bytes of live arrays) and the system's (resident set).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import forerun
from forerun import autograd, gluon, np
from forerun.gluon import nn
from table import show


def training(barrier: bool, batches: int) -> None:
    """The training loop."""
    net = nn.Sequential()
    net.add(nn.Dense(2048, activation="relu"), nn.Dense(512, activation="relu"), nn.Dense(1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    loss = gluon.loss.L2Loss()
    loss(np.ones((1024,)), net(np.ones((1024, 512)))).wait()
    forerun.waitall()
    start_measuring()
    for _ in range(batches):
        x, y = np.random.normal(size=(1024, 512)), np.ones((1024,))
        with autograd.record():
            cost = loss(y, net(x))
        cost.backward()
        trainer.step(1024)
        if barrier:
            forerun.waitall()


def products(barrier: bool, batches: int) -> None:
    """dw += dot(x, dy)."""
    dw = np.zeros((1024, 1024))
    forerun.waitall()
    start_measuring()
    for _ in range(batches):
        x, dy = np.random.normal(size=(1024, 1024)), np.random.normal(size=(1024, 1024))
        dw += np.dot(x, dy)
        if barrier:
            forerun.waitall()


def start_measuring() -> None:
    """The peak from here on."""
    forerun._core.reset_peak()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets the peak of the resident set


def resident_peak() -> int:
    """Peak of the resident set in bytes."""
    with open("/proc/self/status") as file:
        lines = [line for line in file if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) << 10 if lines else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def measure(name: str, barrier: bool, batches: int) -> dict[str, float]:
    """Runs one program here."""
    start = time.perf_counter()
    {"training": training, "products": products}[name](barrier, batches)
    issued = time.perf_counter() - start
    forerun.waitall()
    ended = time.perf_counter() - start
    return {"peak": forerun.memory()["peak"], "resident": resident_peak(), "issued": issued, "ended": ended}


def apart(name: str, barrier: bool, batches: int) -> dict[str, float]:
    """Runs one program in a process of its own."""
    command = [sys.executable, __file__, "--program", name, "--batches", str(batches)]
    output = subprocess.run(command + ["--barrier"] * barrier, check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--program", choices=["training", "products"])
    arguments.add_argument("--barrier", action="store_true")
    arguments.add_argument("--batches", type=int, default=150)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    if given.program:
        print(json.dumps(measure(given.program, given.barrier, given.batches)))
        return
    rows = []
    for name, title in (("training", "(a) training loop"), ("products", "(b) dw += dot(x, dy)")):
        # The most of several runs: when exactly Python releases an array differs from run to run.
        runs = {}
        for barrier in (True, False):
            found = [apart(name, barrier, given.batches) for _ in range(given.runs)]
            runs[barrier] = {key: max(run[key] for run in found) for key in found[0]}
        for barrier, run in runs.items():
            rows.append(
                [
                    f"{title}, {'barrier' if barrier else 'no barrier'}",
                    f"{run['peak'] / 2**20:.1f}", f"{run['peak'] / runs[True]['peak']:.2f}",
                    f"{run['resident'] / 2**20:.0f}", f"{run['resident'] / runs[True]['resident']:.2f}",
                    f"{run['issued']:.2f}", f"{run['ended']:.2f}",
                ]
            )  # fmt: skip
    print(f"{given.batches} batches; peak memory of arrays and of the process, the most of {given.runs} runs each\n")
    show(["", "arrays MiB", "times", "process MiB", "times", "issued s", "ended s"], rows)


if __name__ == "__main__":
    main()
