"""Runs a script, then reports the time of operations and the lines that waited, and draws the timeline.

The script runs as `python SCRIPT` would run it, and the exit status is the script's own: 1 if it raised, the
argument of `sys.exit`, 1 if an operation failed and no read raised the error. The report is printed in each case. Wrong
use, such as a missing script or a folder that cannot be written, is reported before anything runs, with status 2.

While the script runs, the recording grows in a file beside the timeline. If the script kills its process, the file is
there to be shown instead of a script.

With `-n 4` four ranks run the script, as with `forerun run -n 4`. Their recordings become one file and one timeline,
on one clock, with a part for each rank; the report says which rank the others waited for. The folder must be one that
all machines see.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .._display.terminal import Terminal
from ..distributed import _peers
from .misuse import Misuse, writable
from .program import Program, output_to_stderr
from .ranks import add_launch_arguments, launch_ranks
from .run import replace_numpy

if TYPE_CHECKING:
    from ..profiler import Blocker, Trace

HELP = "run a script, and show which operations overlapped and which lines waited"
EPILOG = """\
examples:
  forerun trace train.py --epochs 2            arguments after the script are the script's
  forerun trace --out pictures train.py        the timeline goes to pictures/train.html
  forerun trace --as-numpy simulate.py         a program written for NumPy, with forerun as its NumPy
  forerun trace -m package.train --epochs 2    a module, as with python -m
  forerun trace --json train.py > report.json  the report as JSON; the script's output
                                               goes to standard error
  FORERUN_WORKERS=1 forerun trace train.py     the same on one worker
  forerun trace build/trace/train.frec         a recording, which may end with a crash
  forerun trace -n 4 train.py                  four ranks in one timeline
  forerun trace run.rank*.frec                 ranks that recorded each for itself
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument(
        "--out",
        type=Path,
        default=Path("build/trace"),
        metavar="DIR",
        help="folder for the timeline (%(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("--as-numpy", action="store_true", help="`import numpy` in the script's files gives forerun")
    add_launch_arguments(command)
    command.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    command.add_argument("script", metavar="SCRIPT", help="a file of Python, or with -m a module")
    command.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="arguments of the script")


def run(given: argparse.Namespace) -> int:
    """Run the script under the profiler."""
    if given.script.endswith((".frec", ".trace")):
        return _again([Path(given.script), *map(Path, given.arguments)], given)
    program = Program(given.script, given.arguments, given.module)
    if given.ranks is not None and given.ranks != 1:
        return _of_ranks(program, given)
    if _peers.size() > 1:  # another launcher has started this: each rank shows its own part
        program.name += f".rank{_peers.rank()}"
    out = writable(given.out, f"{program.name}.html")
    if given.as_numpy:
        replace_numpy(given)
    with output_to_stderr(given.json):
        status, trace = _recorded(program, writable(given.out, f"{program.name}.frec"))
    _show(trace, out, program.name, given.json)
    return status


def _again(files: list[Path], given: argparse.Namespace) -> int:
    """Show a recording, which may have several ranks."""
    from .. import profiler

    name = files[0].stem if len(files) == 1 else files[0].stem.partition(".rank")[0]
    try:
        trace = profiler.load(files)
    except (OSError, ValueError) as error:
        raise Misuse(f"cannot show {', '.join(map(str, files))}: {error}") from None
    _show(trace, writable(given.out, f"{name}.html"), name, given.json)
    return 0


def _of_ranks(program: Program, given: argparse.Namespace) -> int:
    """Run the script in ranks that record, then show all of them."""
    out, file = writable(given.out, f"{program.name}.html"), writable(given.out, f"{program.name}.frec")
    file = Path(os.environ.get("FORERUN_PROFILE") or file).absolute()
    file.unlink(missing_ok=True)
    with output_to_stderr(given.json):
        status = launch_ranks(given, ["--as-numpy"] if given.as_numpy else [], file)
    if not file.exists():  # none has come to the import of forerun
        print("forerun trace: no rank has recorded anything", file=sys.stderr)
        return status or 1
    from .. import profiler

    _show(profiler.load(file), out, program.name, given.json, file)
    return status


def _recorded(program: Program, file: Path) -> tuple[int, Trace]:
    from .. import profiler

    recording = profiler.start(None if os.environ.get("FORERUN_PROFILE") else file.absolute())
    status = program.run()
    try:
        recording.stop(raises=False)  # errors that no read has raised are reported at exit, as without trace
    except KeyboardInterrupt:
        status = 130
    return status, recording.trace


def _show(trace: Trace, file: Path, title: str, as_json: bool, recording: Path | None = None) -> None:
    from .. import profiler

    profiler.timeline(trace, file, title=title)
    if as_json:
        print(json.dumps({**_figures(trace), "timeline": str(file)}, indent=2))
    else:
        screen = Terminal()
        for line, code in _styled(str(profiler.report(trace)).splitlines()):
            screen.line(screen.style(line, code) if code else line)
        screen.line(f"timeline: {file}")
        if recording:
            screen.line(f"recording: {recording}")


def _styled(report: list[str]) -> Iterator[tuple[str, str]]:
    """Yield lines of a report with their styles: the conclusion in bold, rules dim, advice in green."""
    advice = False
    for number, line in enumerate(report):
        advice = bool(line) and (advice or line == "instead")
        rule = set(line) == {"-"}
        yield line, "2" if rule else "1" if number == 0 else "1;33" if number == 1 else "32" if advice else ""


def _figures(trace: Trace) -> dict[str, object]:
    """Return the report's figures; times in seconds."""
    from ..profiler import blockers, bound
    from ..profiler._ranks.late import rank_times

    ops: dict[str, list[float]] = {}
    for e in trace.ops:
        ops.setdefault(e.name, []).append(e.duration)
    limit = bound(trace)
    return {
        "seconds": trace.span,
        "overlap": trace.overlap(),
        "issued": trace.issued,
        "recorded": trace.recorded,
        "ops": [{"name": k, "count": len(v), "seconds": sum(v)} for k, v in ops.items()],
        "bound": {"kind": limit.kind, "share": limit.share, "line": limit.line, "says": str(limit)},
        "waits": [_wait(blocker) for blocker in blockers(trace)],
        **({"ranks": [asdict(r) for r in rank_times(trace)]} if len(trace.ranks) > 1 else {}),
    }


def _wait(blocker: Blocker) -> dict[str, object]:
    line = blocker.line
    return {
        "where": line.where,
        "call": line.name,
        "kind": line.cause,
        "waits": line.waits,
        "reads": line.reads,
        "seconds": line.seconds,
        "lost": line.lost,
        "idle": blocker.idle,
        "instead": blocker.advice,
    }
