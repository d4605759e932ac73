"""Draws the figures of the pages from programs that it runs: `python docs/_ext/figures.py [NAME ...]`.

They are written to docs/figures as SVG. The timelines show the shortest of some runs on the machine that draws them:
the one that other programs have disturbed least. Those of GPUs are of the device that behaves like one far away
(core/tests/fake_gpu), on which an operation takes 2 ms, and a copy of a result 1.6 ms; `make figures` sets it up.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forerun
from forerun import _core, autograd, gluon, np, profiler
from forerun.gluon import nn

RUNS = 30
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"


def save(name: str, picture: str) -> None:
    """Writes a figure, in which files are named from the root of the project."""
    (FOLDER / f"{name}.svg").write_text(picture.replace(f"{ROOT}/", ""), encoding="utf-8")


def products(n: int = 700) -> list[Any]:
    """Ten products of random matrices."""
    found = []
    for _ in range(10):
        a = np.random.normal(size=(n, n))
        found.append(a @ a)
    return found


def issue_and_wait() -> None:
    """The same ten products: until issued, and until the values are computed."""
    runs = []
    for _ in range(RUNS):
        start = time.perf_counter()
        held = products()
        issued = time.perf_counter() - start
        forerun.wait(held)
        runs.append((time.perf_counter() - start, issued))
    ended, issued = min(runs)
    save("issue-and-wait", bars({"the calls have returned": issued, "the values are computed": ended}))


def timeline(name: str, title: str, program: Callable[[], Any]) -> None:
    """A timeline of the shortest run of a program."""
    traces = []
    for _ in range(RUNS):
        with profiler.record() as recording:
            held = program()
            forerun.waitall()
        del held
        traces.append(recording.trace)
    save(name, profiler.timeline(min(traces, key=lambda trace: trace.span), title=title))


def front_and_back() -> None:
    """Six products are issued, then the last one is read."""

    def program() -> Any:
        a = np.random.normal(size=(500, 500))
        for _ in range(6):
            a = np.tanh(a @ a / 22)
        return a.sum().item()

    timeline("front-and-back", "six steps are queued, then one number is read", program)


def often_and_once() -> None:
    """A value is read in each step, or once at the end."""
    a = np.random.normal(size=(300, 300))

    def often() -> float:
        total = 0.0
        for i in range(8):
            total += np.tanh(a @ (a + i)).sum().item()
        return total

    def once() -> float:
        total = np.zeros(())
        for i in range(8):
            total = total + np.tanh(a @ (a + i)).sum()
        return total.item()

    timeline("look-in-each-step", "a number is asked for in each step", often)
    timeline("look-at-the-end", "it is asked for once", once)


def snippet() -> None:
    """The graph of z = x * y + 2."""
    with profiler.record() as recording:
        x, y = np.ones((1, 2)), np.ones((1, 2))
        z = x * y + 2
        z.wait()
    save("snippet", profiler.graph(recording.trace, title="z = x * y + 2").svg)


def network(devices: list[Any], *sizes: int) -> tuple[Any, Any]:
    """An MLP on some devices and its trainer."""
    net = nn.Sequential()
    net.add(*(nn.Dense(n, activation="relu") for n in sizes), nn.Dense(10))
    net.initialize(ctx=devices)
    return net, gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})


def memory() -> None:
    """The most memory so far in a training loop: with a wait in each step, and without."""
    net, trainer = network([forerun.cpu(0)], 256, 128)
    loss = gluon.loss.L2Loss()

    def step() -> Any:
        x = np.random.normal(size=(256, 128))
        with autograd.record():
            cost = loss(net(x), np.ones((256, 10)))
        cost.backward()
        trainer.step(256)
        return cost

    def loop(wait: bool) -> list[float]:
        _core.reset_peak()
        seen = []
        for _ in range(100):
            cost = step()
            if wait:
                cost.wait()
            seen.append(forerun.memory()["peak"] / 2**20)
        forerun.waitall()
        return seen

    loop(True)
    save(
        "memory",
        lines({"a wait in each step": loop(True), "no wait": loop(False)}, "step", "most memory until then, MiB"),
    )


def two_devices() -> None:
    """Products on two devices, issued one device after the other."""
    inputs = [np.random.normal(size=(500, 500), device=forerun.cpu(i)) for i in range(2)]
    timeline("two-devices", "five products on each device", lambda: [[x @ x for _ in range(5)] for x in inputs])


def copies() -> None:
    """Each product is copied as soon as it is computed."""
    x = np.random.normal(size=(700, 700), device=forerun.cpu(1))

    def program() -> Any:
        return [(x @ x).copyto(forerun.cpu(0)) for _ in range(6)]

    timeline("copies", "each product is copied while the next one is computed", program)


def step_on_two_devices(size: int, *sizes: int) -> Callable[[], None]:
    """A step of training on two devices, as a program."""
    devices = [forerun.cpu(0), forerun.cpu(1)]
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    net, trainer = network(devices, *sizes)
    x = [np.random.normal(size=(size, 64), device=d) for d in devices]
    y = [np.zeros((size,), device=d) for d in devices]

    def step() -> None:
        with autograd.record():
            costs = [loss(net(a), b) for a, b in zip(x, y)]
        autograd.backward(costs)
        trainer.step(2 * size)

    return step


def several() -> None:
    """The timeline of a step."""
    timeline("training", "a step of training on two devices", step_on_two_devices(512, 1024, 512))


def several_graph() -> None:
    """The graph of a step of a small network."""
    step = step_on_two_devices(4, 8)
    step()
    forerun.waitall()
    with profiler.record() as recording:
        step()
    save("training-graph", profiler.graph(recording.trace, title="a step of training on two devices").svg)


def files() -> None:
    """Arrays are written while the next ones are computed."""
    a = np.random.normal(size=(600, 600))
    with tempfile.TemporaryDirectory() as folder:

        def program() -> None:
            x = a
            for i in range(5):
                x = np.tanh(x @ a / 24)
                np.save(f"{folder}/{i}.npy", x, wait=False)

        timeline("files", "each result is written while the next one is computed", program)


def blocks() -> None:
    """A Cholesky factorization block by block, in place."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "engine"))
    from blocked_cholesky import factorize, positive

    matrix = np.array(positive(5 * 256))

    def program() -> Any:
        a = matrix.copy()
        factorize(a, 256)
        return a

    timeline("blocks", "a Cholesky factorization of one matrix in 5 x 5 blocks, in place", program)


