"""Checks and times a GPU in one go: the cost of an operation, programs, products, training, and copies that overlap.

    python benchmarks/gpu.py                       the first GPU that forerun finds, at most 8 minutes
    FORERUN_PJRT=plugin.so python benchmarks/gpu.py --quick
                                                   any other plugin, with small arrays: a processor, or the fake one

Beside it run jax.jit and PyTorch, where they are installed and have the device: each row in turn, medians of the
rounds. In "forerun whole" a training step is one program. "the plugin" is the plugin alone, which executes the modules
of a hybridized training step without forerun. A row whose numbers are not those of the CPU within the tolerance is
marked, and the exit status is 1. Below the table are ratios of its rows: to the plugin alone, and to the ideal overlap
of copies and of devices.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

import forerun
from devices.training_steps import CLASSES, forerun_step, jax_step, torch_step
from forerun import _core, np, npx
from forerun._display.terminal import Terminal
from forerun._pjrt.plugins import client_options, plugin_files

Call = Callable[[], Any]  # returns the arrays to wait for


@dataclass
class Row:
    """One measurement: `calls` by library, each of which does the work `count` times."""

    name: str
    calls: dict[str, Call]
    count: int = 1
    unit: str = "us"
    wrong: float | None = None  # how far the numbers are from the CPU's, if they are too far
    alone: Alone | None = None
    times: dict[str, list[float]] = field(default_factory=dict)

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(times) for name, times in self.times.items()}


class Peers:
    """jax and torch on their own GPU; None where they are missing, or see no GPU."""

    def __init__(self, wanted: list[str]) -> None:
        self.jax: Any = None
        self.torch: Any = None
        if "jax" in wanted and importlib.util.find_spec("jax"):
            # Both libraries use this GPU, and products of float32 have its digits in both, as in PyTorch.
            os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
            import jax

            jax.config.update("jax_default_matmul_precision", "highest")
            if any(device.platform in ("gpu", "cuda", "rocm") for device in jax.devices()):
                self.jax = jax
        if "torch" in wanted and importlib.util.find_spec("torch"):
            import torch

            if torch.cuda.is_available():
                self.torch = torch

    def wait(self, library: str, result: Any) -> None:
        if library == "jax":
            self.jax.block_until_ready(result)
        elif library == "torch":
            self.torch.cuda.synchronize()
        else:
            forerun.waitall()


def error(found: Any, expected: Any) -> float:
    """The largest difference, relative to the largest number."""
    found, expected = numpy.asarray(found, "float64"), numpy.asarray(expected, "float64")
    return float(numpy.max(numpy.abs(found - expected)) / max(1e-30, numpy.max(numpy.abs(expected))))


def on(device: Any, values: Any) -> Any:
    return np.array(values, dtype=values.dtype, device=device)


# --- rows ------------------------------------------------------------------------------------------------------------


def issue(device: Any, peers: Peers, quick: bool) -> Row:
    """The cost to the program: x + 1 is issued, without a wait."""
    x, count = np.ones((1, 2), device=device), 1000

    def run() -> None:
        y = x
        for _ in range(count):
            y = y + 1

    return Row("issue x + 1, without its end", {"forerun issue": run}, count)


def eager(device: Any, peers: Peers, quick: bool) -> Row:
    """A chain of operations, each of which needs the one before."""
    count, size = 300, 1024
    h = numpy.ones(size, "float32")

    def chain(x: Any) -> Any:
        for _ in range(count):
            x = x + 1
        return x

    x = on(device, h)
    calls: dict[str, Call] = {"forerun": lambda: chain(x)}
    if peers.jax:
        j = peers.jax.device_put(h)
        calls["jax"] = lambda: chain(j)
    if peers.torch:
        t = peers.torch.from_numpy(h).cuda()
        calls["torch"] = lambda: chain(t)
    return Row(f"x + 1 on {size} elements, in a chain", calls, count, wrong=far(chain(x).asnumpy(), h + count, 1e-6))


def far(found: Any, expected: Any, tolerance: float) -> float | None:
    off = error(found, expected)
    return off if off > tolerance else None


def gelu(x: Any, tanh: Any) -> Any:
    return 0.5 * x * (1 + tanh(0.7978846 * (x + 0.044715 * x * x * x)))


def chain_as_program(device: Any, peers: Peers, quick: bool) -> Row:
    size = 1 << (16 if quick else 24)
    h = numpy.linspace(-3, 3, size, dtype="float32")
    x = on(device, h)
    fused = forerun.hybrid(lambda a: gelu(a, np.tanh))
    calls: dict[str, Call] = {"forerun": lambda: fused(x), "forerun op by op": lambda: gelu(x, np.tanh)}
    if peers.jax:
        jitted, j = peers.jax.jit(lambda a: gelu(a, peers.jax.numpy.tanh)), peers.jax.device_put(h)
        calls["jax"] = lambda: jitted(j)
    if peers.torch:
        t = peers.torch.from_numpy(h).cuda()
        calls["torch"] = lambda: gelu(t, peers.torch.tanh)
    fused(x)
    return Row(f"GELU of {size:,} elements", calls, unit="ms", wrong=far(fused(x).asnumpy(), gelu(h, numpy.tanh), 1e-5))


def product(device: Any, peers: Peers, quick: bool) -> Row:
    n = 256 if quick else 4000
    h = numpy.random.default_rng(1).standard_normal((n, n), dtype="float32")
    x = on(device, h)
    calls: dict[str, Call] = {"forerun": lambda: np.dot(x, x)}
    if peers.jax:
        jitted, j = peers.jax.jit(lambda a: a @ a), peers.jax.device_put(h)
        calls["jax"] = lambda: jitted(j)
    if peers.torch:
        t = peers.torch.from_numpy(h).cuda()
        calls["torch"] = lambda: t @ t
    return Row(f"product of {n} x {n}", calls, unit="ms", wrong=far(np.dot(x, x).asnumpy(), h @ h, 1e-5))


def softmax(device: Any, peers: Peers, quick: bool) -> Row:
    shape = (256, 128) if quick else (4096, 1024)
    h = numpy.random.default_rng(2).standard_normal(shape, dtype="float32")
    x = on(device, h)
    calls: dict[str, Call] = {"forerun": lambda: npx.softmax(x)}
    if peers.jax:
        jitted, j = peers.jax.jit(peers.jax.nn.softmax), peers.jax.device_put(h)
        calls["jax"] = lambda: jitted(j)
    if peers.torch:
        t = peers.torch.from_numpy(h).cuda()
        calls["torch"] = lambda: peers.torch.softmax(t, -1)
    powers = numpy.exp(h - h.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True)
    return Row(f"softmax of {shape}", calls, unit="ms", wrong=far(npx.softmax(x).asnumpy(), expected, 1e-5))


DTYPES = {"i1": "bool", "f16": "float16", "f32": "float32", "f64": "float64"}
DTYPES |= {f"{sign}i{bits}": f"{long}int{bits}" for sign, long in (("", ""), ("u", "u")) for bits in (8, 16, 32, 64)}


def arguments(module: str) -> list[Any]:
    """Arrays of zeros for the arguments of a module in StableHLO."""
    (signature,) = re.findall(r"@main\((.*)\) ->", module)
    found = []
    for shape, dtype in re.findall(r"%\w+: tensor<((?:\d+x)*)(\w+)>", signature):
        found.append(numpy.zeros([int(n) for n in shape.split("x")[:-1]], DTYPES[dtype]))
    return found


class Alone:
    """The plugin alone, with a client of its own: it executes the modules that a step of forerun has executed."""

    def __init__(self, device: Any, step: Call) -> None:
        forerun.waitall()
        _core.record_modules(True)
        step()
        forerun.waitall()
        _core.record_modules(False)
        texts = _core.recorded_modules()
        self.device = int(str(device)[4:-1])
        self.modules = [(text, arguments(text)) for text in texts]
        self.client = self.open()

    def open(self, folder: str | None = None) -> int:
        """A client of the plugin. folder: of compiled modules."""
        file = plugin_files(forerun.config()["pjrt"])[0]
        client = _core.pjrt_load(str(file), client_options(file, memory=0.3), folder)
        assert client is not None, "the plugin has devices"
        return client

    def seconds(self, rounds: int) -> list[float]:
        return _core.pjrt_seconds(self.client, self.device, self.modules, rounds)

    def warm_start(self, rounds: int) -> tuple[float, float]:
        """The seconds that compiling takes, and those in which a later client loads the files, the least of some."""
        loaded: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(rounds + 1):
                client = self.open(folder)
                _core.pjrt_seconds(client, self.device, self.modules, 1)
                loaded.append(_core.pjrt_compile_stats(client)["disk_seconds"])
                if len(loaded) == 1:
                    compiled = _core.pjrt_compile_stats(client)["seconds"]
                _core.pjrt_close(client)
        return compiled, min(loaded[1:])


def training(device: Any, peers: Peers, quick: bool, name: str) -> Row:
    """A step of training: forward, backward, update. The losses of the first steps are the CPU's."""
    random = numpy.random.default_rng(4)
    batch, inputs = {"small": (32, (8,)), "perceptron": (256, (784,))}.get(name, (16 if quick else 256, (1, 28, 28)))
    x = random.standard_normal((batch, *inputs), dtype="float32")
    y = random.integers(0, CLASSES[name], batch)
    steps: dict[str, Call] = {
        "cpu": forerun_step(forerun.cpu(), name, x, y),
        "forerun": forerun_step(device, name, x, y),
        "forerun whole": forerun_step(device, name, x, y, whole=True),
    }
    if peers.jax:
        steps["jax"] = jax_step(peers.jax, name, x, y)
    if peers.torch:
        steps["torch"] = torch_step(peers.torch, name, x, y)
    losses = {library: [float(step().mean()) for _ in range(4)] for library, step in steps.items()}
    expected = losses["cpu"]
    wrong = [
        off for library in ("forerun", "forerun whole") if (off := far(losses[library], expected, 2e-2)) is not None
    ]
    for library, found in losses.items():  # those of others start with other parameters
        if not found[0] > found[-1] > 0:
            sys.exit(f"gpu: the loss of {library} must fall, got {found}")
    del steps["cpu"]
    count = 5 if name == "LeNet" else 20
    calls = {library: functools.partial(repeated, step, count) for library, step in steps.items()}
    alone = Alone(device, steps["forerun"])
    return Row(f"training step, {name}", calls, count, unit="ms", wrong=max(wrong, default=None), alone=alone)


