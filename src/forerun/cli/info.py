"""Prints the facts for a bug report: versions, processor, memory, workers and why so many, settings.

Of the environment it prints the variables that forerun, OpenBLAS, OpenMP and NumPy read, and no others.
"""

from __future__ import annotations

import argparse
import json

HELP = "versions, processor, devices, settings: the facts for a bug report"
EPILOG = """\
examples:
  forerun info                         paste this into a report
  forerun info --json                  the same for a program
  FORERUN_CPU_DEVICES=2 forerun info   the effect of a setting
  taskset -c 0 forerun info            how many workers there are on one core
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument("--json", action="store_true", help="print it as JSON; sizes in bytes")


def run(given: argparse.Namespace) -> int:
    """Print the information."""
    from .._display.terminal import Terminal
    from .facts import facts

    found = facts()
    if given.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    screen = Terminal()
    for topic, values in found.items():
        screen.line(screen.style(topic, "1;36"))
        missing = "automatic" if topic == "settings" else "unknown"
        width = max(map(len, values), default=0) + 2
        for name, value in values.items():
            screen.line(f"  {screen.style(name.ljust(width), '2')}{missing if value is None else _words(value)}")
        if not values:
            screen.line("  none")
    return 0


_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_words(v)}" for k, v in value.items())
    if isinstance(value, int) and value >= 1 << 20:
        size, unit = next(u for u in _UNITS if value >= u[0])
        return f"{value / size:.4g} {unit}"
    return str(value)
