"""The peers beside us: each row with each of them, in one table.

    python benchmarks/peers/run.py [--rows gelu sum] [--peers jax-jit torch] [--rounds 7] [--quick]

Installs the peers below build/peers the first time, each in an environment of its own; forerun is the one of the Python
that runs this. In each round every worker is asked in turn, so that a slow spell of the machine hits all of them. Times
are medians over rounds, after each row has run for half a second with each peer; in brackets forerun's time as a
multiple of the peer's (below 1 it is faster); the best peer in bold. Results are compared with NumPy's once. All
figures also go to a file of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from columns import FORERUN, PEERS, Column
from install import CannotInstall, install
from process import Process
from report import figures, machine, reasons, table
from rows import BY_NAME, ROWS, Row

FOLDER = Path(__file__).parents[2] / "build" / "peers"
PAUSE = 0.03  # seconds until the threads of the one before have stopped spinning
ENOUGH = 20.0  # seconds that a column may take for a row, without its first round

Missing = dict[str, dict[str, str]]


def start(columns: Sequence[Column], quick: bool, missing: Missing) -> dict[str, Process]:
    """A process for each column; for a missing one, the reason goes into `missing`."""
    found = {}
    for column in columns:
        try:
            python = install(column.venv, FOLDER) if column.venv else Path(sys.executable)
        except CannotInstall as error:
            missing[column.name] = {"": str(error)}
            continue
        process = Process(python, column.factory, quick, FOLDER / f"{column.name}.log")
        answer = process.start()
        if "error" in answer:
            missing[column.name] = {"": answer["error"]}
        else:
            found[column.name] = process
    return found


def measure(row: Row, processes: dict[str, Process], rounds: int, missing: Missing) -> dict[str, list[float]]:
    """Seconds of each column in each round; who fails once, or has taken too long, is not asked again."""
    seconds: dict[str, list[float]] = {name: [] for name in processes}
    spent = dict.fromkeys(processes, 0.0)
    for _ in range(rounds):
        for name in [name for name in seconds if spent[name] < ENOUGH]:
            time.sleep(PAUSE)
            start = time.perf_counter()
            answer = processes[name].ask(row.name)
            spent[name] += time.perf_counter() - start if seconds[name] else 0.0
            if "seconds" in answer:
                seconds[name].append(answer["seconds"])
                continue
            del seconds[name]
            reasons_of = missing.setdefault(name, {})
            if "missing" in answer:
                reasons_of[""] = answer["missing"]
            else:
                reasons_of[row.name] = answer["error"]
    return seconds


def options() -> argparse.Namespace:
    """Return the options of the command."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers = [column.name for column in PEERS]
    arguments.add_argument("--rows", nargs="+", choices=list(BY_NAME), default=list(BY_NAME), metavar="ROW")
    arguments.add_argument("--peers", nargs="*", choices=peers, default=peers, metavar="PEER")
    arguments.add_argument("--rounds", type=int, help="7, or with --quick 1")
    arguments.add_argument("--quick", action="store_true", help="small sizes: whether it works, not how fast it is")
    arguments.add_argument("--json", type=Path, help="where figures go: build/peers/results.json, or quick.json")
    return arguments.parse_args()


def main() -> None:
    given = options()
    rounds = given.rounds or (1 if given.quick else 7)
    FOLDER.mkdir(parents=True, exist_ok=True)
    columns = FORERUN + [column for column in PEERS if column.name in given.peers]
    rows = [row for row in ROWS if row.name in given.rows]
    missing: Missing = {}
    found, processes = {}, start(columns, given.quick, missing)
    versions = {name: process.version for name, process in processes.items()}
    about = machine(versions) | {"rounds": rounds, "quick": given.quick}
    try:
        for row in rows:
            print(f"{row.name} ...", file=sys.stderr)
            found[row.name] = measure(row, processes, rounds, missing)
    finally:
        for process in processes.values():
            process.close()
    result = about | {"rows": [figures(row, found[row.name]) for row in rows], "missing": missing}
    path = given.json or FOLDER / ("quick.json" if given.quick else "results.json")
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']} at the start; Python {about['python']}")
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    sizes = ", small sizes" if given.quick else ""
    print(f"medians of {rounds} rounds, fewer where they take over {ENOUGH:.0f} s{sizes}\n")
    print("\n".join([table(rows, found, columns), "", *reasons(missing, columns)]))


if __name__ == "__main__":
    main()
