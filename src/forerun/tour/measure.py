"""Times of programs, for the tour."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._runtime import core as _core
from .._runtime.settings import config, configure


def seconds(program: Callable[[], Any]) -> float:
    """Return how long the program takes."""
    start = time.perf_counter()
    program()
    return time.perf_counter() - start


def medians(programs: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return median seconds of each program; they run in turn, so that a slow spell of the machine hits all of
    them."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            taken[name].append(seconds(program))
            _core.waitall()
    return {name: statistics.median(values) for name, values in taken.items()}


@contextlib.contextmanager
def settings(**changes: Any) -> Iterator[None]:
    """Other settings of the engine for a while."""
    before = config()
    configure(**changes)
    try:
        yield
    finally:
        configure(**{name: before[name] for name in changes})


def ms(value: float) -> str:
    """Return seconds as milliseconds."""
    return f"{1e3 * value:.2f} ms" if value < 0.1 else f"{1e3 * value:.0f} ms"


def us(value: float) -> str:
    """Return seconds as microseconds."""
    return f"{1e6 * value:.2f} us"


def times(value: float) -> str:
    """Return a ratio."""
    return f"{value:.2f} x"