def repeated(call: Call, count: int) -> list[Any]:
    return [call() for _ in range(count)]


RESULTS = 10
COMPUTED, COPIED, BOTH = "ten results computed", "ten results copied to the host", "computed and copied"
TWICE, APART = "twenty results on one device", "ten on each of two devices"


def copies(device: Any, peers: Peers, quick: bool) -> Iterator[Row]:
    """Ten results, copied to the host: computed alone, copied alone, and both as they come."""
    n = 256 if quick else 2896  # a product takes about as long as its copy
    x = on(device, numpy.full((n, n), 1 / n, "float32"))
    work = lambda: [np.dot(x, x) for _ in range(RESULTS)]
    done = work()
    forerun.waitall()
    home = lambda results: [r.copyto(forerun.cpu()) for r in results]
    yield Row(COMPUTED, {"forerun": work}, unit="ms")
    yield Row(COPIED, {"forerun": lambda: home(done)}, unit="ms")
    yield Row(BOTH, {"forerun": lambda: home(work())}, unit="ms")


def several(device: Any, peers: Peers, quick: bool) -> Iterator[Row]:
    if npx.num_gpus() < 2:
        return
    n = 1 << (16 if quick else 24)
    pair = [on(npx.gpu(i), numpy.ones(n, "float32")) for i in range(2)]
    work = lambda x: [np.sin(np.exp(x * i)) for i in range(RESULTS)]
    yield Row(TWICE, {"forerun": lambda: [work(pair[0]), work(pair[0])]}, unit="ms")
    yield Row(APART, {"forerun": lambda: [work(x) for x in pair]}, unit="ms")


