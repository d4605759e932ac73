"""Arguments, connections and recordings of the commands that run a script, for several ranks."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .._interop.import_hooks import when_imported
from .misuse import Misuse
from .program import Program

if TYPE_CHECKING:
    from .._launch.link import Link

__all__ = ["add_launch_arguments", "as_rank", "launch_ranks"]

_PROFILE = "FORERUN_PROFILE"


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text}")
    return int(text)


def add_launch_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments that say how many ranks there are, and where."""
    command.add_argument("-n", dest="ranks", type=_count, metavar="N", help="the number of ranks that run the script")
    command.add_argument("--restarts", type=_count, default=0, metavar="K", help="after a failure all start again")
    command.add_argument("--hosts", metavar="A,B", help="machines for the ranks, instead of this one")
    command.add_argument(
        "--grace", type=_count, default=30, metavar="S", help="seconds for ranks to end after a failure (%(default)s)"
    )


def launch_ranks(given: argparse.Namespace, options: Sequence[str], recording: Path | None = None) -> int:
    """Run the script in several ranks, each by `forerun run` with these options.

    recording: a file for the recordings of all ranks; otherwise that of the environment, if it names one.
    """
    from .._launch.launcher import Launch, launch
    from .._launch.mpi import MPINotFound

    if given.ranks < 1:
        raise Misuse(f"-n: must be at least 1, got {given.ranks}")
    if "FORERUN_LAUNCHER" in os.environ:
        raise Misuse("-n: this is a rank of another launcher already; a world in a world is not possible")
    Program(given.script, given.arguments, given.module)  # a mistake is reported once, before anything runs
    module = ["-m"] if given.module else []
    words = [sys.executable, "-m", "forerun", "run", *options, *module, given.script, *given.arguments]
    try:
        with _recorded(given.ranks, recording):
            return launch(Launch(given.ranks, words, given.restarts, given.hosts, given.grace))
    except MPINotFound as error:
        raise Misuse(str(error)) from None


@contextlib.contextmanager
def _recorded(size: int, recording: Path | None) -> Iterator[None]:
    """Let each rank that is started meanwhile record into a file of its own, and make one of them."""
    from ..profiler import environment
    from ..profiler._ranks.files import gathered, of_rank

    path = environment.abandon_recording()
    if (path := recording or path) is None:
        yield
        return
    for old in path.parent.glob(of_rank(path, 0).name.replace(".rank0.", ".rank*.")):
        old.unlink()  # of a run with more ranks, perhaps
    before = os.environ.get(_PROFILE)
    os.environ[_PROFILE] = str(path)
    try:
        yield
    finally:
        os.environ.pop(_PROFILE) if before is None else os.environ.update({_PROFILE: before})
        if size > 1:
            gathered(path, size)


def _report_initialization(connection: Link) -> None:
    """Let the launcher know while the program's own import of mpi4py initializes MPI."""

    def begins() -> None:
        if sys.modules["mpi4py"].rc.initialize not in (False, "no"):
            connection.initializes(True)

    when_imported("mpi4py.MPI", lambda _: connection.initializes(False), begins)


@contextlib.contextmanager
def as_rank(program: Program) -> Iterator[Callable[[int], int]]:
    """Connect this process to its launcher, if there is one, while a program runs.

    Yields the function for the program's status. After a failure of any rank it ends the process at once, without the
    functions that are registered for the exit: MPI would wait there for ranks that have ended.
    """
    from .._launch import link

    connection = link.connect()
    if connection is not None:
        program.on_error = link.raised
        _report_initialization(connection)

    def ended(status: int) -> int:
        if connection is not None and (status or connection.failure):
            atexit._run_exitfuncs()
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            os._exit(status)
        if connection is not None:
            atexit.register(connection.leave)  # called when all threads of the program have ended
        return status

    yield ended
