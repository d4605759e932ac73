"""A time limit for each test: one that hangs prints the pending operations and the line of every thread, and ends the
run."""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from collections.abc import Iterator

import pytest

import forerun

LIMIT = 300.0  # seconds: no test takes a tenth of it, on a machine that does something else beside
STATUS = 70  # of the run that it ends


class Watchdog(threading.Thread):
    """Looks once a second whether the test that runs now is over its time."""

    def __init__(self, config: pytest.Config, limit: float) -> None:
        super().__init__(daemon=True, name="watchdog")
        self.config, self.limit = config, limit
        self.test, self.since = "", float("inf")

    def run(self) -> None:
        while True:
            time.sleep(min(1.0, self.limit / 4))
            if time.monotonic() - self.since > self.limit:
                self.end_run()

    def end_run(self) -> None:
        capture = self.config.pluginmanager.getplugin("capturemanager")
        if capture:
            capture.suspend_global_capture(in_=True)
        lines = [f"\n{self.test} has not ended within {self.limit} s. Pending:", *map(str, forerun.pending())]
        os.write(2, ("\n".join(lines) + "\n").encode())
        faulthandler.dump_traceback(file=2, all_threads=True)
        os._exit(STATUS)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.test, self.since = item.nodeid, time.monotonic()
        result = yield
        self.since = float("inf")
        return result


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--limit", type=float, default=LIMIT, help="seconds that one test may take")


def pytest_configure(config: pytest.Config) -> None:
    watchdog = Watchdog(config, config.getoption("--limit"))
    config.pluginmanager.register(watchdog)
    watchdog.start()
