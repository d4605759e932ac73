"""Predictions of `forerun whatif` beside runs: 1 and 2 CPU devices, 2 and 4 ranks with MPI, and the loopback network.

    python benchmarks/processes/whatif.py [--rounds 5] [--programs "wide, sgd"] [--markdown]

In each round a program is recorded on one device, and the prediction for each machine is compared with a run on it in
the same round, as the load of a shared machine changes. All processes have one worker for each device. Two inputs of
a prediction are measured apart from the run:

- how many cores devices or ranks share: those with which as many copies of the program, side by side, would take as
  long as they do. Two processors of a virtual machine may be one core, so that is not their number;
- the link between ranks, and the time of a core for its messages: sums of 256 KiB and 4 MiB, before the ranks train,
  alone and beside products of matrices.

The table has medians over the rounds; its error is the median of the rounds' errors, with the smallest and the largest.
Aim: within 15 %. Ranks need mpi4py and an MPI (`pip install "forerun[mpi]"`); without them they are
left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from forerun import profiler
from forerun._display.terminal import Terminal
from forerun._runtime.core import granted_cores

PROGRAMS = {  # width, layers, examples, optimizer
    "wide, sgd": (512, 4, 256, "sgd"),
    "deep, adam": (256, 12, 128, "adam"),
    "narrow, momentum": (128, 6, 512, "nag"),
}
RANKS = (2, 4)
SIZES = (256 << 10, 4 << 20)  # of the sums that measure a link: of the first and the largest buckets
DELAY, BANDWIDTH = 100e-6, 500e6  # of the loopback network: seconds, bytes a second
AIM = 0.15
CACHE = 64 << 20  # bytes, more than a processor's caches
BESIDE = 4  # products of matrices, some milliseconds of work
WARM = 40  # steps before the recording: loops are compiled beside the first ones


def train(name: str, devices: int, steps: int, out: str, network: str) -> None:
    """Train, a batch ahead; write the recording, and the seconds of a step and of sums over ranks."""
    import forerun
    from forerun import autograd, gluon, np
    from forerun.distributed import rank
    from forerun.profiler._replay.recorded import Recorded

    if network == "loopback":
        open_loopback(DELAY, BANDWIDTH)
    sums = [seconds_of_sum(size) for size in SIZES] if network else []
    width, layers, examples, optimizer = PROGRAMS[name]
    places = [forerun.cpu(i) for i in range(devices)]
    net = gluon.nn.Sequential()
    for _ in range(layers):
        net.add(gluon.nn.Dense(width, activation="relu", in_units=width))
    net.add(gluon.nn.Dense(1, in_units=width))
    net.initialize(device=places)
    kvstore = "dist_sync_device" if network else "device"
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 1e-5}, kvstore=kvstore)
    xs = [np.random.normal(size=(examples, width), device=d) for d in places]
    ys = [np.ones((examples, 1), device=d) for d in places]
    loss = gluon.loss.L2Loss()

    def step() -> None:
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(xs, ys)]
        for each in losses:
            each.backward()
        trainer.step(examples * devices)

    for _ in range(WARM):
        step()
    forerun.waitall()
    with profiler.record(f"{out}.{rank()}.frec") as p:
        for _ in forerun.pace(range(steps)):
            step()
    result = {"seconds": Recorded.of(p.trace).seconds, "sums": sums}
    Path(f"{out}.{rank()}.json").write_text(json.dumps(result))


def open_loopback(*speed: float) -> None:
    """Let this process be one of two ranks, of which the other does the same. speed: delay and bandwidth."""
    from forerun import _core
    from forerun.distributed import _peers, _world

    os.environ.update(FORERUN_RANK="0", FORERUN_SIZE="2")
    _peers.from_environment.cache_clear()
    _core.net_open_loopback(2, *speed)
    _world._opened_by = os.getpid()


def seconds_of_sum(size: int) -> tuple[float, float]:
    """Return the times of a sum over ranks, by the clock and of the processor.

    Its time is the time that the sum adds to work beside it, and at least its time alone.
    """
    alone, processor = of_work(size, 0, 1)
    added = of_work(size, BESIDE, 1)[0] - of_work(size, BESIDE, 0)[0]
    return max(alone, added), processor


def of_work(size: int, products: int, sums: int) -> tuple[float, float]:
    """Return the median times of some products and sums, by the clock of the slowest rank and of the processor.

    The summed arrays are not in a cache, as gradients mostly are not.
    """
    from forerun import distributed as dist
    from forerun import np

    arrays = [np.ones(size // 4) for _ in range(max(2, min(CACHE // size, 40)))]
    matrix = np.ones((512, 512))
    times = []
    for x in arrays[:2] * 3 + arrays:
        dist.allreduce(np.ones(1)).wait()  # all begin together
        began = time.perf_counter(), time.process_time()
        work = [matrix @ matrix for _ in range(products)]
        for each in [*work, *(dist.allreduce(x) for _ in range(sums))]:
            each.wait()
        times.append((time.perf_counter() - began[0], time.process_time() - began[1]))
    clock, processor = zip(*times[6:])
    return median(dist.allreduce(np.array(clock), "max").tolist()), median(processor)


def link_of(ranks: int, sums: list[tuple[float, float]], cores: float) -> str:
    """Return the link for which a ring takes as long, and as much of a core, as was measured on so many cores."""
    share = min(1.0, cores / ranks)  # of a core, that a rank has
    core = [min(processor, clock * share) for clock, processor in sums]
    rate, latency = line(ranks, [max(0.0, clock - c / share) for (clock, _), c in zip(sums, core)])
    copy, call = line(ranks, core)
    return f"{rate}MB/s,{latency}us,copy={copy}MB/s,call={call}us"


def line(ranks: int, seconds: list[float]) -> tuple[str, str]:
    """Return the megabytes a second and the microseconds of a message with which a ring takes so long for each size."""
    steps = 2 * (ranks - 1)
    rate = steps / ranks * (SIZES[1] - SIZES[0]) / max(seconds[1] - seconds[0], 1e-9)
    latency = max(0.0, seconds[0] / steps - SIZES[0] / ranks / rate)
    return f"{rate / 1e6:.3f}", f"{latency * 1e6:.3f}"


@dataclass
class Bench:
    """Runs programs in processes of their own, with files in a folder."""

    folder: Path
    steps: int
    count: int = 0

    def run(self, name: str, devices: int = 1, at_once: int = 1, network: str = "", ranks: int = 1) -> dict[str, Any]:
        """Return the results of the first of some processes, with the median time of a step over all of them."""
        outs = []
        started = []
        for _ in range(at_once):
            self.count += 1
            outs.append(str(self.folder / str(self.count)))
            started.append(self._start(outs[-1], name, devices, network, ranks))
        for one in started:
            text = one.communicate(timeout=600)[0]
            if one.returncode:
                raise RuntimeError(f"{name}: a run must end with status 0, got {one.returncode}:\n{text}")
        results = [json.loads(Path(f"{out}.{r}.json").read_text()) for out in outs for r in range(ranks)]
        return {**results[0], "seconds": median(s["seconds"] for s in results), "file": f"{outs[0]}.0.frec"}

    def _start(self, out: str, name: str, devices: int, network: str, ranks: int) -> subprocess.Popen[str]:
        program = [__file__, "--train", name, "--devices", str(devices), "--steps", str(self.steps), "--out", out]
        launcher = ["-m", "forerun", "run", "-n", str(ranks)] if ranks > 1 else []
        words = [sys.executable, *launcher, *program, *(["--network", network] if network else [])]
        environment = {**os.environ, "FORERUN_WORKERS": "1", "FORERUN_CPU_DEVICES": str(devices)}
        return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def cores_of(trace: Any, copies: int, seconds: float) -> float:
    """Return the number of cores with which so many copies of a program, side by side, take so long for a step."""
    least, most = 0.25, float(granted_cores())
    for _ in range(12):
        middle = (least + most) / 2
        found = profiler.whatif(trace, cores=middle / copies).seconds
        least, most = (middle, most) if found > seconds else (least, middle)
    return most


@dataclass
class Row:
    """Predictions and runs of one machine, of all rounds."""

    predicted: list[float] = field(default_factory=list)
    run: list[float] = field(default_factory=list)
    replay: list[float] = field(default_factory=list)  # the error that is printed with each prediction
    given: str = ""

    def add(self, found: profiler.Prediction, run: float, given: str = "") -> None:
        self.predicted.append(found.seconds)
        self.run.append(run)
        self.replay.append(found.error)
        self.given = given

    def cells(self, name: str, machine: str) -> list[str]:
        errors = [p / r - 1 for p, r in zip(self.predicted, self.run)]
        spread = f"{min(errors):+.0%} to {max(errors):+.0%}"
        times = [f"{median(x) * 1e3:.2f}" for x in (self.predicted, self.run)]
        within = "yes" if abs(median(errors)) <= AIM else "no"
        return [name, machine, *times, f"{median(errors):+.1%}", spread, f"{median(self.replay):+.1%}", within]


def compare(bench: Bench, name: str, rounds: int) -> list[list[str]]:
    """Return rows of the table."""
    rows: dict[str, Row] = {}
    for _ in range(rounds):
        recorded = bench.run(name)
        trace = profiler.load(recorded["file"])

        def add(machine: str, run: dict[str, Any], trace: Any = trace, **there: Any) -> None:
            rows.setdefault(machine, Row()).add(profiler.whatif(trace, **there), run["seconds"])

        add("1 device", bench.run(name))
        cores = cores_of(trace, 2, bench.run(name, at_once=2)["seconds"])
        add("2 devices", bench.run(name, devices=2), devices=2, cores=cores)
        run = bench.run(name, network="loopback")
        add("loopback network", run, ranks=2, link=link_of(2, run["sums"], 2.0))
        for n in RANKS if importlib.util.find_spec("mpi4py") else ():
            shared = cores if n == 2 else cores_of(trace, n, bench.run(name, at_once=n)["seconds"])
            run = bench.run(name, network="ranks", ranks=n)
            add(f"{n} ranks", run, ranks=n, link=link_of(n, run["sums"], shared), cores=shared)
    return [row.cells(name, machine) for machine, row in rows.items()]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--steps", type=int, default=40)
    arguments.add_argument("--programs", nargs="*", choices=list(PROGRAMS), default=list(PROGRAMS))
    arguments.add_argument("--markdown", action="store_true", help="print the table for a page")
    for hidden in ("--train", "--out", "--network"):
        arguments.add_argument(hidden, default="", help=argparse.SUPPRESS)
    arguments.add_argument("--devices", type=int, default=1, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.train:
        train(given.train, given.devices, given.steps, given.out, given.network)
        return
    print(f"{granted_cores()} cores; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given.steps)
        rows = [r for name in given.programs for r in compare(bench, name, given.rounds)]
    head = ["program", "machine", "predicted ms", "run ms", "error", "of rounds", "replay", "within 15 %"]
    if given.markdown:
        for cells in [head, ["---"] * len(head), *rows]:
            print(f"| {' | '.join(cells)} |")
    else:
        Terminal().table(head, rows)
    if any(abs(float(cells[6].rstrip("%"))) > AIM * 100 for cells in rows):
        print("the replay itself is off by more than the aim: the machine has other work, repeat it later")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
