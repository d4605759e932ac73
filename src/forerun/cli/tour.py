"""Runs the experiments of the two chapters on this machine, and draws the overlap. Takes some minutes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from .misuse import writable

HELP = "the chapters' experiments on this machine, with pictures"
EPILOG = """\
examples:
  forerun tour                     all experiments; pictures go to build/tour
  forerun tour --quick             at reduced size: that it works, not how fast
  forerun tour --out pictures      pictures in another folder
  forerun tour --json > tour.json  the figures for a program
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument(
        "--out",
        type=Path,
        default=Path("build/tour"),
        metavar="DIR",
        help="folder for pictures (%(default)s)",
    )
    command.add_argument("--quick", action="store_true", help="at reduced size, to see that it works")
    command.add_argument("--json", action="store_true", help="print figures as JSON")


def run(given: argparse.Namespace) -> int:
    """Run all experiments."""
    from .. import tour

    found = tour.run(writable(given.out), given.quick, silent=given.json)
    if given.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0
