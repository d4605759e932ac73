"""The folders of the sockets: in the user's folder for the session, else in the one for temporary files."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

__all__ = ["candidates", "made"]


def candidates() -> list[Path]:
    """Return the folders where sockets may be; a process uses the first one, and clients look into all.

    A service and a login session of one user need not have the same environment.
    """
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    user = os.getuid() if hasattr(os, "getuid") else 0
    return [
        *([Path(session, "forerun")] if os.path.isdir(session) else []),
        Path(tempfile.gettempdir(), f"forerun-{user}"),
    ]


def made() -> Path:
    """Return the folder for this process; make it if it is missing.

    Raises PermissionError if others may enter it: the folder for temporary files is everyone's.
    """
    folder = candidates()[0]
    folder.mkdir(mode=0o700, parents=False, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} must be a folder of this user alone")
    return folder
