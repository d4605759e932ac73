"""D1: loops with a barrier in each minibatch and without one: time, and memory.

A loop that never waits can issue all its minibatches long before they are computed. If each took its memory at once,
memory would grow with their number. Here, an operation takes memory when it starts, and one that is not yet next in
program order starts only where the program, run in order, would need as much memory anyway.

Two programs: the chapter's training loop, through three dense layers, and `dw += dot(x, dy)` with operands made inside
of the loop. Each loop runs in a process of its own; the peak is the engine's (bytes of live arrays) and the system's
(resident set).
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn

from ...._runtime import core as _core
from ...._runtime.engine import memory as memory_of
from ...._runtime.pacing import pace
from ...finding import Figure, Finding, Row, Run, Table, experiment, seconds, size

Step = Callable[[np.ndarray], np.ndarray]


def training(batch: int, features: int, hidden: int) -> Step:
    """A step of training on a minibatch; it returns the loss."""
    net = nn.Sequential()
    net.add(nn.Dense(4 * hidden, activation="relu"), nn.Dense(hidden, activation="relu"), nn.Dense(1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    l2 = gluon.loss.L2Loss()

    def step(x: np.ndarray) -> np.ndarray:
        with autograd.record():
            loss: np.ndarray = l2(net(x), np.ones(len(x)))
        loss.backward()
        trainer.step(batch)
        return loss

    step(np.ones((batch, features)))  # makes the parameters
    return step


def products(n: int) -> Step:
    """A step that adds a product to a sum."""
    dw = np.zeros((n, n))

    def step(x: np.ndarray) -> np.ndarray:
        nonlocal dw
        dw += np.dot(x, np.random.normal(size=(n, n)))
        return dw

    return step


def data(batches: int, batch: int, features: int) -> Iterator[np.ndarray]:
    """Minibatches, made when they are asked for."""
    for _ in range(batches):
        yield np.random.normal(size=(batch, features))


MEASURED = ("issued", "ended", "arrays", "process")
WAITS: dict[str, tuple[bool, Callable[[Iterable[np.ndarray]], Iterable[np.ndarray]]]] = {
    "a wait in each": (True, iter),
    "forerun.pace, one ahead": (False, lambda batches: pace(batches, ahead=1)),
    "no wait": (False, iter),
}


def loop(step: Step, batches: Iterable[np.ndarray], wait: bool) -> None:
    """The loop, with a wait in each step or without."""
    for x in batches:
        result = step(x)
        if wait:
            result.wait_to_read()


def measured(program: str, waits: str, batches: int, batch: int, features: int) -> dict[str, float]:
    """Run a loop here: the seconds until it was issued and ended, and its peaks of memory in bytes."""
    step = training(batch, features, features) if program == "training" else products(features)
    wait, paced = WAITS[waits]
    npx.waitall()
    _core.reset_peak()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets the peak of the resident set
    start = time.perf_counter()
    loop(step, paced(data(batches, batch, features)), wait)
    issued = time.perf_counter() - start
    npx.waitall()
    ended = time.perf_counter() - start
    return dict(zip(MEASURED, (issued, ended, memory_of()["peak"], resident_peak()), strict=True))


def resident_peak() -> int:
    """Peak of the resident set in bytes."""
    with open("/proc/self/status") as file:
        lines = [line for line in file if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) << 10 if lines else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def in_a_process(*loop: str | int) -> dict[str, float]:
    """The same in a process of its own."""
    code = f"from {__name__} import measured; print(*measured(*{loop!r}).values())"
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return dict(zip(MEASURED, map(float, done.stdout.split()), strict=True))


@experiment(
    "D1", "Memory of a loop that never waits",
    "without a barrier in each step, memory may pile up; here it must not.", rounds=1,
)  # fmt: skip
def memory(run: Run) -> Finding:
    batches, batch, features = run.size("batches", 4, 50), run.size("batch", 32, 1024), run.size("features", 16, 512)
    loops = [
        ("training", "a wait in each", batches), ("training", "forerun.pace, one ahead", batches),
        ("training", "no wait", batches), ("training", "no wait", 3 * batches),
        ("dw += dot(x, dy)", "a wait in each", batches), ("dw += dot(x, dy)", "no wait", batches),
    ]  # fmt: skip
    rows: list[Row] = []
    base: dict[str, float] = {}
    grown = []
    for program, waits, count in loops:
        sizes = (batch, features) if program == "training" else (batch, batch)
        # The most of several runs: when exactly Python releases an array differs from run to run.
        runs = [in_a_process(program, waits, count, *sizes) for _ in range(1 if run.quick else run.rounds)]
        found = {key: max(one[key] for one in runs) for key in runs[0]}
        base = found if waits == "a wait in each" else base
        times = {key: found[key] / base[key] for key in ("arrays", "process")}
        name = f"{program}, {waits}"
        rows.append((
            name, Figure(count), size(found["arrays"]), Figure(times["arrays"], "x"), size(found["process"]),
            Figure(times["process"], "x"), seconds(found["issued"]), seconds(found["ended"]),
        ))  # fmt: skip
        if times["arrays"] > 1.15 and not run.quick:
            grown.append(f"{name}: the peak of arrays is {times['arrays']:.2f} times that with a wait in each")
    head = ("peaks", "steps", "arrays", "to a wait", "process", "to a wait", "issued", "ended")
    answer = "Memory does not grow with the number of minibatches: oldest operations start first."
    return Finding([Table(head, rows)], [] if grown else [answer], grown)
