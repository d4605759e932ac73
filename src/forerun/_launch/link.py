"""A rank's side of the connection: a thread that sends signs of life, and is notified when another rank fails."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Link", "RankFailed", "connect", "connect_to", "disconnect", "host", "raised"]

BEAT = 0.2  # seconds between signs of life


class RankFailed(RuntimeError):
    """Another rank has failed: killed, frozen, ended by an exception, or it issued other operations than the rest.

    >>> from forerun import distributed as dist
    >>> issubclass(dist.RankFailed, RuntimeError)
    True
    """


class Link:
    """The connection of this rank to the watch at an address.

    launched: by `forerun run`, which sees how the process ends. Otherwise the ranks have started the watch themselves.
    """

    def __init__(self, address: str, key: str, rank: int, launched: bool = True) -> None:
        self.launched = launched
        self.failure = ""
        self._notified = threading.Event()
        self._listeners: list[Callable[[str], None]] = []
        self._lock = threading.Lock()
        self._sends = threading.Lock()
        self._gathers = 0
        self._joined = False  # all ranks have
        self._closed = False
        self._values: dict[int, list[Any]] = {}
        self._news = threading.Condition()
        self.pid = os.getpid()
        self._greeting = {"rank": rank, "key": key, "host": host(), "pid": self.pid}
        self._socket = self._connected(address, self._greeting)
        self._beats: socket.socket | None = None
        self._thread = threading.Thread(target=self._listen, name="forerun-link", daemon=True)
        self._thread.start()

    def _connected(self, address: str, greeting: dict[str, Any]) -> socket.socket:
        machine, port = address.rsplit(":", 1)
        connected = socket.create_connection((machine, int(port)), timeout=30)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.sendall(_line(greeting))
        return connected

    def on_failure(self, act: Callable[[str], None]) -> None:
        """Call a function with the message when a rank has failed; at once if one has."""
        with self._lock:
            self._listeners.append(act)
            known = self.failure
        if known:
            act(known)

    def raised(self, text: str) -> None:
        """Report that this rank ends with an exception, and wait until the others are notified."""
        if self._send(raised=text):
            self._notified.wait(2)

    def gather(self, value: object) -> list[Any]:
        """Return the values of all ranks, which are JSON's; each rank must call it as often as the others. Waits.

        Raises RankFailed.
        """
        self._gathers += 1
        number = self._gathers
        self._send(gather=number, value=value)
        with self._news:
            self._news.wait_for(lambda: self.failure or number in self._values)
        if number not in self._values:
            raise RankFailed(f"{self.failure}; this rank waited for values of all ranks")
        return self._values.pop(number)

    def join(self, op: str) -> None:
        """Wait until all ranks have called it, as they do before MPI begins. Raises RankFailed if one of them ends."""
        self._send(joins=True)
        with self._news:
            self._news.wait_for(lambda: self.failure or self._joined)
        if self.failure:
            raise RankFailed(f"{self.failure}; this rank waited in {op}")

    def initializes(self, begins: bool) -> None:
        """Report that this rank begins or has ended a call of MPI that waits for all ranks with the interpreter
        lock."""
        self._send(initializes=begins)

    def leave(self) -> None:
        """Report that this rank's program has ended, and the rank will: MPI may keep it until the others end, too."""
        self._send(leaves=True)

    def clock_offset(self, rounds: int = 8) -> tuple[int, int] | None:
        """Return nanoseconds that the launcher's clock is ahead of this one, by the fastest of some requests.

        The second number is by how much that may be wrong: half of the time of the question. None without an answer.
        """
        found = []
        for each in range(rounds):
            key = -1 - each
            with self._news:
                self._values.pop(key, None)
            sent = time.time_ns()
            self._send(ping=key)
            with self._news:
                self._news.wait_for(lambda key=key: self.failure or key in self._values, 5)  # type: ignore[misc]
            if key not in self._values:
                break
            clock, received = self._values.pop(key)
            found.append((received - sent, clock - (sent + received) // 2))
        if not found:
            return None
        took, ahead = min(found)
        return ahead, took // 2

    def close_mpi(self) -> None:
        """Report that this rank has finalized MPI, so that no other waits for it there."""
        self._send(closes=True)

    def beat(self, start: Callable[[int, str, float], None], address: str) -> None:
        """Let a native thread send heartbeats over a separate connection, while no thread of Python can."""
        self._beats = self._connected(address, {**self._greeting, "heartbeat": True})
        self._beats.settimeout(None)
        start(self._beats.dup().detach(), _line({"beat": True}).decode(), BEAT)  # the thread closes it

    def end(self) -> None:
        """Report a normal exit of this rank where no launcher observes it."""
        self._send(ended=0)

    def close(self) -> None:
        """Close the connection."""
        self._closed = True
        sockets = [self._socket, *([self._beats] if self._beats else [])]
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        for each in sockets:
            each.close()

    def _send(self, **what: object) -> bool:
        try:
            with self._sends:
                self._socket.sendall(_line(what))
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
                if self.launched and not self._send(beat=True):  # otherwise a native thread beats
                    return self._lost()
                continue
            except OSError:
                data = b""
            *messages, rest = (rest + data).split(b"\n")
            for each in map(json.loads, messages):
                if "failed" in each:
                    self._fail(each["failed"])
                elif "gathered" in each:
                    self._received(each["gathered"], each["values"])
                elif "joined" in each:
                    with self._news:
                        self._joined = True
                        self._news.notify_all()
                elif "pong" in each:
                    self._received(each["pong"], [each["clock"], time.time_ns()])
            if not data:
                return self._lost()

    def _lost(self) -> None:
        if not self._closed:
            watch = "launcher" if self.launched else "process that watches the ranks, beside rank 0,"
            self._fail(f"the {watch} is gone: its connection ended silently")

    def _received(self, number: int, values: list[Any]) -> None:
        with self._news:
            self._values[number] = values
            self._news.notify_all()

    def _fail(self, message: str) -> None:
        with self._lock:
            if self.failure:
                return
            self.failure = message
            listeners = list(self._listeners)
        for act in listeners:
            with contextlib.suppress(Exception):  # the other listeners are called in any case
                act(message)
        self._notified.set()
        with self._news:
            self._news.notify_all()


def host() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


def _line(what: dict[str, Any]) -> bytes:
    return json.dumps(what).encode() + b"\n"


_link: Link | None = None


def connect() -> Link | None:
    """Return this process's connection to its launcher, made at the first call; None if no launcher started it."""
    global _link
    address, rank = os.environ.get("FORERUN_LAUNCHER"), os.environ.get("FORERUN_RANK")
    if _link is None and address and rank:
        _link = Link(address, os.environ.get("FORERUN_LAUNCHER_KEY", ""), int(rank))
    return _link if _link and _link.pid == os.getpid() else None


def connect_to(address: str, key: str, rank: int) -> Link:
    """Connect this process to a watch that the ranks have started themselves."""
    global _link
    _link = Link(address, key, rank, launched=False)
    return _link


def disconnect() -> None:
    """Close this process's connection, if there is one."""
    global _link
    if _link:
        _link.close()
    _link = None


def raised(error: BaseException, where: str) -> None:
    """Report to the launcher, if there is one, that an exception ends this rank."""
    if link := connect():
        text = f"{type(error).__name__}: {error}".rstrip(": ").replace("\n", " ")
        link.raised(f"{text} at {where}" if where else text)
