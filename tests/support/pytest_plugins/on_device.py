"""A plugin of pytest that runs the tests with another current device.

    python -m pytest -p tests.support.pytest_plugins.on_device --device gpu:0

Arrays of a test that names no device are then on that device, in threads of the test, too, and floats are equal if they
differ by some roundings (tests/support/comparison/nearness.py). Tests that cannot pass there are in
tests/devices/suite_exceptions.txt, by reason. They run, and are expected to fail; an entry none of whose tests fails
makes the run fail, so the list stays true.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import forerun
from tests.support.comparison import nearness
from tests.support.device_plugins import devices
from tests.support.paths import ROOT

LIST = ROOT / "tests" / "devices" / "suite_exceptions.txt"


@dataclass
class Entry:
    """Tests that cannot pass: the name of a file, a class, a function or a single test; `*` stands for anything."""

    pattern: str
    reason: str
    runs: bool  # tests of other entries would end the process, hang, or take minutes
    seen: set[str] = field(default_factory=set)  # outcomes

    def matches(self, name: str) -> bool:
        """Whether a test is one of these."""
        found = ".*".join(map(re.escape, self.pattern.split("*")))
        return re.fullmatch(rf"{found}((::|\[).*)?", name) is not None


def read_entries(path: Path = LIST) -> list[Entry]:
    """Return the entries of the list: a line with `#` is the reason of those that follow; `skip` in front skips one."""
    entries: list[Entry] = []
    reason = ""
    for line in filter(None, map(str.strip, path.read_text().splitlines())):
        if line.startswith("#"):
            reason = line.lstrip("# ")
        else:
            entries.append(Entry(line.removeprefix("skip "), reason, not line.startswith("skip ")))
    return entries


class OnDevice:
    """The hooks, for one device."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries = read_entries()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests of the list."""
        for item in items:
            for entry in self.entries:
                if entry.matches(item.nodeid):
                    mark = pytest.mark.xfail(reason=entry.reason, strict=False)
                    item.add_marker(mark if entry.runs else pytest.mark.skip(reason=entry.reason))

    @property
    def device(self) -> forerun.Device:
        """The device."""
        return forerun.gpu(int(self.name.rpartition(":")[2]))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[pytest.CollectReport]:
        """Make the arrays on the device that files of tests make when they are imported."""
        with self.device:
            report: pytest.CollectReport = yield
        return report

    @pytest.fixture(autouse=True)
    def current_device(self, fresh: None) -> Iterator[None]:
        """Make new arrays of each test on the device, those of its threads, too."""
        start = threading.Thread.start

        def start_there(thread: threading.Thread) -> None:
            run = thread.run

            def run_there() -> None:
                del thread.run
                with self.device:
                    run()

            thread.run = run_there  # type: ignore[method-assign]
            start(thread)

        with pytest.MonkeyPatch.context() as patch, self.device:
            patch.setattr(threading.Thread, "start", start_there)
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[pytest.TestReport]:
        """Ignore leaks of a test of the list: the traceback of its failure holds arrays."""
        report: pytest.TestReport = yield
        if report.when == "teardown" and report.failed and item.get_closest_marker("xfail"):
            report.outcome, report.longrepr = "passed", None
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcomes of the tests of the list."""
        if report.when == "call" or report.outcome == "failed":
            for entry in self.entries:
                if entry.matches(report.nodeid):
                    entry.seen.add(report.outcome)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail if an entry is not needed."""
        self.unneeded = [entry for entry in self.entries if entry.runs and entry.seen == {"passed"}]
        if self.unneeded and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which entries are not needed."""
        for entry in self.unneeded:
            terminalreporter.write_line(f"{LIST.name}: all tests of {entry.pattern} have passed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--device", help='the current device of tests, "gpu:0"')


def pytest_configure(config: pytest.Config) -> None:
    """Open the plugin, whose devices stay visible, and compare as its devices compute."""
    if name := config.getoption("--device"):
        nearness.replace_exact_comparisons()
        devices.gpus(modules=ROOT / "build" / "gpu" / "suite")
        config.pluginmanager.register(OnDevice(name))
