"""Starts the ranks of a program, waits for all of them, and starts them again after a failure."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

from . import keeper
from .mpi import command_line
from .watch import FROZEN, Member, Watch

__all__ = ["Launch", "launch"]

GRACE = 30.0  # seconds that ranks have to end after another has failed,
PROMPTNESS = 1.0  # and those that cannot learn of it
FIRMNESS = 5.0  # seconds between asking a rank to end and killing it
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Launch:
    """A program to run in several ranks.

    words: the command line of each rank. restarts: how often all start again after a failure.
    """

    size: int
    words: list[str]
    restarts: int = 0
    hosts: str | None = None
    grace: float = GRACE
    prefix: bool = True
    interrupted: int = field(default=0, init=False)  # the signal that was to end all
    asked: float = field(default=0.0, init=False)


def launch(given: Launch) -> int:
    """Run all ranks to their end; return the status of the first that failed, 0 if none did.

    Raises MPINotFound.
    """
    keeper.prctl(keeper.SET_CHILD_SUBREAPER, 1)  # adopts the children of a killed keeper
    for attempt in range(given.restarts + 1):
        status = _once(given, attempt)
        if status == 0 or given.interrupted or attempt == given.restarts:
            return status
        _say(f"starts all ranks again: restart {attempt + 1} of {given.restarts}")
    raise AssertionError("the last attempt returns")


def _say(text: str) -> None:
    sys.stderr.write(f"forerun run: {text}\n")  # at once, since ranks write there, too
    sys.stderr.flush()


def _once(given: Launch, attempt: int) -> int:
    watch = Watch(given.size, _say, everywhere=bool(given.hosts))
    own = {
        "FORERUN_LAUNCHER": watch.address,
        "FORERUN_LAUNCHER_KEY": watch.key,
        "FORERUN_SIZE": str(given.size),
        "FORERUN_RESTART": str(attempt),
        "PYTHONUNBUFFERED": "1",  # so that the output of a killed rank is complete
    }
    if given.prefix:
        own["FORERUN_LAUNCHER_PREFIX"] = "1"
    words = [sys.executable, "-I", "-S", keeper.__file__, *given.words]
    before = dict(os.environ)
    os.environ.update(own)
    try:
        line = command_line(given.size, words, given.hosts) if given.size > 1 else words
        with _signals(given, watch):
            started = subprocess.Popen(line, start_new_session=True)
            try:
                return _waited(given, watch, started)
            finally:
                _clean(watch, started)
    finally:
        os.environ.clear()
        os.environ.update(before)
        watch.close()


@contextlib.contextmanager
def _signals(given: Launch, watch: Watch) -> Iterator[None]:
    """Forward signals to all ranks."""

    def pass_on(number: int, _: FrameType | None) -> None:
        if number in ENDING:
            if given.interrupted:  # for the second time: at once
                given.asked = -FIRMNESS
            elif not given.asked:
                given.asked = time.monotonic()
            given.interrupted = number
        watch.signal(number)

    before = {number: signal.signal(number, pass_on) for number in PASSED_ON}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _waited(given: Launch, watch: Watch, started: subprocess.Popen[bytes]) -> int:
    """Wait until all ranks have ended, and kill those that do not; return the status."""
    failed_at, gone_at, asked = 0.0, 0.0, False
    killed: set[int] = set()
    while not all(member.ended for member in watch.members):
        with watch.changed:
            watch.changed.wait(0.1)
        now = time.monotonic()
        if started.poll() is not None:
            gone_at = gone_at or now
            if now - gone_at > 1.0:  # the last messages of the keepers have arrived
                break
        if watch.failure and not failed_at:
            failed_at = now
            if watch.failed_rank is not None and "is frozen" in watch.failure:  # so that it does not continue
                watch.signal(signal.SIGKILL, {watch.failed_rank})
        unreachable = [member for member in watch.unreachable() if member.rank not in killed]
        if failed_at and now - failed_at > PROMPTNESS and unreachable:
            killed |= {member.rank for member in unreachable}
            _kill(watch, unreachable, "wait for others while MPI is initialized")
        late = (failed_at and now - failed_at > given.grace) or (given.asked and now - given.asked > FIRMNESS)
        if late and not asked:
            asked, failed_at = True, failed_at or now
            _kill(watch, [member for member in watch.members if not member.ended], "have not ended")
        elif failed_at and now - failed_at > given.grace + FROZEN:
            break  # the keepers themselves do not answer
    return _status(given, watch, started)


def _kill(watch: Watch, members: list[Member], why: str) -> None:
    _say(f"kills the ranks that {why}: {', '.join(map(str, members))}")
    watch.signal(signal.SIGKILL, {member.rank for member in members})


def _status(given: Launch, watch: Watch, started: subprocess.Popen[bytes]) -> int:
    for member in watch.members:
        if member.waited:
            _say(f"{member} learned of it: {member.waited}")
    if given.interrupted:
        return 128 + given.interrupted
    if watch.failed_rank is not None:
        status = watch.members[watch.failed_rank].status or 1
        return status if status > 0 else 128 - status
    if not all(member.ended for member in watch.members):
        status = started.returncode or 1
        _say(f"the launcher of MPI ended with status {status} before the ranks did")
        return status if 0 < status < 256 else 1
    return 0


def _clean(watch: Watch, started: subprocess.Popen[bytes]) -> None:
    """Leave nothing running."""
    watch.release()
    try:
        started.wait(FIRMNESS)
    except subprocess.TimeoutExpired:
        started.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(1)
    keeper.kill_descendants(watch.key)
    with contextlib.suppress(OSError, ChildProcessError):
        started.wait(1)
