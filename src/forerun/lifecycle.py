"""Fork and exit: no work is lost, no error goes unheard."""

from __future__ import annotations

import atexit
import os
import sys

from . import _core
from .config import config

__all__: list[str] = []


def _at_exit() -> None:
    """Finishes pending work, and reports errors that nobody has seen."""
    if _core.gave_up():
        return
    interrupted = _finish()
    errors = _core.unseen_failures()
    for message, site in errors:
        where = f"{site[0]}:{site[1]}: " if message and site else ""
        _say(f"{where}an error that no read has raised: {message}" if message else f"and {site} more")
    # A program that embeds Python, and has given it no command line, has a status of its own.
    if (errors or interrupted) and config()["exit_status"] and sys.orig_argv:
        _core.set_exit_status(1)


def _finish() -> bool:
    """Waits for all work. True if a signal's handler ended that (Ctrl-C): the rest is given up."""
    try:
        _core.finish()
    except BaseException as error:
        stats = _core.stats()
        _core.give_up()
        left = stats["issued"] - stats["done"]
        _say(f"{type(error).__name__} while the program waited for its last operations at exit; {left} have not ended")
        return True
    return False


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"forerun: {text}", file=sys.stderr)


def _in_child() -> None:
    """Children of multiprocessing leave without `atexit`; what is to be done at exit they do as a finalizer."""
    _core.after_fork(True)
    if util := sys.modules.get("multiprocessing.util"):
        # The child forgets its parent's finalizers first, and then calls what is registered here.
        util.register_after_fork(_core, lambda _: util.Finalize(None, _at_exit, exitpriority=-1000))


atexit.register(_at_exit)
os.register_at_fork(
    before=_core.before_fork,
    after_in_parent=lambda: _core.after_fork(False),
    after_in_child=_in_child,
)
