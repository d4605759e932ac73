"""Random numbers and matrix products, beside NumPy in the same run.

    python benchmarks/kernels.py

Aims: random numbers, by one worker, at most as long as NumPy's generator takes for the same dtype; products, by
all workers, at most as long as NumPy.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import numpy

import forerun
from forerun import np
from forerun._display.terminal import Terminal
from forerun.tour.measure import in_turn, median_ratio

N = 1_000_000
GENERATOR = numpy.random.default_rng(1)
FLOATS = ("float32", "float64")

NUMBERS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    f"{name} {dtype}": (
        lambda name=name, dtype=dtype: getattr(np.random, name)(size=N, dtype=dtype),
        lambda numpy_name=numpy_name, dtype=dtype: getattr(GENERATOR, numpy_name)(N, dtype),
    )
    for name, numpy_name in (
        ("uniform", "random"), ("normal", "standard_normal"), ("exponential", "standard_exponential"),
    )
    for dtype in FLOATS
} | {
    f"integers below 1000 {dtype}": (
        lambda dtype=dtype: np.random.integers(0, 1000, N, dtype),
        lambda dtype=dtype: GENERATOR.integers(0, 1000, N, dtype),
    )
    for dtype in ("int32", "int64")
}  # fmt: skip

SHAPES = [
    ((256, 256), (256, 256)),
    ((1000, 1000), (1000, 1000)),
    ((1024, 512), (512, 2048)),
    ((64,) * 3, (64,) * 3),
    ((2048, 128), (128, 512)),
    ((2048, 512), (512, 128)),
]


def products() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    pairs = {}
    for shapes in SHAPES:
        a, b = (GENERATOR.standard_normal(s, "float32") for s in shapes)
        x, y = np.array(a), np.array(b)
        pairs[f"{shapes[0]} @ {shapes[1]}"] = (lambda x=x, y=y: x @ y, lambda a=a, b=b: a @ b)
    a, b = (GENERATOR.standard_normal(s, "float32") for s in ((2048, 512), (2048, 128)))
    x, y = np.array(a), np.array(b)
    pairs[f"{a.shape}.T @ {b.shape}"] = (lambda: x.T @ y, lambda: a.T @ b)
    return pairs


def compare(title: str, pairs: Mapping[str, tuple[Callable[[], Any], Callable[[], Any]]], pause: float = 0.0) -> None:
    programs: dict[str, Callable[[], object]] = {}
    for name, (forerun_call, numpy_call) in pairs.items():
        programs |= {name: lambda forerun_call=forerun_call: forerun_call().wait(), f"NumPy: {name}": numpy_call}
    in_turn(programs, 3)  # warm
    seconds = in_turn(programs, 31, pause)
    milliseconds = lambda name: f"{1e3 * statistics.median(seconds[name]):.2f}"
    rows = []
    for name in pairs:
        ratio = median_ratio(seconds[name], seconds[f"NumPy: {name}"])
        rows.append([name, milliseconds(name), milliseconds(f"NumPy: {name}"), f"{ratio:.2f}"])
    print(f"\n{title}")
    Terminal().table(["ms, median", "forerun", "NumPy", "times NumPy"], rows)


def main() -> None:
    workers = forerun.config()["workers"]
    forerun.configure(workers=1)
    compare(f"{N:,} random numbers, one worker", NUMBERS)
    forerun.configure(workers=workers)
    compare("float32 products, all workers", products(), pause=0.15)  # NumPy's threads spin that long


if __name__ == "__main__":
    main()
