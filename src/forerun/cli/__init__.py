"""The command `forerun`: the tour, a comparison, reports on programs, predictions, and facts about the machine.

Each command has `--help` with examples, and `--json`. The output has colours on a terminal, unless the variable
NO_COLOR is set, and none elsewhere. The exit status is 0 for success, 1 for a failure, 2 for wrong use, 130 after
Ctrl-C; those of `forerun run` and `forerun trace` are the script's own.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from importlib import metadata

from . import bench, info, run, top, tour, trace, whatif
from .misuse import Misuse

__all__ = ["main"]

_EPILOG = """\
first steps:
  forerun tour                     an introduction to asynchronous arrays, in some minutes
  forerun trace train.py           overlap in a program, and the lines that waited
  forerun run --as-numpy prog.py   a program written for NumPy, run ahead
  forerun whatif profile.frec      the same on more devices and ranks
  forerun top                      operations, memory and threads of a running program
  forerun info                     the facts for a bug report

exit status:
  0 success; 1 failure; 2 wrong use; 130 Ctrl-C; those of `run` and `trace` are the script's own

`forerun COMMAND --help` has examples for each command.
"""


class _Formatter(argparse.HelpFormatter):
    """Paragraphs as wide as the terminal, and examples, which are indented, as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join(p if "\n  " in p else textwrap.fill(p, width) for p in paragraphs)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="forerun", description="NumPy that runs ahead: shows and measures what runs when.", epilog=_EPILOG,
        formatter_class=_Formatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"forerun {metadata.version('forerun')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for module in (tour, bench, run, trace, whatif, top, info):
        command = commands.add_parser(
            module.__name__.rpartition(".")[2], help=module.HELP, description=module.__doc__, epilog=module.EPILOG,
            formatter_class=_Formatter,
        )  # fmt: skip
        module.arguments(command)
        command.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    given_words = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser()
    if not given_words:
        parser.print_help(sys.stderr)
        return 2
    given = parser.parse_args(given_words)
    try:
        status: int = given.run(given)
        sys.stdout.flush()
    except Misuse as error:
        print(f"forerun {given.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"forerun {given.command}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:  # who read the output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return status
