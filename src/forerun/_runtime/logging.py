"""Messages of the package for `logging.getLogger("forerun")`; without a handler they are dropped.

Nothing is logged where operations are issued or run: only where the program waits anyway, or configures.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["say", "log_event"]


def say(level: str, message: str, *values: Any) -> None:
    """Log a message of a level ("debug", "info", "warning", "error").

    Programs that have not imported `logging` have no handler; it is not imported for them.
    """
    if (logging := sys.modules.get("logging")) is None or not hasattr(logging, "getLogger"):
        return
    logger = logging.getLogger("forerun")
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        logger.addHandler(logging.NullHandler())  # without one, Python would print warnings
    getattr(logger, level)(message, *values)


def log_event(kind: str, number: int, wanted: int) -> None:
    """Log a message of the core, which calls this."""
    if kind == "started" and number < wanted:
        say("warning", "%d of %d threads could be started: the system refused the others", number, wanted)
    elif kind == "started":
        say("info", "%d threads started", number)
    elif kind == "ended":
        say("info", "all threads have ended; the next operation starts them again")
    else:
        what = "ops_ahead operations are in flight" if kind == "window full" else "the memory budget is used up"
        say("info", "%s: %s; calls that had to wait since the last message: %d", kind, what, number)
