"""A Cholesky factorization of one matrix block by block, in place: blocks that do not overlap are independent.

    python benchmarks/engine/blocked_cholesky.py

Each setting runs in processes of its own, in turns; the least time counts. Aim: on two cores at most 0.6 times the
time on one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any

import numpy

import forerun
from forerun import np
from forerun._display.terminal import Terminal

ORDERED = "drop,fuse,reuse,at_once"  # without "apart": all that write one array are in one order
SETTINGS = {"one core": (1, None), "two cores": (2, None), "two cores, in one order": (2, ORDERED)}


def factorize(a: Any, size: int) -> None:
    """The lower triangle of `a` becomes its Cholesky factor, in blocks of `size` rows and columns."""
    n = len(a) // size
    blocks = [[a[i * size : (i + 1) * size, k * size : (k + 1) * size] for k in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(k, n):
            for j in range(k):
                blocks[i][k] -= blocks[i][j] @ blocks[k][j].T
            if i == k:
                blocks[k][k][...] = np.linalg.cholesky(blocks[k][k])
                inverse = np.linalg.inv(blocks[k][k])
            else:
                blocks[i][k][...] = blocks[i][k] @ inverse.T


def positive(n: int) -> numpy.ndarray:
    """A symmetric matrix whose eigenvalues are positive."""
    half = numpy.random.default_rng(0).standard_normal((n, n))
    return half @ half.T + n * numpy.eye(n)


def measured(blocks: int, size: int, rounds: int) -> float:
    """The least time of some rounds, in seconds; each result is compared with NumPy's."""
    matrix = positive(blocks * size)
    expected = numpy.linalg.cholesky(matrix)
    times = []
    for _ in range(rounds):
        a = np.array(matrix)
        a.wait()
        start = time.perf_counter()
        factorize(a, size)
        a.wait()
        times.append(time.perf_counter() - start)
        numpy.testing.assert_allclose(numpy.tril(a.asnumpy()), expected, rtol=1e-9, atol=1e-9)
    return min(times)


def in_child(arguments: argparse.Namespace, setting: str) -> float:
    """Measure in another process on some of this one's cores; LAPACK computes each block with one thread."""
    given = [f"--blocks={arguments.blocks}", f"--size={arguments.size}", f"--setting={setting}"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if passes := SETTINGS[setting][1]:
        environment["FORERUN_PASSES"] = passes
    cores = sorted(os.sched_getaffinity(0))[: SETTINGS[setting][0]]
    run = subprocess.run(
        [sys.executable, __file__, *given],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    return float(run.stdout)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--blocks", type=int, default=8, help="along each side")
    arguments.add_argument("--size", type=int, default=256, help="of a block")
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--setting", choices=SETTINGS, help="measure this one alone")
    given = arguments.parse_args()
    if given.setting:
        return print(measured(given.blocks, given.size, 10))
    if len(os.sched_getaffinity(0)) < 2:
        raise SystemExit("blocked_cholesky: there must be two cores, got one")
    times: dict[str, float] = {}
    for _ in range(given.turns):
        for setting in SETTINGS:
            times[setting] = min(in_child(given, setting), times.get(setting, numpy.inf))
    one = times["one core"]
    rows = [[name, f"{1e3 * t:.1f}", f"{t / one:.2f}"] for name, t in times.items()]
    print(f"Cholesky of {given.blocks} x {given.blocks} blocks of {given.size}, forerun {forerun.__version__}\n")
    Terminal().table(["", "ms", "times one core"], rows)


if __name__ == "__main__":
    main()
