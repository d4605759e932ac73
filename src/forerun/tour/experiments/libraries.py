"""Programs that several libraries run, timed until the calls return, and until the values are computed.

`forerun bench` runs them.
"""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy

from forerun import np

from ..._runtime import core as _core
from ...d2l.timing import never_run
from ..finding import Experiment, Figure, Finding, Row, Run, Table, seconds
from .asynchronous.small_operations import issue_and_keep

if TYPE_CHECKING:
    from types import ModuleType


__all__ = ["PROGRAMS", "Library", "Program", "libraries", "measured"]

_ENOUGH = 4.0  # seconds for a row, after its first round
_MOST_ROUNDS = 15


@dataclass(frozen=True)
class Library:
    """A namespace with NumPy's names for the functions that the programs use, how arrays get there, and how their end
    is awaited."""

    xp: Any
    array: Callable[[numpy.ndarray], Any]
    wait: Callable[[Any], object]


@dataclass(frozen=True)
class Program:
    """A program: arrays in, a list of arrays out."""

    says: str
    shapes: tuple[tuple[int, ...], ...]
    small: tuple[tuple[int, ...], ...]
    compute: Callable[..., list[Any]]

    def inputs(self, quick: bool) -> list[numpy.ndarray]:
        """Return the same random numbers for all libraries."""
        generator = numpy.random.default_rng(1)
        return [generator.standard_normal(s, "float32") for s in (self.small if quick else self.shapes)]

    def title(self, quick: bool) -> str:
        """Return the computation and its shapes."""
        shapes = [" x ".join(f"{n:,}" for n in s) for s in (self.small if quick else self.shapes)]
        return f"{self.says}, {' and '.join(dict.fromkeys(shapes))}"


def _many(xp: ModuleType, x: object) -> list[Any]:
    return issue_and_keep(x, 1000)


def _chain(xp: ModuleType, x: object, y: Any) -> list[Any]:
    return [x * y + 2]


def _gelu(xp: ModuleType, x: Any) -> list[Any]:
    return [0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))]


def _softmax(xp: ModuleType, x: object) -> list[Any]:
    e = xp.exp(x - xp.amax(x, axis=1, keepdims=True))
    return [e / xp.sum(e, axis=1, keepdims=True)]


def _products(xp: ModuleType, x: Any) -> list[Any]:
    return [x @ x for _ in range(10)]


def _layers(xp: ModuleType, x: Any, v: Any, w: Any) -> list[Any]:
    return [xp.tanh(xp.tanh(x @ v / 30) @ w / 30) + 1]


_MILLIONS = ((4_000_000,), (40_000,))
PROGRAMS = {
    "small": Program("a thousand times x + 1, all results kept", ((1, 2),), ((1, 2),), _many),
    "chain": Program("x * y + 2", (_MILLIONS[0],) * 2, (_MILLIONS[1],) * 2, _chain),
    "gelu": Program("tanh-GELU in array operations", _MILLIONS[:1], _MILLIONS[1:], _gelu),
    "softmax": Program("softmax of rows", ((2048, 1024),), ((64, 64),), _softmax),
    "products": Program("ten products", ((700, 700),), ((50, 50),), _products),
    "layers": Program(
        "two layers with tanh", ((512, 1024), (1024, 1024), (1024, 256)), ((8, 16), (16, 16), (16, 4)), _layers,
    ),
}  # fmt: skip


def libraries() -> dict[str, Library]:
    """Return forerun, NumPy, and the peers that can be imported."""

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


HEAD = ("", "issued", "completed", "to NumPy", "dropped")


def measured(program: Program, run: Run, peers: Mapping[str, Library] | None = None) -> Finding:
    """Time a program with each library: medians, and how they compare to NumPy's in the same round.

    A library with other results than NumPy's has no times, but is in `missed`.
    """
    peers = libraries() if peers is None else peers
    inputs = program.inputs(run.quick)
    given = {name: [library.array(a) for a in inputs] for name, library in peers.items()}
    wrong = {name: _wrong(program, library, given[name], inputs) for name, library in peers.items()}
    right = {name: (library, given[name]) for name, library in peers.items() if not wrong[name]}
    times = _rounds(program, right, run.rounds)
    rows: list[Row] = []
    answers = []
    for name, taken in times.items():
        issued, completed, dropped = (list(column) for column in zip(*taken))
        to = statistics.median(a / b for a, (_, b, _) in zip(completed, times["NumPy"]))
        row = seconds(statistics.median(issued)), seconds(statistics.median(completed)), Figure(to, "x")
        rows.append((name, *row, Figure(max(dropped))))
        if max(dropped):
            answers.append(f"{name}{never_run(int(max(dropped)))}")
    missed = [f"{name}: {why}" for name, why in wrong.items() if why]
    return Finding([Table(HEAD, rows)], answers, missed)


EXPERIMENTS = [
    Experiment(
        name, "", f"{name}: {program.says}", "issued: until the calls have returned; completed: until the values are "
        "computed. To NumPy: completed, below 1 is faster.", _MOST_ROUNDS, partial(measured, program),
    )
    for name, program in PROGRAMS.items()
]  # fmt: skip


def _wrong(program: Program, library: Library, given: list[Any], inputs: list[numpy.ndarray]) -> str:
    """Return how results differ from NumPy's, or nothing; this run also warms up."""
    try:
        results = program.compute(library.xp, *given)
        library.wait(results)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    expected = program.compute(numpy, *inputs)
    good = all(numpy.allclose(numpy.asarray(a), b, rtol=1e-3, atol=1e-3) for a, b in zip(results, expected))
    return "" if good else "other results than NumPy"


Times = dict[str, list[tuple[float, float, int]]]


def _rounds(program: Program, asked: Mapping[str, tuple[Library, list[Any]]], most: int) -> Times:
    """Seconds until issued and until completed of each library in each round, and how many operations were not run."""
    times: Times = {name: [] for name in asked}
    end = time.perf_counter() + _ENOUGH
    for _ in range(most):
        for name, (library, given) in asked.items():
            times[name].append(_once(program, library, given))
        if time.perf_counter() > end:
            break
    return times


def _once(program: Program, library: Library, given: list[Any]) -> tuple[float, float, int]:
    gc.collect()
    time.sleep(0.01)  # threads of the one before stop spinning
    before = _core.stats()["dropped"]
    start = time.perf_counter()
    results = program.compute(library.xp, *given)
    issued = time.perf_counter() - start
    library.wait(results)
    completed = time.perf_counter() - start
    return issued, completed, _core.stats()["dropped"] - before
