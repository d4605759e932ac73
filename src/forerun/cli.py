"""The command `forerun`: the tour, a profile of a script, and what the machine offers."""

from __future__ import annotations

import argparse
import runpy
import sys
from importlib import metadata
from pathlib import Path

__all__ = ["main"]


def tour(given: argparse.Namespace) -> None:
    """Runs the chapters' experiments."""
    from .tour import run

    run(given.out, given.quick)


def trace(given: argparse.Namespace) -> None:
    """Runs a script, then prints what took time and where it waited, and draws the timeline."""
    from . import profiler

    sys.argv = [str(given.script), *given.arguments]
    with profiler.record() as profile:
        runpy.run_path(str(given.script), run_name="__main__")
    print(profiler.report(profile.trace))
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / f"{given.script.stem}.svg"
    profiler.timeline(profile.trace, file, title=given.script.name)
    print(f"timeline: {file}")


def info(given: argparse.Namespace) -> None:
    """Prints versions, devices and settings."""
    import numpy

    from . import _core
    from .config import config
    from .device import devices

    print(
        f"forerun {metadata.version('forerun')}, NumPy {numpy.__version__}, Python {sys.version.split()[0]}"
    )
    print(f"devices: {', '.join(map(str, devices()))}; cores granted: {_core.granted_cores()}")
    print(f"products: {_core.blas_info()}")
    for name, value in config().items():
        print(f"{name}: {value if value is not None else 'automatic'}")


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="forerun", description="NumPy that runs ahead.")
    commands = parser.add_subparsers(required=True, metavar="command")
    command = commands.add_parser("tour", help="the chapters' experiments on this machine, with pictures")
    command.add_argument("--out", type=Path, default=Path("build/tour"), help="folder for pictures")
    command.add_argument("--quick", action="store_true", help="at reduced size, to see that it works")
    command.set_defaults(run=tour)
    command = commands.add_parser("trace", help="run a script, and show what overlapped and what waited")
    command.add_argument("--out", type=Path, default=Path("build/trace"), help="folder for the timeline")
    command.add_argument("script", type=Path)
    command.add_argument("arguments", nargs=argparse.REMAINDER)
    command.set_defaults(run=trace)
    command = commands.add_parser("info", help="versions, devices, settings")
    command.set_defaults(run=info)
    given = parser.parse_args(arguments)
    given.run(given)
