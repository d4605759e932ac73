"""Fork and exit: pending operations are finished, errors are reported."""

from __future__ import annotations

import atexit
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial

from .. import _core
from .logging import say
from .settings import config
from .system import at_fork

__all__ = ["at_end"]

_ends: list[Callable[[], object]] = []


def at_end(function: Callable[[], object]) -> None:
    """Register a function for the exit of the process, after the last operation has ended."""
    _ends.append(function)


def _at_exit() -> None:
    _finish_and_report()
    for function in _ends:
        function()


def _finish_and_report() -> None:
    """Finish pending operations, and report errors that no read has raised."""
    if _core.engine_abandoned():
        return
    _core.tell()
    interrupted = _finish()
    _core.tell()
    errors = _core.unseen_failures()
    for (message, site), times in Counter(errors).items():  # of a line in a loop once, in the order of the first ones
        where = f"{site[0]}:{site[1]}: " if message and site else ""
        text = f"{where}an error that no read has raised: {message}" if message else f"and {site} more"
        text += f" ({times:,} times)" if times > 1 else ""
        say("error", "%s", text)
        _say(text)
    # A program that embeds Python, and has given it no command line, has a status of its own.
    if (errors or interrupted) and config()["exit_status"] and sys.orig_argv:
        _core.set_exit_status(1)


def _finish() -> bool:
    """Wait for all operations. True if a signal's handler ended the wait (Ctrl-C): the others are abandoned."""
    try:
        _core.finish()
    except BaseException as error:
        stats = _core.stats()
        _core.abandon_pending_work()
        left = stats["issued"] - stats["done"]
        _say(f"{type(error).__name__} while the program waited for its last operations at exit; {left} have not ended")
        return True
    return False


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"forerun: {text}", file=sys.stderr)


def _join_multiprocessing() -> None:
    """Register the work at exit as multiprocessing's finalizer, as its children may exit without `atexit`."""
    if util := sys.modules.get("multiprocessing.util"):
        # When a child begins to run, it forgets the finalizers that it has, and then calls the function that is
        # registered here.
        util.register_after_fork(_core, _finalize)
        if sys.modules["multiprocessing.process"].parent_process():
            _finalize()


def _finalize(_: object = None) -> None:
    sys.modules["multiprocessing.util"].Finalize(None, _at_exit, exitpriority=-1000)


atexit.register(_at_exit)
at_fork(
    before=_core.before_fork,
    # Not functions of Python: a signal's handler that raises as they begin would leave the engine closed.
    after_in_parent=partial(_core.after_fork, False),
    after_in_child=partial(_core.after_fork, True),
)
at_fork(after_in_child=_join_multiprocessing)
_join_multiprocessing()
