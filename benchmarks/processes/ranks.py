"""Operations between two ranks of this machine beside raw mpi4py, and a step of training over a slow network.

    python benchmarks/processes/ranks.py

Aims: allreduce of 1 to 16 MiB at 0.9 times mpi4py's bandwidth; 8 bytes in 25 us; beside a thread that is busy in Python
1.5 times the time; a collective that waits takes a tenth of a core; over a network that takes as long as the backward
pass, a step takes 1.15 times the minimum.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy
from whatif import open_loopback

import forerun
from forerun import _core, autograd, gluon, np
from forerun import distributed as dist
from forerun._display.terminal import Terminal
from forerun.gluon import nn

SIZES = (8, 64 << 10, 1 << 20, 4 << 20, 16 << 20)
WAIT = 0.5  # seconds that one rank is late


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def beside_mpi4py() -> None:
    dist.allreduce([1.0]).wait()  # opens MPI
    from mpi4py import MPI

    world, rows = MPI.COMM_WORLD, []
    for size in SIZES:
        sent, got = numpy.ones(size // 4 or 1, "f4"), numpy.empty(size // 4 or 1, "f4")
        x = np.array(sent)
        rounds = max(15, min(400, (64 << 20) // size))
        mpi_times, forerun_times = [], []
        for _ in range(rounds + 5):  # in turns: the machine is the same for both
            world.Barrier()
            mpi_times.append(timed(lambda sent=sent, got=got: world.Allreduce(sent, got)))
            world.Barrier()
            forerun_times.append(timed(lambda x=x: dist.allreduce(x).wait()))
        a, b = (1e6 * statistics.median(each[5:]) for each in (mpi_times, forerun_times))
        aim = "at most 25 us" if size == 8 else "at least 0.9" if size >= 1 << 20 else ""
        rows.append([f"{size:,} bytes", f"{a:.1f}", f"{b:.1f}", f"{a / b:.2f}", aim])
    if dist.rank() == 0:
        print("allreduce of two ranks, medians\n")
        Terminal().table(["", "mpi4py, us", "here, us", "bandwidth", "aim"], rows)


def beside_a_busy_thread() -> None:
    """Rank 0 has the thread; another would leave no core on a machine with two."""
    from mpi4py import MPI

    world, x, stop = MPI.COMM_WORLD, np.ones(1 << 20), False
    sent, got = numpy.ones(1 << 20, "f4"), numpy.empty(1 << 20, "f4")

    def spin() -> None:
        while not stop:
            sum(range(1000))

    def with_forerun() -> None:
        y = x
        for _ in range(8):  # one behind another: this measures the engine, not the thread that waits
            y = dist.allreduce(y, "mean")
        y.wait()

    def raw() -> None:
        for _ in range(8):
            world.Allreduce(sent, got)

    def medians() -> list[float]:
        found: list[list[float]] = [[], []]
        for _ in range(12):
            for times, call in zip(found, (with_forerun, raw)):
                world.Barrier()
                times.append(timed(call))
        return [statistics.median(times) for times in found]

    alone = medians()
    thread = threading.Thread(target=spin)
    if dist.rank() == 0:
        thread.start()
    busy = medians()
    stop = True
    if dist.rank() == 0:
        thread.join()
        ratio, other = (b / a for a, b in zip(alone, busy))
        print("\n4 MiB, eight behind each other, beside a thread that is busy in Python, times those alone:")
        print(f"here {ratio:.2f} (aim 1.5), mpi4py {other:.2f}")


def while_it_waits() -> None:
    dist.allreduce([1.0]).wait()
    if dist.rank() == 1:
        time.sleep(WAIT)
    before = _core.net_processor_ns()
    dist.allreduce([1.0]).wait()
    time.sleep(0.2)  # the thread notes its time before it naps
    if dist.rank() == 0:
        share = (_core.net_processor_ns() - before) / 1e9 / WAIT
        print(f"\na collective that waits {WAIT} s for another rank takes {100 * share:.1f} % of a core (aim 10)")


def over_a_slow_network() -> None:
    """One rank; the loopback network takes its time, and no core."""
    open_loopback()
    net = nn.HybridSequential()
    net.add(*(nn.Dense(768, "tanh") for _ in range(8)))
    net.initialize("xavier")
    x = np.random.normal(size=(768, 768))
    net(x).wait()
    params = list(net.collect_params().values())

    def forward() -> object:
        with autograd.record():
            return (net(x) ** 2).sum()

    def parts() -> tuple[float, float, float]:
        """Seconds of the forward pass, until the last layer's gradient, and of the whole backward pass."""
        start = time.perf_counter()
        cost = forward()
        cost.wait()
        middle = time.perf_counter()
        cost.backward()
        params[-2].grad().wait()
        first = time.perf_counter()
        forerun.waitall()
        return middle - start, first - middle, time.perf_counter() - middle

    def step(trainer: gluon.Trainer) -> float:
        start = time.perf_counter()
        forward().backward()
        trainer.step(1e6)
        forerun.waitall()
        return time.perf_counter() - start

    parts()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-6}, kvstore="dist_sync")
    bytes_ = sum(p.data().nbytes for p in params)
    rows = []
    for _ in range(9):
        ahead, first, whole = parts()
        _core.net_open_loopback(2, bandwidth=bytes_ / whole)
        spent = step(trainer)
        rows.append((spent / (ahead + first + whole), spent, ahead, whole))
    ratio, spent, ahead, whole = (statistics.median(each) for each in zip(*rows[1:]))
    print(f"\nforward {1e3 * ahead:.1f} ms, backward {1e3 * whole:.1f} ms, network {1e3 * whole:.1f} ms: a step takes")
    print(f"{1e3 * spent:.1f} ms, {ratio:.2f} times the forward pass, the first gradient and the network (aim 1.15)")


def main() -> None:
    if "FORERUN_LAUNCHER" in os.environ:
        beside_mpi4py()
        beside_a_busy_thread()
        while_it_waits()
    elif "loopback" in sys.argv:
        over_a_slow_network()
    else:
        here = str(Path(__file__))
        run = [sys.executable, "-m", "forerun", "run", "-n", "2", here]
        done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
        print(done.stdout.replace("[0] ", ""), end="")
        subprocess.run([sys.executable, here, "loopback"], check=True, timeout=300)


if __name__ == "__main__":
    main()