def gpu_copies() -> None:
    """Each product is copied to the CPU as soon as it is computed; or all of them behind a wait."""
    x = np.random.normal(size=(128, 128)).as_in_ctx(forerun.gpu(0))

    def waiting() -> Any:
        found = [x @ x for _ in range(6)]
        forerun.wait(found)
        return [y.copyto(forerun.cpu(0)) for y in found]

    timeline("gpu-copies-after", "six products on a GPU; a wait; copies to the CPU", waiting)
    timeline(
        "gpu-copies",
        "six products on a GPU, each copied to the CPU as soon as it is computed",
        lambda: [(x @ x).copyto(forerun.cpu(0)) for _ in range(6)],
    )


def two_gpus() -> None:
    """The same on two, which the program names one after the other."""
    inputs = [np.random.normal(size=(128, 128)).as_in_ctx(forerun.gpu(i)) for i in range(2)]
    timeline(
        "gpu-two",
        "five products on each of two GPUs, copied to the CPU",
        lambda: [[(x @ x).copyto(forerun.cpu(0)) for _ in range(5)] for x in inputs],
    )


STYLE = "font-family:sans-serif;font-size:13px;fill:#333"


def bars(values: dict[str, float]) -> str:
    """Times in milliseconds as bars."""
    most = max(values.values())
    parts = []
    for i, (name, value) in enumerate(values.items()):
        y, width = 12 + 34 * i, max(2.0, 420 * value / most)
        parts.append(f'<text x="170" y="{y + 16}" text-anchor="end" style="{STYLE}">{name}</text>')
        parts.append(f'<rect x="180" y="{y}" width="{width:.1f}" height="24" fill="#0b5e8a" rx="2"/>')
        parts.append(f'<text x="{186 + width:.1f}" y="{y + 16}" style="{STYLE}">{1e3 * value:.2f} ms</text>')
    return picture(700, 20 + 34 * len(values), parts)


def lines(curves: dict[str, list[float]], across: str, up: str) -> str:
    """Curves over their positions, with names at the right."""
    most, n = max(map(max, curves.values())) * 1.1, max(map(len, curves.values()))
    parts = ['<path d="M50 20 V220 H560" fill="none" stroke="#999"/>']
    parts += [
        f'<text x="560" y="240" text-anchor="end" style="{STYLE}">{across}</text>',
        f'<text x="50" y="14" style="{STYLE}">{up}</text>',
    ]
    parts += [
        f'<text x="44" y="{224 - 200 * v / most:.0f}" text-anchor="end" style="{STYLE}">{v:.1f}</text>'
        for v in (0, most / 2, most)
    ]
    for i, (name, curve) in enumerate(curves.items()):
        colour = ("#d9822b", "#0b5e8a")[i % 2]
        points = " ".join(f"{50 + 510 * x / (n - 1):.1f},{220 - 200 * v / most:.1f}" for x, v in enumerate(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<text x="570" y="{40 + 20 * i}" style="{STYLE};fill:{colour}">{name}</text>')
    return picture(720, 250, parts)


def picture(width: int, height: int, parts: list[str]) -> str:
    """An SVG picture with a white ground."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>\n"])


def memory_of_chunks() -> None:
    """Memory of two workers of Dask while 20 GB of chunks pass through them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.svg"
        words = [sys.executable, str(ROOT / "examples" / "larger_than_memory.py"), "--figure", str(file)]
        subprocess.run(words, check=True)
        save("memory-of-chunks", file.read_text(encoding="utf-8"))


FIGURES = {
    "asynchronous": (1, [issue_and_wait, front_and_back, often_and_once, snippet, memory, files]),
    "engine": (1, [blocks]),
    "parallel": (2, [two_devices, copies, several, several_graph]),
    "dask": (1, [memory_of_chunks]),
    "gpu": (1, [gpu_copies, two_gpus]),
}


def main(names: list[str]) -> None:
    """Draws the figures of the chapters named, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for name, (devices, figures) in FIGURES.items():
        if name == "gpu" and forerun.num_gpus() < 2:
            print("gpu: left out, as there are no GPUs")
        elif not names or name in names:
            forerun.configure(cpu_devices=devices)
            for figure in figures:
                np.random.seed(1)
                figure()
                print(f"{name}: {figure.__name__}")


if __name__ == "__main__":
    main(sys.argv[1:])
