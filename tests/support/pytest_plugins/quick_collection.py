"""Less work of pytest itself, which there is for each of thousands of tests.

Each process collects all tests before it runs one; the objects that this makes stay, and are not garbage. A process
beside others sends one report of a test that passes, in place of five messages.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from _pytest.runner import runtestprotocol

LISTED = 0.005  # seconds: what took less is not in the list of durations


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage during the collection, which would visit a million objects again and again."""
    gc.disable()
    try:
        result = yield
        gc.freeze()
        return result
    finally:
        gc.enable()


def said_by_others(report: pytest.TestReport) -> bool:
    """Whether the report of the call says it all: this one is of a fixture's work that passed, and took no time."""
    return report.when != "call" and report.passed and not report.sections and report.duration < LISTED


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test and report it, in one of several processes.

    Pytest's own way is taken where each message has a use: the first failure ends the run, tests are named as they
    begin, or a file lists all reports.
    """
    get = item.config.getoption
    if not hasattr(item.config, "workerinput") or get("maxfail") or get("verbose") > 0 or get("xmlpath"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if not said_by_others(report):
            item.ihook.pytest_runtest_logreport(report=report)
    return True
