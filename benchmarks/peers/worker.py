"""Runs rows with one peer, asked by run.py: reads names of rows, writes a line of JSON for each.

    echo gelu | python benchmarks/peers/worker.py with_numpy:NumPy [--quick]

The first line says the peer's version. An answer is {"seconds": s}; {"missing": why} where the peer has no such thing;
{"error": why} where it failed or its results are not NumPy's.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy
from base import Peer, Program
from libraries.with_numpy import NumPy
from rows import BY_NAME, Row, Training

LEAST = 0.05  # seconds of a measurement: a program that takes less is run several times
WARM = 0.5  # seconds that a row runs before the first measurement: some peers compile meanwhile


class Missing(Exception):
    """The peer has no such thing."""


def arrays(result: Any) -> Iterator[Any]:
    """The arrays of a result that may be nested."""
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from arrays(part)
    else:
        yield result


def make(peer: Peer, row: Row, inputs: list[Any], count: int) -> Program:
    """The program of a row with one peer."""
    method = getattr(peer, row.method, None)
    if method is None:
        raise Missing(peer.lacks)
    return method(*row.extra, *inputs, count=count)


def check(peer: Peer, row: Row, result: Any, inputs: list[numpy.ndarray], count: int) -> None:
    """Raises ValueError if results are not of the row's dtype, or differ from NumPy's in float64."""
    found = [peer.values(y) for y in arrays(result)]
    for i, y in enumerate(found):
        if y.dtype != row.dtype:
            raise ValueError(f"{row.name}: results must be {row.dtype}, got {y.dtype} in place {i}")
    if row.name == "normals":
        expected = [numpy.sqrt(len(y)) for y in found]  # of sums of as many products of normal numbers
        found = [y.std() for y in found]
        tolerance, least = 0.1, count
    else:
        exact = [x.astype("float64") if x.dtype.kind == "f" else x for x in inputs]
        expected = [numpy.asarray(y) for y in arrays(make(NumPy(), row, exact, count)())]
        tolerance, least = row.tolerance, len(expected)
    if len(found) != least:
        raise ValueError(f"{row.name}: must have {least} results, got {len(found)}")
    for i, (y, z) in enumerate(zip(found, expected, strict=True)):
        if y.shape != z.shape:
            raise ValueError(f"{row.name}: result {i} must have shape {z.shape}, got {y.shape}")
        error = float(abs(y - z).max() / abs(z).max())
        if not error <= tolerance:
            raise ValueError(f"{row.name}: result {i} must be NumPy's within {tolerance}, is off by {error:.1e}")


class Worker:
    """One peer, ready for one row at a time."""

    def __init__(self, factory: str, quick: bool) -> None:
        module, name = factory.split(":")
        self.peer: Peer = getattr(importlib.import_module(f"libraries.{module}"), name)()
        self.quick = quick
        self.row: Row | None = None
        self.program: Program = lambda: None
        self.runs = 1

    def prepare(self, row: Row) -> None:
        """Makes the inputs, checks the first run, and finds how many runs make a measurement."""
        self.row, self.program = None, lambda: None  # releases the row before
        inputs, (_, count) = row.inputs(self.quick), row.sizes(self.quick)
        self.peer.start(row.dtype)
        program = make(self.peer, row, [self.peer.wait(self.peer.array(x)) for x in inputs], count)
        if isinstance(row, Training):
            self.check_step(row, inputs)
        else:
            check(self.peer, row, program(), inputs, count)
        program()
        self.row, self.program, self.runs = row, program, 1
        if not self.quick:
            warm = time.perf_counter() + WARM
            while time.perf_counter() < warm:
                program()
            self.runs = max(1, min(1000, round(LEAST / self.time(1))))

    def check_step(self, row: Training, inputs: list[numpy.ndarray]) -> None:
        """One step of training, from the same parameters."""
        step = make(self.peer, row, [self.peer.wait(self.peer.array(x)) for x in inputs], 1)
        row.network.check(row.name, inputs, [self.peer.values(p) for p in step()])

    def time(self, runs: int) -> float:
        """Return the seconds of a run, with the release of its results."""
        start = time.perf_counter()
        for _ in range(runs):
            self.program()
        return (time.perf_counter() - start) / runs

    def seconds(self, row: Row) -> float:
        """Seconds of a row; short ones after a run that does not count, as the others ran in between."""
        if self.row is not row:
            self.prepare(row)
        if self.runs > 1:
            self.time(1)
        return self.time(self.runs) / (row.sizes(self.quick)[1] if row.each else 1)

    def answer(self, name: str) -> dict[str, Any]:
        """Return the answer for run.py."""
        try:
            return {"seconds": self.seconds(BY_NAME[name])}
        except Missing as error:
            return {"missing": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("factory")
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # a library's output is not an answer
        worker = Worker(given.factory, given.quick)
        print(json.dumps({"version": importlib.metadata.version(worker.peer.package)}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(worker.answer(line.strip())), file=answers, flush=True)


if __name__ == "__main__":
    main()
