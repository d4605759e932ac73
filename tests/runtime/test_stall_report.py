"""A wait without progress reports the operations that it waits for; pending operations can be listed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

import forerun
from forerun import np, npx
from forerun.testing import closed_gate
from tests.support.engine.settings import configured


class StalledChain:
    """A host task that ends when it is released, and three operations behind it."""

    def __init__(self) -> None:
        self.go, self.begun = threading.Event(), threading.Event()
        self.first = npx.host(self.task, [np.ones(3)], [((3,), "float32")], name="slow")[0]
        self.last = (self.first * 2).sum() + 1

    def task(self, v):
        self.begun.set()
        self.go.wait(60)
        return v

    def settle(self) -> None:
        """Return when the task runs, and the engine knows the dependencies."""
        assert self.begun.wait(60)
        while (stats := forerun.stats())["planned"] < stats["issued"]:
            time.sleep(0.001)


@pytest.fixture
def stalled() -> Iterator[StalledChain]:
    forerun.waitall()
    task = StalledChain()
    yield task
    task.go.set()
    forerun.waitall()


@pytest.fixture
def reports() -> Iterator[None]:
    with configured(hang_report=0.05):
        yield


def test_pending_names_running_and_waiting_operations(stalled):
    stalled.settle()
    with closed_gate():
        more = stalled.first + 1
        found = forerun.pending()
    by_name = {one.name: one for one in found}
    slow = by_name["slow"]
    assert (slow.state, slow.after, slow.queue, slow.device) == ("running", 0, "compute", 0)
    assert slow.site is not None
    assert slow.site[0] == __file__
    assert by_name["multiply"].state == "waiting"
    assert by_name["multiply"].after == slow.number
    assert by_name["sum"].after == by_name["multiply"].number
    assert found[-1].state == "issued"
    assert found[0] is slow
    assert forerun.pending(most=1) == [slow]
    stalled.go.set()
    more.wait()


def test_pending_lists_operations_that_wait_for_memory():
    with configured(memory_limit=forerun.memory()["live"] + (1 << 20)):
        large = np.ones(200_000)
        large.wait()
        with closed_gate():
            more = large + 1
            (one,) = forerun.pending()
        assert one.needs == 800_000
        del large, more
        forerun.waitall()


def test_pending_is_empty_after_all_has_ended():
    np.ones(3).wait()
    forerun.waitall()
    assert forerun.pending() == []
    with pytest.raises(ValueError, match="pending: most must not be negative, got -1"):
        forerun.pending(-1)


@pytest.mark.parametrize("wait", ["item", "waitall"])
def test_wait_without_progress_names_the_chain(reports, capfd, wait):
    stalled = StalledChain()  # after the settings have changed, which waits
    text: list[str] = []

    def watch() -> None:
        while "forerun.pending()" not in "".join(text):
            text.append(capfd.readouterr().err)
        stalled.go.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    stalled.settle()
    stalled.last.item() if wait == "item" else forerun.waitall()
    watcher.join()
    report = "".join(text)
    assert f"during a wait ({'wait' if wait == 'item' else 'waitall'}) at {__file__}:" in report
    lines = report[report.index("for\n") :].splitlines()[1:5]
    names = [line.split(",")[1].split()[0] for line in lines]
    assert sorted(names) == ["add", "multiply", "slow", "sum"]
    if wait == "item":
        assert names == ["add", "sum", "multiply", "slow"]  # from the awaited operation to the one that blocks it
    assert any(line.endswith(": runs") for line in lines)


def test_wait_with_progress_prints_nothing(capfd):
    def task(v):
        threading.Event().wait(0.02)
        return v + 1

    with configured(hang_report=1.0):
        x = np.ones(3)
        for _ in range(60):  # longer than that in all
            x = npx.host(task, [x], [((3,), "float32")])[0]
        assert x.tolist() == [61.0] * 3
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1.0, ValueError), ("1", TypeError), (True, TypeError)])
def test_bad_patience_is_refused(value, error):
    with pytest.raises(error, match="configure: hang_report must be"):
        forerun.configure(hang_report=value)
