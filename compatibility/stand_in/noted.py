"""A pytest plugin that notes how each test ended as soon as it has, so that a run which breaks off loses nothing.

`--noted FILE` names the notes: a line of JSON per event, `[test, outcome, why, traceback]`, where the outcome is
"started" until the test has ended. Tests that are in the file already are left out. A test that takes longer than
`--patience` seconds fails.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

TEXT = 4000  # characters of a traceback, its end


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take two options."""
    parser.addoption("--noted", type=Path, required=True)
    parser.addoption("--patience", type=int, default=600)


def read(path: Path) -> dict[str, tuple[str, str, str]]:
    """Return the outcome of each test; of lines about one test the last holds, and an incomplete line is ignored."""
    notes = {}
    for line in path.read_text().split("\n")[:-1] if path.exists() else ():
        test, *rest = json.loads(line)
        notes[test] = tuple(rest)
    return notes


def forget(path: Path, *outcomes: str) -> None:
    """Take tests that ended so out of the notes."""
    kept = [[test, *rest] for test, rest in read(path).items() if rest[0] not in outcomes]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))


class Notes:
    """The file, open for the whole run."""

    def __init__(self, config: pytest.Config) -> None:
        path = config.getoption("--noted")
        self.known = read(path)
        self.patience = config.getoption("--patience")
        self.file = path.open("a", buffering=1)

    def note(self, test: str, outcome: str, why: str = "", text: str = "") -> None:
        self.file.write(json.dumps([test, outcome, " ".join(why.split())[:160], text[-TEXT:]]) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        done = [item for item in items if item.nodeid in self.known]
        items[:] = [item for item in items if item.nodeid not in self.known]
        config.hook.pytest_deselected(items=done)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.note(nodeid, "started")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.note(report.nodeid, report.outcome, reason(report), report.longreprtext)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        def over(*_: Any) -> NoReturn:
            raise TimeoutError(f"the test must end within {self.patience} seconds")

        before = signal.signal(signal.SIGALRM, over)
        signal.alarm(self.patience)
        try:
            return (yield)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)


def reason(report: pytest.TestReport) -> str:
    """Return in a line why a test did not pass."""
    if isinstance(report.longrepr, tuple):  # skipped: file, line, reason
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash else report.longreprtext


def pytest_configure(config: pytest.Config) -> None:
    """Begin."""
    config.pluginmanager.register(Notes(config))
