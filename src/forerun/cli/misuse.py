"""Wrong use of a command."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Misuse", "writable"]


class Misuse(Exception):
    """What the user got wrong, in a line; the command ends with the status 2."""


def writable(folder: Path) -> Path:
    """The folder, made if it is missing; raises Misuse now rather than when there is something to write."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misuse(f"cannot make the folder {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Misuse(f"cannot write to the folder {folder}")
    return folder
