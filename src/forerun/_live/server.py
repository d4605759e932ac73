"""FORERUN_TOP=1 at the import: a thread, which sleeps until a client connects, answers `forerun top`.

The socket is a file, `PID.sock`, in a folder that belongs to the user alone. A child of a fork has one of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import warnings
from pathlib import Path

from .._runtime.lifecycle import at_end
from .._runtime.system import at_fork
from .folders import made
from .snapshot import snapshot

__all__ = ["Server"]

_PATIENCE = 2.0  # seconds for a client to take the answer


class Server:
    """A socket, and the thread that answers there."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Begin to answer. If that is impossible, warn: the program itself can go on."""
        try:
            self.path = made() / f"{os.getpid()}.sock"
            self.path.unlink(missing_ok=True)  # of an ended process with this number
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.bind(str(self.path))
            self._socket.listen(8)
        except (OSError, AttributeError) as error:  # Python has no AF_UNIX on Windows
            self.path = None
            warnings.warn(f"FORERUN_TOP: `forerun top` will not find this process: {error}", stacklevel=2)
            return
        threading.Thread(target=_answer, args=(self._socket,), name="forerun top", daemon=True).start()

    def close(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None

    def reopen(self) -> None:
        """In a child of a fork: leave the socket of the parent, and open another."""
        if self._socket is not None:
            self._socket.close()
        self.open()


def _answer(listener: socket.socket) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:  # there are no more descriptors: clients are refused, rather than left to wait
            listener.close()
            return
        with client, contextlib.suppress(OSError):
            client.settimeout(_PATIENCE)
            client.sendall(json.dumps(snapshot()).encode())


if os.environ.get("FORERUN_TOP") == "1":
    _server = Server()
    _server.open()
    at_end(_server.close)
    at_fork(after_in_child=_server.reopen)
