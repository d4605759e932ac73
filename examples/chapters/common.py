"""Options, clock and tables of the scripts."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["options", "seconds", "median", "table", "ms", "wait"]


def options(about: str | None) -> tuple[bool, Path]:
    """The command line: `--quick` for small sizes, `--out FOLDER` for where pictures go (it is made if need be)."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, not how fast")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for pictures (default: build)")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    return given.quick, given.out


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def median(work: Callable[[], float], runs: int) -> float:
    """The median of what several calls return."""
    return statistics.median(work() for _ in range(runs))


def ms(time: float) -> str:
    """Seconds as text in milliseconds."""
    return f"{time * 1e3:,.3f} ms"


def wait(results: Iterable[Any]) -> None:
    """Return when all arrays are computed."""
    for array in results:
        array.wait_to_read()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints rows under a head: the first column flush left, the others flush right."""
    lines = [tuple(head), *map(tuple, rows)]
    width = [max(map(len, column)) for column in zip(*lines)]
    for n, (first, *rest) in enumerate(lines):
        print("  ".join([first.ljust(width[0]), *(cell.rjust(w) for cell, w in zip(rest, width[1:]))]))
        if n == 0:
            print("  ".join("-" * w for w in width))
    print()
