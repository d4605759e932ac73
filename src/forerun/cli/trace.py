"""Runs a script, then says what took time and which lines waited, and draws the timeline.

The script runs as `python SCRIPT` would run it, and the exit status is the script's own: 1 if it raised, what it gave
to `sys.exit`, 1 if an operation failed and nobody read it. The report comes in each of these cases. Wrong use, such as
a script that is not there or a folder that cannot be written, is told before anything runs, with the status 2.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from .misuse import writable
from .program import Program, output_to_stderr

if TYPE_CHECKING:
    from ..profiler import Trace

HELP = "run a script, and show what overlapped and what waited"
EPILOG = """\
examples:
  forerun trace train.py --epochs 2            what follows the script is the script's
  forerun trace --out pictures train.py        the timeline goes to pictures/train.html
  forerun trace -m package.train --epochs 2    a module, as with python -m
  forerun trace --json train.py > report.json  the report for a program; what the script
                                               prints goes to standard error
  FORERUN_WORKERS=1 forerun trace train.py     the same on one worker
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """What may be given."""
    command.add_argument(
        "--out",
        type=Path,
        default=Path("build/trace"),
        metavar="DIR",
        help="folder for the timeline (%(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    command.add_argument("script", metavar="SCRIPT", help="a file of Python, or with -m a module")
    command.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="arguments of the script")


def run(given: argparse.Namespace) -> int:
    """Runs the script under the profiler."""
    program = Program(given.script, given.arguments, given.module)
    out = writable(given.out)
    with output_to_stderr(given.json):
        status, trace = _recorded(program)
    _show(trace, out / f"{program.name}.html", program.name, given.json)
    return status


def _recorded(program: Program) -> tuple[int, Trace]:
    from .. import profiler

    recording = profiler.start()
    status = program.run()
    try:
        recording.stop(raises=False)  # errors that nobody has read are told at exit, as without trace
    except KeyboardInterrupt:
        status = 130
    return status, recording.trace


def _show(trace: Trace, file: Path, title: str, as_json: bool) -> None:
    from .. import profiler

    profiler.timeline(trace, file, title=title)
    if as_json:
        print(json.dumps({**_figures(trace), "timeline": str(file)}, indent=2))
    else:
        print(profiler.report(trace))
        print(f"timeline: {file}")


def _figures(trace: Trace) -> dict[str, object]:
    """The report's figures; times in seconds."""
    ops: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    for e in trace.ops:
        ops.setdefault(e.name, []).append(e.duration)
    for e in (w for w in trace.waits if w.cause != "end"):  # which is no line of the program's
        waits.setdefault(e.where, []).append(e.duration)
    return {
        "seconds": trace.span,
        "overlap": trace.overlap(),
        "issued": trace.issued,
        "recorded": trace.recorded,
        "ops": [{"name": k, "count": len(v), "seconds": sum(v)} for k, v in ops.items()],
        "waits": [{"where": k, "count": len(v), "seconds": sum(v)} for k, v in waits.items()],
    }
