"""Predictions of `forerun whatif` beside runs: one recording on one device, then 1 and 2 CPU devices, and ranks.

    python benchmarks/whatif.py

Each run is a process of its own with one worker for each device; all take turns, and of each the fastest round counts,
as other work on the machine only adds time. Two devices share memory, caches and perhaps a core: by how much that slows
operations is measured by two processes with one device each, at the same time. Aim: each prediction is within 15 % of
the run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from forerun import profiler
from forerun._runtime.core import granted_cores
from forerun.profiler import Prediction
from table import show

PROGRAMS = {  # width, layers, examples, optimizer
    "wide, sgd": (512, 4, 256, "sgd"),
    "deep, adam": (256, 12, 128, "adam"),
    "narrow, momentum": (128, 6, 512, "nag"),
}


def train(name: str, devices: int, steps: int, file: str) -> None:
    """Train, a batch ahead; print seconds of each step as recorded by the profiler."""
    import forerun
    from forerun import autograd, gluon, np
    from forerun.profiler._replay.recorded import Recorded

    width, layers, examples, optimizer = PROGRAMS[name]
    places = [forerun.cpu(i) for i in range(devices)]
    net = gluon.nn.Sequential()
    for _ in range(layers):
        net.add(gluon.nn.Dense(width, activation="relu", in_units=width))
    net.add(gluon.nn.Dense(1, in_units=width))
    net.initialize(device=places)
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 1e-5})
    xs = [np.random.normal(size=(examples, width), device=d) for d in places]
    ys = [np.ones((examples, 1), device=d) for d in places]
    loss = gluon.loss.L2Loss()

    def step() -> None:
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(xs, ys)]
        for each in losses:
            each.backward()
        trainer.step(examples * devices)

    for _ in range(5):
        step()
    forerun.waitall()
    with profiler.record(file or None) as p:
        for _ in forerun.pace(range(steps)):
            step()
    found = Recorded.of(p.trace)
    print(json.dumps({"seconds": found.quartiles[0], "steps": found.steps}))


def processes(name: str, count: int, devices: int, steps: int, file: str = "") -> float:
    """Return the lower quartile of a step's time in processes of their own, at the same time: the shortest of these."""
    words = [sys.executable, __file__, "--train", name, "--devices", str(devices), "--steps", str(steps)]
    environment = {**os.environ, "FORERUN_WORKERS": "1", "FORERUN_CPU_DEVICES": str(devices)}
    started = [
        subprocess.Popen([*words, "--file", file], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    said = [one.communicate(timeout=600)[0] for one in started]
    return min(float(json.loads(text.splitlines()[-1])["seconds"]) for text in said)


def compare(name: str, rounds: int, steps: int) -> list[list[str]]:
    """Return rows of the table: what was predicted from the fastest recording, and the fastest run."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        recordings: list[tuple[float, Path]] = []
        for k in range(rounds):
            file = Path(folder) / f"{k}.frec"
            times = {
                "recorded": processes(name, 1, 1, steps, str(file)),
                "one": processes(name, 1, 1, steps),
                "beside": processes(name, 2, 1, 5 * steps),
                "two": processes(name, 1, 2, steps),
            }
            best = {run: min(seconds, best.get(run, seconds)) for run, seconds in times.items()}
            recordings.append((times["recorded"], file))
        trace = profiler.load(min(recordings)[1])
    slowdown = max(1.0, best["beside"] / best["one"])
    one, two = profiler.whatif(trace), profiler.whatif(trace, devices=2, slowdown=slowdown)
    return [row(name, one, best["one"]), row(f"{name}, slowdown {slowdown:.2f}", two, best["two"])]


def row(name: str, found: Prediction, run: float) -> list[str]:
    """Return a row of the table."""
    error = found.seconds / run - 1
    return [name, f"{found.machine.devices}", f"{found.machine.ranks}", f"{found.seconds * 1e3:.3f}",
            f"{run * 1e3:.3f}", f"{error:+.1%}", f"{found.error:+.1%}"]  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--devices", type=int, default=1, help=argparse.SUPPRESS)
    arguments.add_argument("--train", choices=list(PROGRAMS), help=argparse.SUPPRESS)
    arguments.add_argument("--file", default="", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.train:
        train(given.train, given.devices, given.steps, given.file)
        return
    print(f"{granted_cores()} cores; load {os.getloadavg()[0]:.1f}")
    rows = [r for name in PROGRAMS for r in compare(name, given.rounds, given.steps)]
    show(["program", "devices", "ranks", "predicted ms", "run ms", "error", "replay"], rows)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
