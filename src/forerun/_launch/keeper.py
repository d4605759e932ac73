"""The process around one rank: starts it, prefixes its output, reports how it ends, and leaves nothing running.

It runs as a file, not as a module of the package, and imports only the standard library: it starts before forerun,
MPI and the program, and ends after them. Arguments: the command line of the rank. The variables FORERUN_LAUNCHER,
FORERUN_LAUNCHER_KEY and those of the MPI's launcher say where it belongs.

The keeper is the parent of the rank, so the kernel reports the signal of a death to it. It adopts the processes that
the rank leaves behind, and kills them. The rank dies with the keeper, and the keeper ends when the launcher has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time

BEAT = 0.2  # seconds between signs of life
PATIENCE = 3.0  # seconds between a polite signal and one that cannot be ignored, when the launcher is gone
LONGEST_LINE = 1 << 13
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36  # of prctl
RANKS = ("FORERUN_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


def own_rank() -> int:
    """Return the rank that the MPI's launcher gave to this process."""
    return next((int(os.environ[name]) for name in RANKS if name in os.environ), 0)


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process."""
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """Return the processes below one that have not ended: its children, theirs, and so on."""
    by_parent: dict[int, list[int]] = {}
    ended = set()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                by_parent.setdefault(int(parent), []).append(int(name))
                if state == b"Z":  # it may have children still, while its other threads end
                    ended.add(int(name))
    found, left = [], [pid]
    while left:
        below = by_parent.get(left.pop(), [])
        found += below
        left += below
    return [each for each in found if each not in ended]


def reap() -> None:
    """Take the status of every child that has ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def marked(pid: int, mark: bytes) -> bool:
    """Return whether a process has a text in its variables."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return mark in file.read()
    return False


def kill_descendants(mark: str = "") -> None:
    """Kill all processes below this one, also those that they start meanwhile. mark: only with this in a variable."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        below = [pid for pid in descendants(os.getpid()) if not mark or marked(pid, mark.encode())]
        if not below:
            return
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
        if not mark:
            reap()


class Output:
    """One stream of the rank, which goes on in whole lines with the rank in front."""

    def __init__(self, descriptor: int, target: int, prefix: bytes) -> None:
        self.descriptor, self._target, self._prefix, self._rest = descriptor, target, prefix, b""

    def pass_on(self) -> bool:
        """Pass on the available data; False at the end of the stream."""
        try:
            data = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return True
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if self._rest and (not data or len(self._rest) > LONGEST_LINE):
            lines, self._rest = [*lines, self._rest], b""
        self._write(b"".join(self._prefix + line + b"\n" for line in lines))
        return bool(data)

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # the reader has closed the stream
            while data:
                data = data[os.write(self._target, data) :]


