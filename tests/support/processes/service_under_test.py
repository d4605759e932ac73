"""The service of examples/service.py with a meter in its loop and a gate before its engine, for test_service.py.

python -m tests.support.processes.service_under_test      # prints the port that it listens on
"""

from __future__ import annotations

import asyncio
import os
import resource
import selectors
import socket
import sys
import time

from aiohttp import web

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "examples"))

import service
from forerun import _core


def seconds_without_core() -> list[float]:
    """For each thread of the process, this one first, how many seconds it has been ready to run and had no core."""
    threads = sorted(os.listdir("/proc/self/task"), key=lambda thread: int(thread) != os.getpid())
    found = []
    for thread in threads:
        with open(f"/proc/self/task/{thread}/schedstat") as file:
            found.append(int(file.read().split()[1]) / 1e9)
    return found


def voluntary_context_switches() -> int:
    """How often this thread has slept of its own accord."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


class Meter(selectors.DefaultSelector):
    """The selector of a loop: it sees when a turn begins and ends, and keeps the time for which it blocked itself.

    turn: the longest time from one poll of the sockets to the next, in seconds. How long the thread computed; and if it
    slept, as it would in a wait, how long the turn took, without the time for which this thread, or the one that it may
    have slept for, had no core.
    turns: the times of all turns together.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turn = self.turns = 0.0
        self.begin()

    def begin(self) -> None:
        """A turn begins."""
        self.before = seconds_without_core()
        self.slept, self.cpu, self.clock = voluntary_context_switches(), time.thread_time(), time.monotonic()

    def end(self) -> None:
        """It ends."""
        took, computed = time.monotonic() - self.clock, time.thread_time() - self.cpu
        if voluntary_context_switches() > self.slept:
            own, *others = (now - then for now, then in zip(seconds_without_core(), self.before))
            computed = max(computed, took - own - max(others, default=0.0))
        self.turn = max(self.turn, computed)
        self.turns += computed

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Between two turns."""
        self.end()
        ready = super().select(timeout)
        self.begin()
        return ready

    async def read(self, request: web.Request) -> web.Response:
        """GET /meter: the measurements since the last time."""
        seen = {"turn": self.turn, "turns": self.turns, "threads": len(os.listdir("/proc/self/task"))}
        self.turn = self.turns = 0.0
        return web.json_response(seen)


async def gate(request: web.Request) -> web.Response:
    """POST /gate: "true" closes it, "false" opens it."""
    _core.gate(await request.json())
    return web.Response()


async def open_gate(app: web.Application) -> None:
    """At the shutdown: held operations run to their end."""
    _core.gate(False)


def main() -> None:
    """Serve."""
    meter = Meter()
    app = service.make_app()
    app.add_routes([web.post("/gate", gate), web.get("/meter", meter.read)])
    app.on_shutdown.append(open_gate)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        service.serve(app, sock=listening, print=None, loop=asyncio.SelectorEventLoop(meter))


if __name__ == "__main__":
    main()
