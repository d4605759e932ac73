"""Times of programs, for experiments and benchmarks."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import np, profiler
from .._runtime import core as _core
from .._runtime.device import Device, gpu, info, num_gpus
from .._runtime.settings import config, configure

__all__ = [
    "HANDED_OVER",
    "apart",
    "gpus",
    "in_turn",
    "median_ratio",
    "medians",
    "numbered",
    "seconds",
    "settings",
    "wait",
]

HANDED_OVER = "drop,fuse,reuse"  # passes with which the smallest operations do not run in the call, either


def gpus(n: int) -> list[Device]:
    """Return the first `n` GPUs. ValueError if there are fewer."""
    if num_gpus() < n:
        raise ValueError(f"gpus: there must be {n} or more, got {num_gpus()}")
    return [gpu(i) for i in range(n)]


def apart(devices: Iterable[Device]) -> bool:
    """Whether none is a part of the processor, as those of plugins for tests are: then they share its cores."""
    return all(info(device)["platform"] != "cpu" for device in devices)


def seconds(program: Callable[[], object]) -> float:
    """Return how long a program takes."""
    start = time.perf_counter()
    program()
    return time.perf_counter() - start


def in_turn(programs: Mapping[str, Callable[[], object]], rounds: int, pause: float = 0.0) -> dict[str, list[float]]:
    """Return the seconds of each program in each round.

    Within a round they run one after the other, so that a slow spell of the machine meets all of them. pause: seconds
    before each, in which threads of the one before may stop spinning.
    """
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            if pause:
                time.sleep(pause)
            taken[name].append(seconds(program))
    return taken


def medians(programs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each program. They run one after the other, each with nothing else pending."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            _core.waitall()
            taken[name].append(seconds(program))
    return {name: statistics.median(values) for name, values in taken.items()}


def median_ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the median over rounds of a's time as a multiple of b's in the same round."""
    return statistics.median(x / y for x, y in zip(a, b, strict=True))


def numbered(trace: profiler.Trace, issued: Sequence[int]) -> list[int]:
    """Return the number of the last operation of each part of a recorded program.

    issued: how many operations had been issued at the end of each, counted from the beginning of the recording, which
    numbers operations without gaps.
    """
    first = min(number for e in trace.ops for number in (e.seq, *e.members))
    return [first - 1 + count for count in issued]


def wait(results: Iterable[np.ndarray]) -> None:
    """Wait until all arrays are computed."""
    for array in results:
        array.wait_to_read()


@contextlib.contextmanager
def settings(**changes: Any) -> Iterator[None]:
    """Other settings of the engine for a while."""
    before = config()
    configure(**changes)
    try:
        yield
    finally:
        configure(**{name: before[name] for name in changes})