NETWORKS = ("small", "perceptron", "LeNet")
MAKERS: dict[str, Callable[[Any, Peers, bool], Row | Iterator[Row]]] = {
    "issue": issue, "eager": eager, "chain": chain_as_program, "product": product, "softmax": softmax,
    "copies": copies, "several": several,
}  # fmt: skip
NAMES = (*list(MAKERS)[:5], *NETWORKS, *list(MAKERS)[5:])


def rows(names: Iterable[str], device: Any, peers: Peers, quick: bool) -> Iterator[Row]:
    for name in names:
        if name in NETWORKS:
            yield training(device, peers, quick, name)
        else:
            made = MAKERS[name](device, peers, quick)
            yield from [made] if isinstance(made, Row) else made


# --- measuring -------------------------------------------------------------------------------------------------------

SCALE = {"us": 1e6, "ms": 1e3}
STILL = " (still compiles)"


def measure(row: Row, peers: Peers, rounds: int, seconds: float) -> None:
    """Time all libraries in turn, until the rounds or the seconds are over."""
    begun = time.perf_counter()
    for name, call in row.calls.items():
        peers.wait(name, call())
        peers.wait(name, call())
    for done in range(rounds):
        for name, call in row.calls.items():
            start = time.perf_counter()
            result = call()
            if not name.endswith("issue"):
                peers.wait(name, result)
            took = time.perf_counter() - start
            peers.wait(name, result)
            row.times.setdefault(name, []).append(took / row.count * SCALE[row.unit])
        if row.alone:
            took_alone = row.alone.seconds(5 * row.count)
            row.times.setdefault("the plugin", []).append(statistics.median(took_alone) * SCALE[row.unit])
        if done >= 2 and time.perf_counter() - begun > seconds:
            break


