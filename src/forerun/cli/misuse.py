"""Wrong use of a command."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Misuse", "writable"]


class Misuse(Exception):
    """A mistake of the user, in one line; the command ends with status 2."""


def writable(folder: Path, file: str = "") -> Path:
    """Return the folder, made if it is missing, or a file in it; raise Misuse now rather than at the first write."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misuse(f"cannot make the folder {folder}: {error.strerror}") from None
    path = folder / file
    if not os.access(folder, os.W_OK | os.X_OK) or (file and path.exists() and not _writable_file(path)):
        raise Misuse(f"cannot write to {path}")
    return path


def _writable_file(path: Path) -> bool:
    return path.is_file() and os.access(path, os.W_OK)
