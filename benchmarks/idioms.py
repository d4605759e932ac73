"""Single calls as programs write them (idioms.txt), on scalars, lists and small arrays, compared with NumPy.

    python benchmarks/idioms.py                     # all rows: how many are slower than with NumPy, and which
    python benchmarks/idioms.py --names random str  # rows that contain one of these words
    python benchmarks/idioms.py --all               # every row
    python benchmarks/idioms.py --quick             # one short round: whether the rows run, not their cost

A number is our time as a multiple of NumPy's: of each the least over rounds in which both run in turn. `import numpy`
gives forerun as in a program under `forerun run --as-numpy`. Each call ends before the next begins.
"""

from __future__ import annotations

import argparse
import math
import time
import types
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import forerun
from forerun.as_numpy import install_as_numpy

OPERANDS = """
import math
import numpy as np
class Derived(np.ndarray): pass
x, A, v3, p = np.linspace(0.0, 1.0, 50), np.arange(12.0).reshape(3, 4), np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0])
S, i, b, s, k, big = A[:3, :3] + np.eye(3) * 5, np.arange(50), x > 0.5, x[3], 3, np.zeros((40, 40))
l3, xi, c, row = [1.0, 2.0, 3.0], np.arange(20), x + 1j * x, (0.3, 0.4)
t = np.ndarray((50,), float, bytearray(x.tobytes()))  # NumPy's with both, as arrays that libraries return are
T, tv = np.ndarray((2000, 50), float, bytearray(800_000)), np.ndarray((50,), float, bytearray(400))  # data sets
w, e = np.ones(50), np.ones(2000)
f, h, q, d = np.float32(2), np.int16(3), np.float64(1.5), np.linspace(0.0, 1.0, 50).view(Derived)
u, f32, i32, table = (big + 7).astype(np.uint8), x.astype(np.float32), i.astype(np.int32), np.arange(256.0)
p2, many = np.array([1, 3, 4, 9]), np.ones((40, 4, 4))
tm, ti = t > 0.5, np.ndarray((3,), int, bytearray(np.arange(3).tobytes()))
"""
ROWS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()  # the calls
ROUND = 1e-3  # seconds of a round, about
ROUNDS = 9


def functions(file: str) -> list[Callable[[], Any]]:
    """Each row as a function of a module in this file, whose place tells which NumPy it imports."""
    module = types.ModuleType("idioms_of_a_program")
    module.__file__ = file
    exec(compile(OPERANDS, file, "exec"), vars(module))
    made: list[Callable[[], Any]] = [eval(compile(f"lambda: {row}", file, "eval"), vars(module)) for row in ROWS]
    return made


def seconds(call: Callable[[], Any], count: int) -> float:
    """Seconds of a call, of so many in a row."""
    begun = time.perf_counter()
    for _ in range(count):
        call()
    forerun.waitall()
    return (time.perf_counter() - begun) / count


def ratio(numpy_call: Callable[[], Any], np_call: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Our time as a multiple of NumPy's, and NumPy's in seconds."""
    once = max(min(seconds(call, 1) for _ in range(3)) for call in (numpy_call, np_call))
    count = max(1, min(2000, int(ROUND / once))) if rounds > 1 else 1
    pairs = [(seconds(numpy_call, count), seconds(np_call, count)) for _ in range(rounds)]
    best = min(a for a, _ in pairs)
    return min(b for _, b in pairs) / best, best


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="+", default=[""], help="words, of which a row contains one")
    parser.add_argument("--all", action="store_true", help="every row, not only those above 1.2")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    install_as_numpy()
    found = []
    for row, numpy_call, np_call in zip(ROWS, functions("/with numpy/idioms.py"), functions(__file__), strict=True):
        if any(word in row for word in options.names):
            found.append((*ratio(numpy_call, np_call, 1 if options.quick else ROUNDS), row))
    if not found:
        parser.error(f"--names: must be in rows, got {options.names}")
    print(f"{'ratio':>6} {'NumPy us':>9}  call")
    for factor, time_of_numpy, row in sorted(found, reverse=True):
        if options.all or factor > 1.2:
            print(f"{factor:6.3g} {time_of_numpy * 1e6:9.2f}  {row}")
    mean = math.exp(sum(math.log(factor) for factor, *_ in found) / len(found))
    counts = ", ".join(f"above {most}: {sum(factor > most for factor, *_ in found)}" for most in (1.2, 2, 3))
    print(f"{len(found)} calls: geometric mean {mean:.2f}, {counts}")


if __name__ == "__main__":
    main()
