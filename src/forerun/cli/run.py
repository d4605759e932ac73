"""Runs a script as Python would, with forerun in the place of NumPy or MXNet if asked to.

With `--as-numpy`, `import numpy` in the script and in the modules beside it gives forerun, by NumPy's rules: float64,
NumPy's own random numbers, and NumPy's functions where forerun lacks them. Installed packages keep NumPy. The script is
not changed. Its output is that with NumPy, but for the last digits of sums.

With `--as-mxnet`, `import mxnet` gives forerun's modules; docs/howto/frameworks.md lists the differences.

The exit status is the script's own: 1 if it raised, the argument of `sys.exit`, 1 if an operation failed and no
read raised the error.

With `-n 4` four ranks run the script, started by the launcher of the MPI that mpi4py loads. Each line of output has the
rank in front, and signals go to all ranks. If a rank fails, the others learn its number and its error within two
seconds, and their waits raise the error; no process keeps running. The exit status is that of the rank that failed
first.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .program import Program
from .ranks import add_launch_arguments, as_rank, launch_ranks

HELP = "run a script, with forerun as its NumPy or MXNet"
EPILOG = """\
examples:
  forerun run --as-numpy simulate.py --steps 100     arguments after the script are the script's
  forerun run --as-numpy --report simulate.py        and a report of calls that ran ahead or were NumPy's
  forerun run --as-numpy -m package.simulate         a module, as with python -m
  forerun run --as-mxnet train.py                    a program that imports mxnet
  forerun run -n 4 train.py                          four ranks
  forerun run -n 4 --restarts 3 train.py             all start again after a failure, three times at most
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument("--as-numpy", action="store_true", help="`import numpy` in the script's files gives forerun")
    command.add_argument("--as-mxnet", action="store_true", help="`import mxnet` gives forerun's modules")
    command.add_argument("--report", action="store_true", help="report the calls that ran ahead or fell back")
    add_launch_arguments(command)
    command.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    command.add_argument("script", metavar="SCRIPT", help="a file of Python, or with -m a module")
    command.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="arguments of the script")


def run(given: argparse.Namespace) -> int:
    """Run the script; report on standard error."""
    if given.ranks is not None:
        switches = ("as_numpy", "as_mxnet", "report")
        return launch_ranks(given, [f"--{n.replace('_', '-')}" for n in switches if getattr(given, n)])
    program = Program(given.script, given.arguments, given.module)
    if given.as_numpy:
        replace_numpy(given)
    if given.as_mxnet:
        from ..compat import install_as_mxnet

        install_as_mxnet()
    with as_rank(program) as ended, _out_of_collections():
        if not given.report:
            return ended(program.run())
        status, trace = _recorded(program)
        sys.stdout.flush()
        _report(trace)
        return ended(status)


@contextmanager
def _out_of_collections() -> Iterator[None]:
    """Inside, Python's garbage collector leaves out the objects that exist when it begins, which are forerun's.

    A program that keeps many tuples of scalars begins collections of all objects, and NumPy's own has fewer.
    """
    if gc.get_freeze_count():  # something else has done it
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def replace_numpy(given: argparse.Namespace) -> None:
    """Make forerun the NumPy of the files in the script's folder, or in the current one for a module."""
    from ..as_numpy import install_as_numpy

    install_as_numpy(os.getcwd() if given.module else Path(given.script).resolve().parent)


def _recorded(program: Program) -> tuple[int, Any]:
    from .. import profiler

    recording = profiler.start(None)
    status = program.run()
    try:
        recording.stop(raises=False)
    except KeyboardInterrupt:
        status = 130
    return status, recording.trace


def _report(trace: Any) -> None:
    from .. import as_numpy, profiler
    from .._display.terminal import Terminal

    screen = Terminal(sys.stderr)
    for line in str(profiler.report(trace)).splitlines():
        screen.line(line)
    found = as_numpy.report()
    if found is not None:
        screen.line()
        for line in str(found).splitlines():
            screen.line(line)
