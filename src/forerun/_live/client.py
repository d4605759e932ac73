"""Processes of this user that answer, and their descriptions."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from .folders import candidates

__all__ = ["Silent", "ask", "processes"]

_PATIENCE = 5.0  # seconds for an answer


class Silent(Exception):
    """A process that has ended, or that does not answer; the message says so."""


def processes() -> dict[int, Path]:
    """Return the sockets of processes other than this one, by process number."""
    found: dict[int, Path] = {}
    for folder in candidates():
        for path in sorted(folder.glob("*.sock"), key=lambda path: len(path.name)):
            if path.stem.isdecimal() and int(path.stem) != os.getpid():
                found.setdefault(int(path.stem), path)
    return dict(sorted(found.items()))


def ask(process: int, path: Path) -> dict[str, Any]:
    """Return the description of a process.

    Raises Silent if it has ended, which removes the socket that it has left, or has not answered for some seconds.
    """
    pieces = []
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            connection.connect(str(path))
            while piece := connection.recv(1 << 16):
                pieces.append(piece)
        found: dict[str, Any] = json.loads(b"".join(pieces))
    except (ConnectionError, FileNotFoundError):
        path.unlink(missing_ok=True)
        raise Silent(f"process {process} has ended") from None
    except TimeoutError:
        why = "it is stopped, or a call holds the interpreter lock"
        raise Silent(f"process {process} has not answered for {_PATIENCE:.0f} s: {why}") from None
    except ValueError:  # it ended while it answered
        raise Silent(f"process {process} has ended") from None
    return found
