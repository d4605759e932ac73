"""Fork and exit: no work is lost, no error goes unheard."""

from __future__ import annotations

import atexit
import os
import sys
from functools import partial

from . import _core

__all__: list[str] = []


def _at_exit() -> None:
    """Finishes pending work, and reports errors that nobody has seen."""
    _core.quiesce()
    for message, site in _core.unseen_failures():
        where = f"{site[0]}:{site[1]}: " if site else ""
        print(f"forerun: {where}an error that no read has raised: {message}", file=sys.stderr)


atexit.register(_at_exit)
os.register_at_fork(
    before=_core.before_fork,
    # Not functions of Python: a signal's handler that raises as they begin would leave the engine locked.
    after_in_parent=partial(_core.after_fork, False),
    after_in_child=partial(_core.after_fork, True),
)