class Keeper:
    """Between the launcher and one rank."""

    def __init__(self, words: list[str]) -> None:
        self.rank = own_rank()
        self._words = words
        self._stopped_since: float | None = None
        self._ended = False
        self._unread: bytes = b""
        self._signals_read, written = os.pipe()
        for end in (self._signals_read, written):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, lambda *_: None)
        prctl(SET_CHILD_SUBREAPER, 1)
        host, port = os.environ["FORERUN_LAUNCHER"].rsplit(":", 1)
        self._launcher = socket.create_connection((host, int(port)), timeout=60)
        self._selector = selectors.DefaultSelector()

    def send(self, **what: object) -> None:
        """Send a message to the launcher."""
        with contextlib.suppress(OSError):
            self._launcher.sendall(json.dumps(what).encode() + b"\n")

    def start(self) -> None:
        """Start the rank."""
        self.send(keeper=self.rank, key=os.environ["FORERUN_LAUNCHER_KEY"], host=socket.gethostname())
        own = os.getpid()

        def with_parent() -> None:
            prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != own:  # which had ended before
                os._exit(1)

        self._process = subprocess.Popen(
            self._words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            close_fds=False,  # MPI's launcher hands over sockets
            preexec_fn=with_parent,
            env={**os.environ, "FORERUN_RANK": str(self.rank)},
        )
        self.send(started=self._process.pid)
        prefix = f"[{self.rank}] ".encode() if os.environ.get("FORERUN_LAUNCHER_PREFIX") else b""
        streams = (self._process.stdout, 1), (self._process.stderr, 2)
        self._outputs = [Output(stream.fileno(), target, prefix) for stream, target in streams if stream]
        for output in self._outputs:
            os.set_blocking(output.descriptor, False)
            self._selector.register(output.descriptor, selectors.EVENT_READ, output)
        self._selector.register(self._launcher, selectors.EVENT_READ)
        self._selector.register(self._signals_read, selectors.EVENT_READ)

    def run(self) -> None:
        """Keep the rank until the launcher lets this process leave."""
        beat = 0.0
        while True:
            for key, _ in self._selector.select(max(0.0, beat - time.monotonic())):
                if isinstance(key.data, Output):
                    if not key.data.pass_on():
                        self._selector.unregister(key.fd)
                elif key.fd == self._signals_read:
                    self._forward_signals(os.read(self._signals_read, 64))
                elif not self._execute_commands():
                    kill_descendants()
                    return self._drain()
            self._check_children()
            if time.monotonic() >= beat:
                beat = time.monotonic() + BEAT
                stopped = self._stopped_since
                self.send(beat=True, stopped=time.monotonic() - stopped if stopped else 0)

    def _forward_signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number != signal.SIGCHLD:
                self._signal(number)

    def _signal(self, number: int) -> None:
        if not self._ended:
            with contextlib.suppress(OSError):
                os.kill(self._process.pid, number)

    def _check_children(self) -> None:
        """Read the state changes of all children; report the end of the rank."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid != self._process.pid:
                continue
            if os.WIFSTOPPED(status):
                self._stopped_since = time.monotonic()
            elif os.WIFCONTINUED(status):
                self._stopped_since = None
            else:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self._ended = True
                self._stopped_since = None
                kill_descendants()
                self._drain()
                self.send(ended=self._process.returncode)

    def _drain(self) -> None:
        for output in self._outputs:
            with contextlib.suppress(KeyError):
                self._selector.unregister(output.descriptor)
                while output.pass_on() and self._readable(output.descriptor):
                    pass

    @staticmethod
    def _readable(descriptor: int) -> bool:
        with selectors.DefaultSelector() as one:
            one.register(descriptor, selectors.EVENT_READ)
            return bool(one.select(0))

    def _execute_commands(self) -> bool:
        """Execute the launcher's commands; False if this process must end, also because the launcher has ended."""
        try:
            data = self._launcher.recv(1 << 12)
        except OSError:
            data = b""
        *messages, self._unread = (self._unread + data).split(b"\n")
        for each in map(json.loads, messages):
            if "signal" in each:
                self._signal(each["signal"])
            if "leave" in each:
                return False
        return bool(data)


def outlast_pmi_requests() -> None:
    """Leave a process behind that holds the rank's connection to MPI's launcher until that ends.

    A rank may end while a request of it is pending there. MPICH's launcher fails if no process can receive the answer,
    and the output of all ranks that it has not forwarded is lost.
    """
    held = int(os.environ.get("PMI_FD", -1))
    if held < 0 or os.fork():
        return
    for name in os.listdir("/proc/self/fd"):
        if int(name) != held:
            with contextlib.suppress(OSError):  # that of the folder
                os.close(int(name))
    ended = select.poll()
    ended.register(held, 0)  # reports only that the other side has closed
    ended.poll()


def main() -> None:
    """Run the command line of a rank; the launcher knows its status, and MPI's launcher need not."""
    keeper = Keeper(sys.argv[1:])
    keeper.start()
    keeper.run()
    outlast_pmi_requests()
    os._exit(0)


if __name__ == "__main__":
    main()
