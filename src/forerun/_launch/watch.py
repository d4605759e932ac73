"""The server that all ranks are connected to: it observes the state of each, and notifies all when one has failed.

The launcher has it. Ranks that another launcher has started run this file as a process beside rank 0: it outlives that
rank, and imports only the standard library.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Member", "Watch", "start_beside"]

PATIENCE = 60.0  # seconds until the first rank must have connected
FROZEN = 5.0  # seconds without a sign of life
SOON = 0.5  # seconds in which the reason of an end becomes known
LONGEST_MESSAGE = 1 << 28
LONGEST_GREETING = 1 << 12


@dataclass
class Member:
    """The state of one rank."""

    rank: int
    host: str = "?"
    pid: int = 0
    kept: bool = False  # by a keeper
    started: bool = False
    left: bool = False  # its program has ended
    joined: bool = False  # it has come to its first operation between ranks
    closed: bool = False  # and has left MPI behind the last
    initializes: bool | None = None  # MPI, by itself, with the interpreter lock; False: it has
    ended: bool = False
    ended_at: float = 0.0
    status: int | None = None  # negative: the signal
    error: str = ""  # its exception, with the line
    waited: str = ""  # where it was when it learned of a failure of another rank
    beat: float = field(default_factory=time.monotonic)
    stopped: float = 0.0
    lost: float = 0.0  # when its connection ended silently

    def __str__(self) -> str:
        return f"rank {self.rank} (host {self.host}, pid {self.pid})"

    def fault(self, now: float) -> str:
        """Return a description of its failure, or an empty string."""
        if self.error:
            return f"{self} raised {self.error}"
        if self.status is not None and self.status < 0:
            return f"{self} was killed by signal {-self.status} ({signal.Signals(-self.status).name})"
        if self.status:
            return f"{self} ended with status {self.status}"
        if self.ended:
            return ""
        if self.stopped >= FROZEN:
            return f"{self} is frozen: it has been stopped for {self.stopped:.0f} s"
        if self.started and now - self.beat >= FROZEN:
            return f"{self} is frozen: there was no sign of life for {now - self.beat:.0f} s"
        if self.lost and now - self.lost >= SOON:
            return f"{self} is gone: its connection ended silently"
        return ""


class _Connection:
    def __init__(self, socket_: socket.socket) -> None:
        self.socket = socket_
        self.member: Member | None = None
        self.keeper = False
        self.heartbeat = False  # it carries signs of life alone, and the other side does not read
        self.rest = b""

    def send(self, **what: object) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(json.dumps(what).encode() + b"\n")


class Watch:
    """A server for the ranks of one program. Its thread ends with `close`.

    size: number of ranks. failed: called with the message when the first rank has failed. everywhere: ranks on other
    machines can connect.
    """

    def __init__(self, size: int, failed: Callable[[str], None] | None = None, everywhere: bool = False) -> None:
        self.members = [Member(rank) for rank in range(size)]
        self.key = secrets.token_hex(16)
        self.failure = ""
        self.failed_rank: int | None = None
        self.changed = threading.Condition()
        self._failed = failed
        self._listener = socket.create_server(("" if everywhere else "127.0.0.1", 0), backlog=size + 8)
        host = socket.gethostname() if everywhere else "127.0.0.1"
        self.address = f"{host}:{self._listener.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._connections: list[_Connection] = []
        self._gathers: dict[int, dict[int, Any]] = {}  # by number: values by rank
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="forerun-watch", daemon=True)
        self._thread.start()

    def signal(self, number: int, ranks: set[int] | None = None) -> None:
        """Send a signal to the ranks, or to some of them."""
        for each in self._keepers(ranks):
            each.send(signal=number)

    def release(self) -> None:
        """Let the keepers exit; each kills the processes that its rank has left behind."""
        for each in self._keepers():
            each.send(leave=True)

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._thread.join(5)
        for each in list(self._connections):
            self._drop(each)
        self._listener.close()

    def connected(self) -> bool:
        """Return whether anything is connected."""
        return bool(self._connections)

    def _keepers(self, ranks: set[int] | None = None) -> list[_Connection]:
        return [
            c for c in list(self._connections)
            if c.keeper and c.member and (ranks is None or c.member.rank in ranks)
        ]  # fmt: skip

    def _serve(self) -> None:
        while not self._closed:
            before = time.monotonic()
            events = self._selector.select(0.1)
            if time.monotonic() - before > 1.0:  # this process itself was stopped, so that no beat could be read
                for member in self.members:
                    member.beat = time.monotonic()
            for key, _ in events:
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.data, _Connection):
                    self._read(key.data)
            self._check()

    def _accept(self) -> None:
        connected, _ = self._listener.accept()
        connected.settimeout(5)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = _Connection(connected)
        self._connections.append(connection)
        self._selector.register(connected, selectors.EVENT_READ, connection)

    def _drop(self, connection: _Connection) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(connection.socket)
        connection.socket.close()
        if connection in self._connections:
            self._connections.remove(connection)

    def _read(self, connection: _Connection) -> None:
        try:
            data = connection.socket.recv(1 << 16)
        except OSError:
            data = b""
        *messages, connection.rest = (connection.rest + data).split(b"\n")
        try:
            for each in messages:
                self._handle(connection, json.loads(each))
        except (ValueError, KeyError, TypeError, IndexError):
            data = b""  # the messages are those of another program
        member = connection.member
        longest = LONGEST_MESSAGE if member else LONGEST_GREETING
        if not data or len(connection.rest) > longest:
            self._drop(connection)
            if member and not member.ended and (connection.keeper or not member.kept):
                member.lost = time.monotonic()

    def _handle(self, connection: _Connection, message: dict[str, Any]) -> None:
        if connection.member is None:
            if not hmac.compare_digest(str(message["key"]), self.key):
                raise ValueError("a stranger")
            connection.keeper, connection.heartbeat = "keeper" in message, "heartbeat" in message
            member = self.members[int(message["keeper" if connection.keeper else "rank"])]
            connection.member, member.host = member, str(message["host"])
            member.kept |= connection.keeper
            member.started = True
        member = connection.member
        member.beat = time.monotonic()
        if "pid" in message:
            member.pid = int(message["pid"])
        if "started" in message:
            member.pid = int(message["started"])
        if "stopped" in message:
            member.stopped = float(message["stopped"])
        if "raised" in message:
            self._raised(member, str(message["raised"]))
        if "ended" in message:
            member.ended, member.ended_at, member.status = True, member.beat, int(message["ended"])
        if "gather" in message:
            self._gathered(int(message["gather"]), member.rank, message["value"])
        if "leaves" in message:
            member.left = True
        if "closes" in message:
            member.closed = True
        if "joins" in message:
            member.joined = True
            if all(each.joined for each in self.members):
                self._send_ranks(joined=True)
        if "initializes" in message:
            member.initializes = bool(message["initializes"])
        if "ping" in message:
            connection.send(pong=message["ping"], clock=time.time_ns())
        if self.failure and "key" in message and not connection.keeper and not connection.heartbeat:
            connection.send(failed=self.failure)

    def _gathered(self, number: int, rank: int, value: object) -> None:
        """Take one rank's value; send those of all ranks when the last has come."""
        values = self._gathers.setdefault(number, {})
        values[rank] = value
        if len(values) == len(self.members):
            del self._gathers[number]
            self._send_ranks(gathered=number, values=[values[r] for r in range(len(values))])

    def _send_ranks(self, **what: object) -> None:
        for each in list(self._connections):
            if each.member and not each.keeper and not each.heartbeat:
                each.send(**what)

    def _fault(self, now: float) -> tuple[str, int] | None:
        """Return a description and the rank of a failure, or None."""
        for member in self.members:
            if fault := member.fault(now):
                return fault, member.rank
        for values in self._gathers.values():
            for member in self.members:
                if (member.left or member.ended) and member.rank not in values:
                    others = ", ".join(map(str, sorted(values)))
                    return f"{member} ended while ranks {others} wait for a value of it", member.rank
        for member in self.members:
            if (member.left or member.ended) and (fault := self._missed(member, now)):
                return f"{member} {fault}", member.rank
        return None

    def _missed(self, member: Member, now: float) -> str:
        """Return why others wait for a rank that has ended well, or nothing."""
        joined = sum(each.joined for each in self.members)
        if 0 < joined < len(self.members):
            return "ended before its first operation between ranks"
        if self.unreachable() and member.initializes is None and not member.joined:
            return "ended before it initialized MPI, where others wait for it"
        in_mpi = not member.closed if member.joined else member.initializes is not None and not member.left
        running = not all(each.ended for each in self.members)
        if in_mpi and running and member.ended and now - member.ended_at >= SOON:
            return "ended without leaving MPI, as by os._exit"
        return ""

    def unreachable(self) -> list[Member]:
        """Return the ranks that cannot be notified, because they wait for others in MPI's initialization."""
        return [member for member in self.members if member.initializes and not member.ended]

    def _raised(self, member: Member, text: str) -> None:
        """A rank that raises because another has failed has not failed itself."""
        if self.failure:
            member.waited = text
        else:
            member.error = text

    def _check(self) -> None:
        if not self.failure and (found := self._fault(time.monotonic())):
            self.failure, self.failed_rank = found
            self._send_ranks(failed=self.failure)
            if self._failed:
                self._failed(self.failure)
        with self.changed:
            self.changed.notify_all()


_started: list[subprocess.Popen[str]] = []  # which live until no rank is connected


def start_beside(size: int, everywhere: bool) -> tuple[str, str]:
    """Start a process that watches the ranks; return its address and its key. OSError if it does not start."""
    words = [sys.executable, "-I", "-S", __file__, str(size), str(int(everywhere))]
    # A session of its own: signals to the ranks' terminal must not end it. MPI's launcher waits until no process has
    # its output open.
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        words, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, text=True, start_new_session=True
    )
    _started.append(process)
    assert process.stdout is not None
    with process.stdout as output:
        address, _, key = output.readline().strip().partition(" ")
    if not key:
        raise OSError(f"the process that watches the ranks must start, got status {process.wait(5)}")
    return address, key


def _serve(size: int, everywhere: bool) -> None:
    """Watch until no rank is connected any more."""
    watch = Watch(size, everywhere=everywhere)
    sys.stdout.write(f"{watch.address} {watch.key}\n")
    sys.stdout.flush()
    end = time.monotonic() + PATIENCE
    while watch.connected() or (time.monotonic() < end and not any(member.started for member in watch.members)):
        time.sleep(0.2)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2] == "1")
