"""Measures a few programs beside NumPy, and beside PyTorch and JAX where they can be imported. Less than a minute.

Each program is written once, and runs with each library's own functions, eagerly, on float32. `issued` is the time
until the calls have returned, `completed` the time until the values are computed; a library that computes in the call
has the same in both. Times are medians over rounds, in which the libraries take turns; `to NumPy` compares completed
times of the same round. Results are compared with NumPy's first. Where a library is not asynchronous, or has not been
waited for, one column alone would mislead.

The whole table, with compiled peers, each in a process of its own, is `make bench` in a checkout of the source.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from .misuse import Misuse

if TYPE_CHECKING:
    from ..tour.finding import Finding

HELP = "a few programs beside NumPy: until issued, and until completed"
EPILOG = """\
examples:
  forerun bench                        all rows
  forerun bench --rows gelu softmax    these rows
  forerun bench --quick                small sizes: that it works, not how fast
  forerun bench --json > bench.json    seconds, for a program
  FORERUN_WORKERS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 forerun bench
                                       on one core each
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument("--rows", nargs="+", metavar="ROW", help="names of rows; a wrong one lists all")
    command.add_argument("--quick", action="store_true", help="at small sizes, to see that it works")
    command.add_argument("--json", action="store_true", help="print seconds as JSON")


def run(given: argparse.Namespace) -> int:
    """Measure, and print each row as soon as it is measured."""
    from .._display.terminal import Terminal
    from ..tour.experiments import BENCH, libraries
    from ..tour.screen import show
    from .facts import machine

    names = [experiment.name for experiment in BENCH]
    if unknown := set(given.rows or ()) - set(names):
        raise Misuse(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    screen, found = Terminal(), {}
    rows = [experiment for experiment in BENCH if experiment.name in (given.rows or names)]
    around = machine(libraries.libraries())
    if not given.json:
        screen.text("; ".join(f"{name}: {value}" for name, value in around.items()))
    for number, row in enumerate(rows):
        screen.bar(number, len(rows), row.name)
        found[row.name] = row.run(given.quick)
        screen.end()
        if not given.json:
            show(screen, row, found[row.name])
    if given.json:
        print(json.dumps({"machine": around, "rows": {name: _figures(one) for name, one in found.items()}}, indent=2))
    return 0 if all(one.ok for one in found.values()) else 1


def _figures(found: Finding) -> dict[str, Any]:
    """Return the figures of each library as numbers, and the differences of other libraries' results."""
    (table,) = found.tables
    figures = {str(row[0]): {name: cell[0] for name, cell in zip(table.head[1:], row[1:])} for row in table.rows}
    return figures | {name: {"wrong": why} for name, _, why in (text.partition(": ") for text in found.missed)}
