"""E2: results are copied to another device while later ones are still computed.

Products are computed on one device and copied to another: with a wait between computing and copying, and without.
Without it, y[i - 1] is copied while y[i] is computed, because copies have a queue of their own. The trace says how
many copies had begun before the last product was computed.
"""

from __future__ import annotations

from forerun import np, npx, profiler

from ...._runtime.device import Device
from ...finding import Figure, Finding, Run, Table, experiment, seconds
from ...measure import gpus, medians, settings, wait


def run(x: np.ndarray, times: int) -> list[np.ndarray]:
    """Results whose copies take long relative to their computation."""
    return [x @ x.T for _ in range(times)]


def copy_to_cpu(results: list[np.ndarray]) -> list[np.ndarray]:
    """Copies on the first device."""
    return [y.copyto(npx.cpu(0)) for y in results]


PROMISE = "results are copied while later ones are still computed."


@experiment("E2", "Computation and communication", PROMISE)
def copies(setup: Run) -> Finding:
    with settings(cpu_devices=2):
        return computed_and_copied(setup, npx.cpu(1), "e2")


@experiment("E2", "Computation on a GPU, and copies to the CPU", PROMISE)
def copies_from_gpu(setup: Run) -> Finding:
    return computed_and_copied(setup, gpus(1)[0], "e2_gpu")


def computed_and_copied(setup: Run, device: Device, prefix: str) -> Finding:
    """Products on a device, copied to cpu(0): with a wait between, and without."""
    n, inner, times = setup.size("n", 64, 1000), setup.size("inner", 8, 100), setup.size("times", 4, 24)
    x = np.random.uniform(size=(n, inner), device=device)

    def with_wait() -> None:
        y = run(x, times)
        wait(y)
        wait(copy_to_cpu(y))

    def without() -> None:
        wait(copy_to_cpu(run(x, times)))

    with_wait()  # the first run makes threads and memory, or compiles
    y = run(x, times)
    programs = {
        "compute": lambda: wait(run(x, times)), "copy": lambda: wait(copy_to_cpu(y)),
        "compute, wait, copy": with_wait, "compute and copy": without,
    }  # fmt: skip
    found = medians(programs, setup.rounds)
    early, pictures = [], []
    for name, program in (("with", with_wait), ("without", without)):
        with profiler.record() as p:
            program()
        pictures.append(setup.out / f"{prefix}_{name}.svg")
        profiler.timeline(p.trace, pictures[-1], title=f"Compute and copy, {name} a wait between")
        last = max(e.ended for e in p.trace.ops if e.queue == "compute")
        early.append((name, Figure(sum(e.started < last for e in p.trace.ops if e.queue == "copy"))))
    return Finding(
        [
            Table(
                (f"{times} products, results of {n} x {n}", "time"), [(name, seconds(t)) for name, t in found.items()]
            ),
            Table(
                ("copies that began before the last product ended", "copies"),
                [(f"{name} a wait between, of {times}", count) for name, count in early],
            ),
        ],
        missed=["copies began while products that they waited for were computed"] if early[0][1].value else [],
        pictures=pictures,
    )
