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
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .misuse import Misuse

if TYPE_CHECKING:
    from .._display.terminal import Terminal

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


_NOTE = (
    "issued: until the calls have returned; completed: until the values are computed. Medians; to NumPy: completed, "
    "below 1 is faster. On a machine with other work the times are mostly of that work."
)


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument("--rows", nargs="+", metavar="ROW", help="names of rows; a wrong one lists all")
    command.add_argument("--quick", action="store_true", help="at small sizes, to see that it works")
    command.add_argument("--json", action="store_true", help="print seconds as JSON")


def run(given: argparse.Namespace) -> int:
    """Measure, and print each row as soon as it is measured."""
    from .._display.terminal import Terminal
    from .comparison import ROWS, libraries, measured
    from .facts import machine

    if unknown := set(given.rows or ()) - set(ROWS):
        raise Misuse(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    screen, peers, found = Terminal(), libraries(), {}
    rows = [name for name in ROWS if name in (given.rows or ROWS)]
    around = machine(peers)
    if not given.json:
        screen.text("; ".join(f"{name}: {value}" for name, value in around.items()))
    for number, name in enumerate(rows):
        screen.bar(number, len(rows), name)
        found[name] = measured(ROWS[name], peers, given.quick)
        screen.end()
        if not given.json:
            _show(screen, f"{name}: {ROWS[name].title(given.quick)}", found[name])
    if given.json:
        print(json.dumps({"machine": around, "rows": found}, indent=2))
    else:
        screen.line()
        screen.text(_NOTE, "2")
    return 0 if all("wrong" not in one for row in found.values() for one in row.values()) else 1


def _show(screen: Terminal, title: str, found: Mapping[str, dict[str, Any]]) -> None:
    from ..d2l import never_run

    screen.heading(title)
    rows = []
    for library, one in found.items():
        if "wrong" in one:
            rows.append((library, "", "", one["wrong"]))
        else:
            rows.append((library, _time(one["issued"]), _time(one["completed"]), f"{one['to NumPy']:.2f} x"))
            if "dropped" in one:
                rows.append(("", "", "", never_run(one["dropped"]).strip()))
    screen.table(("", "issued", "completed", "to NumPy"), rows)


def _time(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:,.2f} ms"
