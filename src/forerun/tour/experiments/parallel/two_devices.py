"""E1: the same work on two devices at once takes clearly less time than on one after the other.

`run(x)` issues a number of products of a matrix with itself, on the device where the matrix is. The cores are split
into two logical devices; or the devices are two GPUs. Nothing in the program says "parallel".
"""

from __future__ import annotations

import time

from forerun import np, npx, profiler

from ...._runtime import core as _core
from ...._runtime.device import Device
from ...finding import Figure, Finding, Row, Run, Table, experiment, percent, ratio, seconds
from ...measure import apart, gpus, medians, settings, wait


def run(x: np.ndarray, times: int) -> list[np.ndarray]:
    """Products that do not depend on one another."""
    return [x.dot(x) for _ in range(times)]


PROMISE = "two devices together take less than the sum of both."


@experiment("E1", "Two devices at once", PROMISE)
def two_devices(setup: Run) -> Finding:
    with settings(cpu_devices=2):
        return alone_and_together(setup, [npx.cpu(0), npx.cpu(1)], _core.granted_cores() > 1, "e1_two_devices")


@experiment("E1", "Two GPUs at once", PROMISE)
def two_gpus(setup: Run) -> Finding:
    devices = gpus(2)
    return alone_and_together(setup, devices, apart(devices), "e1_two_gpus")


def alone_and_together(setup: Run, devices: list[Device], gains: bool, name: str) -> Finding:
    """The products on each of two devices, and on both. gains: whether they do not share a processor."""
    n, times = setup.size("n", 64, 500), setup.size("times", 4, 50)
    first, second = (np.random.uniform(size=(n, n), device=device) for device in devices)
    wait(run(first, 1) + run(second, 1))  # the first run makes threads and memory, or compiles
    found = medians(
        {
            "device 0": lambda: wait(run(first, times)),
            "device 1": lambda: wait(run(second, times)),
            "both at once": lambda: wait(run(first, times) + run(second, times)),
        },
        setup.rounds,
    )
    cpu = time.process_time()
    with profiler.record() as p:
        wait(run(first, times) + run(second, times))
        cpu = time.process_time() - cpu
    cores = cpu / p.trace.span
    picture = setup.out / f"{name}.svg"
    profiler.timeline(p.trace, picture, title=f"{times} products on each of two devices")

    one, other, both = found.values()
    work = 2 * times * n**3 / 1e9
    rows: list[Row] = [
        ("device 0", seconds(one), Figure(work / one, "GFLOP/s"), ratio(one, one + other)),
        ("device 1", seconds(other), Figure(work / other, "GFLOP/s"), ratio(other, one + other)),
        ("the sum", seconds(one + other), "", ratio(1, 1)),
        ("both at once", seconds(both), Figure(2 * work / both, "GFLOP/s"), ratio(both, one + other)),
    ]
    late = both > 0.8 * (one + other) and gains and not setup.quick
    return Finding(
        [Table((f"{times} products of {n} x {n} on each", "time", "rate", "to the sum"), rows)],
        [
            f"In a traced run of both, the devices were busy at once for {percent(p.trace.overlap(), p.trace.span)} of "
            f"the time, with the processor time of {cores:.1f} cores."
        ],
        ["both at once took more than 0.8 times the sum"] if late else [],
        [picture],
    )
