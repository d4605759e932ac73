"""`%%forerun trace` in notebooks: a cell that is recorded, with its report and timeline below it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ..._display.notebook import show
from ..recording import Recording
from ..reports import report
from ..timelines import timeline

__all__ = ["load_ipython_extension"]


class _Parser(argparse.ArgumentParser):
    """Raises an error that a notebook shows as a line, rather than end the process."""

    def error(self, message: str) -> Any:
        from IPython.core.error import UsageError

        raise UsageError(f"%%forerun: {message}")


def _arguments(line: str) -> argparse.Namespace:
    parser = _Parser(prog="%%forerun", add_help=False)
    parser.add_argument("command", choices=["trace"])
    parser.add_argument("--out", type=Path, help="a file for the timeline: .html, .svg or .json")
    parser.add_argument("--limit", type=int, default=20, help="rows of a table")
    return parser.parse_args(shlex.split(line))


def load_ipython_extension(shell: Any) -> None:
    """Add the magic; IPython calls this for `%load_ext forerun`."""

    def forerun(line: str, cell: str) -> None:
        """Run the cell under the profiler: `%%forerun trace [--out FILE] [--limit ROWS]`."""
        given = _arguments(line)
        recording = Recording().start()
        try:
            shell.run_cell(cell)  # shows its result, or its error
        finally:
            trace = recording.stop(raises=False)
        show(report(trace, given.limit))
        if given.out is None:
            show(timeline(trace))
        else:
            timeline(trace, given.out)
            print(f"timeline: {given.out}")

    shell.register_magic_function(forerun, "cell")
