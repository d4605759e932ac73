"""Shows a running program: operations per second, memory, pending operations, and the lines of its Python threads.

The program must have been started with FORERUN_TOP=1 in its environment, which gives it a thread that sleeps until this
command asks. Only processes of the same user on this machine can be seen.

Without a process number the command shows the only such process, or a list if there are several. Rates are those
of the last interval.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from time import sleep
from typing import Any

from .._display.notebook import nbytes
from .._display.terminal import Terminal, moving
from .._live.client import Silent, ask, processes
from .misuse import Misuse

HELP = "operations, memory and threads of a running program that was started with FORERUN_TOP=1"
EPILOG = """\
examples:
  FORERUN_TOP=1 python train.py &      a program that can be seen
  forerun top                          the process, or a list of several
  forerun top 4182                     this process
  forerun top 4182 --watch             again each second, until Ctrl-C or its end
  forerun top 4182 --watch 0.2         five times a second
  forerun top 4182 --json              one description as JSON; counts since its start
"""
_BETWEEN = 0.5  # seconds between the two descriptions of which rates are made
_HINT = "start the program with FORERUN_TOP=1 in its environment"


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument("process", nargs="?", type=int, metavar="PID", help="the number of the process")
    command.add_argument(
        "--watch", nargs="?", type=float, const=1.0, metavar="SECONDS", help="repeat at this interval (1)"
    )
    command.add_argument("--json", action="store_true", help="print descriptions as JSON, one in a line")


def run(given: argparse.Namespace) -> int:
    """Ask, and print; again with `--watch`."""
    if given.watch is not None and not given.watch > 0:
        raise Misuse(f"--watch must be positive, got {given.watch:g}")
    found = processes()
    if given.process is not None and given.process not in found:
        raise Misuse(f"process {given.process} does not answer: {_HINT}")
    try:
        if given.process is None and len(found) != 1:
            return _list(found, given.json)
        process = given.process or next(iter(found))
        _follow(lambda: ask(process, found[process]), given)
    except Silent as end:
        print(f"forerun top: {end}", file=sys.stderr)
        return 0 if given.watch is not None else 1
    return 0


def _list(found: dict[int, Any], as_json: bool) -> int:
    seen = []
    for process, path in found.items():
        try:
            seen.append(ask(process, path))
        except Silent as end:
            print(f"forerun top: {end}", file=sys.stderr)
    if not seen:
        raise Misuse(f"no process answers: {_HINT}")
    if as_json:
        print("\n".join(map(json.dumps, seen)))
        return 0
    rows = [(f"{one['pid']}  {one['command']}", _number(_flying(one)), _live(one)) for one in seen]
    Terminal().table(("process", "pending", "memory"), rows)
    return 0


def _follow(again: Any, given: argparse.Namespace) -> None:
    before = again()
    if given.json:
        print(json.dumps(before), flush=True)
        while given.watch is not None:
            sleep(given.watch)
            print(json.dumps(again()), flush=True)
        return
    while True:
        sleep(given.watch or _BETWEEN)
        now = again()
        if given.watch is not None and moving(sys.stdout):
            print("\033[H\033[J", end="")
        _show(before, now)
        sys.stdout.flush()
        if given.watch is None:
            return
        before = now


def _show(before: dict[str, Any], now: dict[str, Any]) -> None:
    screen, seconds = Terminal(), now["time"] - before["time"]
    stats, cores = now["stats"], (now["cpu"] - before["cpu"]) / seconds
    screen.line(screen.style(f"process {now['pid']}  {now['command']}", "1;36"))
    screen.table(
        ("operations", "since its start", "per second"),
        [
            *(
                (name, _number(stats[name]), _number((stats[name] - before["stats"][name]) / seconds))
                for name in ("issued", "done", "failed")
            ),
            ("pending", _number(_flying(now)), ""),
            ("processor time, s", f"{now['cpu']:,.1f}", f"{cores:.2f}"),
        ],
    )
    kinds = ("live", "peak", "cached", "budget", "limit")
    rows = [(name, *(nbytes(held[kind]) for kind in kinds)) for name, held in now["memory"].items()]
    screen.line()
    screen.table(("memory", *kinds), rows)
    if now["pending"]:
        screen.line(f"\n{screen.style('  oldest pending operations', '2')}")
    for one in now["pending"]:
        screen.line(f"  {one}")
    screen.line(f"\n{screen.style('  Python threads', '2')}")
    for thread in now["threads"]:
        file = os.path.relpath(thread["file"]) if os.path.isabs(thread["file"]) else thread["file"]
        screen.line(
            f"  {thread['name']}: {min(file, thread['file'], key=len)}:{thread['line']} in {thread['function']}"
        )


def _flying(one: dict[str, Any]) -> int:
    return int(one["stats"]["issued"] - one["stats"]["done"])


def _live(one: dict[str, Any]) -> str:
    return nbytes(sum(held["live"] for held in one["memory"].values()))


def _number(n: float) -> str:
    return f"{n:,.0f}" if n >= 10 or n == int(n) else f"{n:.1f}"
