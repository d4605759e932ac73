"""Programs that several libraries run, timed until the calls return, and until the values are computed."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from .._runtime import core as _core

__all__ = ["ROWS", "Library", "Row", "libraries", "measured"]

_ENOUGH = 4.0  # seconds for a row, after its first round
_MOST_ROUNDS = 15


@dataclass(frozen=True)
class Library:
    """A namespace with NumPy's names for what the programs use, how arrays get there, and how their end is awaited."""

    xp: Any
    array: Callable[[numpy.ndarray], Any]
    wait: Callable[[Any], object]


@dataclass(frozen=True)
class Row:
    """A program: arrays in, a list of arrays out."""

    says: str
    shapes: tuple[tuple[int, ...], ...]
    small: tuple[tuple[int, ...], ...]
    program: Callable[..., list[Any]]

    def inputs(self, quick: bool) -> list[numpy.ndarray]:
        """Return the same random numbers for all libraries."""
        generator = numpy.random.default_rng(1)
        return [generator.standard_normal(s, "float32") for s in (self.small if quick else self.shapes)]

    def title(self, quick: bool) -> str:
        """Return the computation and its shapes."""
        shapes = [" x ".join(f"{n:,}" for n in s) for s in (self.small if quick else self.shapes)]
        return f"{self.says}, {' and '.join(dict.fromkeys(shapes))}"


def _many(xp: Any, x: Any) -> list[Any]:
    return [x + 1 for _ in range(1000)]


def _chain(xp: Any, x: Any, y: Any) -> list[Any]:
    return [x * y + 2]


def _gelu(xp: Any, x: Any) -> list[Any]:
    return [0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))]


def _softmax(xp: Any, x: Any) -> list[Any]:
    e = xp.exp(x - xp.amax(x, axis=1, keepdims=True))
    return [e / xp.sum(e, axis=1, keepdims=True)]


def _products(xp: Any, x: Any) -> list[Any]:
    return [x @ x for _ in range(10)]


def _layers(xp: Any, x: Any, v: Any, w: Any) -> list[Any]:
    return [xp.tanh(xp.tanh(x @ v / 30) @ w / 30) + 1]


_MILLIONS = ((4_000_000,), (40_000,))
ROWS = {
    "small": Row("a thousand times x + 1, all results kept", ((1, 2),), ((1, 2),), _many),
    "chain": Row("x * y + 2", (_MILLIONS[0],) * 2, (_MILLIONS[1],) * 2, _chain),
    "gelu": Row("tanh-GELU in array operations", _MILLIONS[:1], _MILLIONS[1:], _gelu),
    "softmax": Row("softmax of rows", ((2048, 1024),), ((64, 64),), _softmax),
    "products": Row("ten products", ((700, 700),), ((50, 50),), _products),
    "layers": Row(
        "two layers with tanh", ((512, 1024), (1024, 1024), (1024, 256)), ((8, 16), (16, 16), (16, 4)), _layers,
    ),
}  # fmt: skip


def libraries() -> dict[str, Library]:
    """Us, NumPy, and the peers that can be imported."""
    from .. import np

    def waitall(results: Any) -> None:
        _core.waitall()

    def nothing(results: Any) -> None: ...

    found = {"forerun": Library(np, np.array, waitall), "NumPy": Library(numpy, numpy.array, nothing)}
    if torch := _imported("torch"):
        found["PyTorch"] = Library(torch, torch.tensor, nothing)
    if jax := _imported("jax"):
        found["JAX"] = Library(_imported("jax.numpy"), jax.numpy.asarray, jax.block_until_ready)
    return found


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:  # an installed but broken library is left out, too
        return None


def measured(row: Row, peers: Mapping[str, Library], quick: bool = False) -> dict[str, dict[str, Any]]:
    """Median seconds of each library until issued and completed, and to NumPy's; or what is wrong with its results."""
    inputs = row.inputs(quick)
    given = {name: [library.array(a) for a in inputs] for name, library in peers.items()}
    found: dict[str, dict[str, Any]] = {}
    for name, library in peers.items():
        if wrong := _wrong(row, library, given[name], inputs):
            found[name] = {"wrong": wrong}
    times = _rounds(row, {n: (peers[n], given[n]) for n in peers if n not in found}, 3 if quick else _MOST_ROUNDS)
    for name, taken in times.items():
        dropped = max(one[2] for one in taken)
        ratios = [one[1] / base[1] for one, base in zip(taken, times["NumPy"])]
        issued, completed = (statistics.median(column) for column in zip(*((a, b) for a, b, _ in taken)))
        found[name] = {"issued": issued, "completed": completed, "to NumPy": statistics.median(ratios)}
        if dropped:
            found[name]["dropped"] = dropped
    return {name: found[name] for name in peers}


def _wrong(row: Row, library: Library, given: list[Any], inputs: list[numpy.ndarray]) -> str:
    """Return how results differ from NumPy's, or nothing; this run also warms up."""
    try:
        results = row.program(library.xp, *given)
        library.wait(results)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    expected = row.program(numpy, *inputs)
    good = all(numpy.allclose(numpy.asarray(a), b, rtol=1e-3, atol=1e-3) for a, b in zip(results, expected))
    return "" if good else "other results than NumPy"


Times = dict[str, list[tuple[float, float, int]]]


def _rounds(row: Row, asked: Mapping[str, tuple[Library, list[Any]]], most: int) -> Times:
    """Seconds until issued and until completed of each library in each round, and how many operations were not run."""
    times: Times = {name: [] for name in asked}
    end = time.perf_counter() + _ENOUGH
    for _ in range(most):
        for name, (library, given) in asked.items():
            times[name].append(_once(row, library, given))
        if time.perf_counter() > end:
            break
    return times


def _once(row: Row, library: Library, given: list[Any]) -> tuple[float, float, int]:
    gc.collect()
    time.sleep(0.01)  # threads of the one before stop spinning
    before = _core.stats()["dropped"]
    start = time.perf_counter()
    results = row.program(library.xp, *given)
    issued = time.perf_counter() - start
    library.wait(results)
    completed = time.perf_counter() - start
    return issued, completed, _core.stats()["dropped"] - before