def compiled() -> tuple[int, float]:
    stats = _core.accelerator_compile_stats()
    return sum(s["compiled"] for s in stats), sum(s["seconds"] for s in stats)


def ratios(all_rows: list[Row], loads: int) -> Iterator[str]:
    """Compare rows with their ideal times, in a line each. loads: how often modules are loaded from files."""
    times = {row.name.removesuffix(STILL): row.medians() for row in all_rows}
    for row in all_rows:
        if row.alone:
            modules, found = len(row.alone.modules), row.medians()
            more = found["forerun"] / found["the plugin"]
            yield f"{row.name}: {more:.2f} x the plugin's own execution of its {modules} modules"
            cold, warm = (seconds * 1e3 for seconds in row.alone.warm_start(loads))
            yield f"{row.name}: a later process loads these modules in {warm:.1f} ms, compiling takes {cold:.0f} ms"
    if BOTH in times:
        computed, copied, both = (times[name]["forerun"] for name in (COMPUTED, COPIED, BOTH))
        # The first copy begins behind the first computation, and the last one behind the last.
        ideal = max(computed + copied / RESULTS, copied + computed / RESULTS)
        yield f"{BOTH}: {both / ideal:.2f} x the ideal overlap, {(computed + copied) / ideal:.2f} x without any"
    if TWICE in times:
        yield f"{APART}: {times[APART]['forerun'] / times[TWICE]['forerun']:.2f} x the same on one device"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small arrays, few rounds")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=15, help="for each row, at most")
    parser.add_argument("--peers", default="jax,torch")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="these rows alone")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args()
    if not npx.num_gpus():
        sys.exit("gpu: there must be a GPU, found none; FORERUN_PJRT names a plugin")
    device, peers = npx.gpu(0), Peers(options.peers.split(","))
    all_rows: list[Row] = []
    for row in rows(options.only, device, peers, options.quick):
        measure(row, peers, options.rounds or (3 if options.quick else 15), options.seconds)
        before = compiled()[0]
        measure(row, peers, 1, 0)
        if compiled()[0] > before:
            row.name += STILL
        all_rows.append(row)
        print(f"... {row.name}: {row.medians()}", file=sys.stderr)
    every = ("forerun issue", "forerun", "forerun op by op", "forerun whole", "the plugin", "jax", "torch")
    libraries = [name for name in every if any(name in row.times for row in all_rows)]
    body = [
        [row.name, *(f"{row.medians()[name]:.4g}" if name in row.times else "" for name in libraries), row.unit,
         "ok" if row.wrong is None else f"off by {row.wrong:.1e}"]
        for row in all_rows
    ]  # fmt: skip
    Terminal().table(["", *libraries, "unit", "numbers"], body)
    for line in ratios(all_rows, 1 if options.quick else 5):
        print(line)
    modules, seconds = compiled()
    print(f"{device}: {modules} modules compiled in {seconds:.1f} s")
    for name, file, line, count in sorted(_core.fallback_counts(), key=lambda f: -f[3])[:10]:
        print(f"on the host, {count} times: {name} ({Path(file).name}:{line})")
    if options.json:
        figures: list[dict[str, Any]] = [
            {"row": row.name, "unit": row.unit, "wrong": row.wrong, **row.medians(), "all": row.times}
            for row in all_rows
        ]
        options.json.write_text(json.dumps({"device": str(device), "rows": figures}, indent=1))
    return 1 if any(row.wrong is not None for row in all_rows) else 0


if __name__ == "__main__":
    sys.exit(main())
