"""A rank's side of the connection: a thread that gives signs of life, and learns that another rank has failed."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable

__all__ = ["Link", "connect", "raised"]

BEAT = 0.2  # seconds between signs of life


class Link:
    """The connection of this rank to the watch at an address."""

    def __init__(self, address: str, key: str, rank: int) -> None:
        host, port = address.rsplit(":", 1)
        self.failure = ""
        self._heard = threading.Event()
        self._listeners: list[Callable[[str], None]] = []
        self._lock = threading.Lock()
        self._socket = socket.create_connection((host, int(port)), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pid = os.getpid()
        self._send(rank=rank, key=key, host=socket.gethostname(), pid=self.pid)
        threading.Thread(target=self._listen, name="forerun-link", daemon=True).start()

    def on_failure(self, act: Callable[[str], None]) -> None:
        """Call a function with the message when a rank has failed; at once if one has."""
        with self._lock:
            self._listeners.append(act)
            known = self.failure
        if known:
            act(known)

    def raised(self, text: str) -> None:
        """Say that this rank ends with an exception, and wait until the others know."""
        if self._send(raised=text):
            self._heard.wait(2)

    def ended(self, status: int) -> None:
        """Say that this rank ends."""
        self._send(ended=status)

    def _send(self, **what: object) -> bool:
        try:
            self._socket.sendall(json.dumps(what).encode() + b"\n")
        except OSError:
            return False
        return True

    def _listen(self) -> None:
        self._socket.settimeout(BEAT)
        rest = b""
        while True:
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                if not self._send(beat=True):
                    return self._fail("the launcher is gone: its connection ended silently")
                continue
            except OSError:
                data = b""
            *messages, rest = (rest + data).split(b"\n")
            for each in map(json.loads, messages):
                if "failed" in each:
                    self._fail(each["failed"])
            if not data:
                return self._fail("the launcher is gone: its connection ended silently")

    def _fail(self, message: str) -> None:
        with self._lock:
            if self.failure:
                return
            self.failure = message
            listeners = list(self._listeners)
        for act in listeners:
            with contextlib.suppress(Exception):  # the others are to know in any case
                act(message)
        self._heard.set()


_link: Link | None = None


def connect() -> Link | None:
    """Return this process's connection to its launcher, made at the first call; None if no launcher started it."""
    global _link
    address, rank = os.environ.get("FORERUN_LAUNCHER"), os.environ.get("FORERUN_RANK")
    if _link is None and address and rank:
        _link = Link(address, os.environ.get("FORERUN_LAUNCHER_KEY", ""), int(rank))
    return _link if _link and _link.pid == os.getpid() else None


def raised(error: BaseException, where: str) -> None:
    """Tell the launcher, if there is one, that an exception ends this rank."""
    if link := connect():
        text = f"{type(error).__name__}: {error}".rstrip(": ").replace("\n", " ")
        link.raised(f"{text} at {where}" if where else text)
