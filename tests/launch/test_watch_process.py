"""The process that watches ranks which another launcher has started, and a rank's connection to it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from forerun import _core
from forerun._launch import link, watch
from tests.support.engine.resources import open_files


@pytest.fixture(name="ranks")
def two_connected_ranks() -> Iterator[list[link.Link]]:
    """Connections of ranks 0 and 1, both of this process, with quick heartbeats."""
    before = len(open_files())
    address, key = watch.start_beside(2, everywhere=False)
    found = [link.Link(address, key, rank, launched=False) for rank in (0, 1)]
    for each in found:
        each.beat(lambda socket, line, _: _core.net_heartbeat(socket, line, 0.02), address)
    yield found
    for each in found:
        each.close()
    end = time.monotonic() + 10
    while len(open_files()) > before and time.monotonic() < end:  # native threads close some at their next beat
        time.sleep(0.01)


def failure_of(rank: link.Link) -> str:
    """The failure that a rank learns of within three seconds, or nothing."""
    end = time.monotonic() + 3
    while not rank.failure and time.monotonic() < end:
        time.sleep(0.01)
    return rank.failure


def wait_for_the_end() -> None:
    """The process ends behind the last rank."""
    assert watch._started.pop().wait(20) == 0


def test_a_killed_rank_is_reported(ranks: list[link.Link]) -> None:
    ranks[1].close()
    assert failure_of(ranks[0]).endswith("is gone: its connection ended silently")
    assert failure_of(ranks[0]).startswith("rank 1 (host ")
    ranks[0].close()
    wait_for_the_end()


def test_a_rank_that_exited_normally_is_not_reported(ranks: list[link.Link]) -> None:
    ranks[1].end()
    ranks[1].close()
    assert failure_of(ranks[0]) == ""
    ranks[0].close()
    wait_for_the_end()


def test_an_exception_is_reported(ranks: list[link.Link]) -> None:
    ranks[1].raised("ValueError: a mistake")
    assert failure_of(ranks[0]).endswith("raised ValueError: a mistake")
    for each in ranks:
        each.close()
    wait_for_the_end()


def test_a_rank_is_notified_when_the_watch_process_exits(ranks: list[link.Link]) -> None:
    watch._started[-1].kill()
    watch._started.pop().wait()
    assert (
        failure_of(ranks[0])
        == "the process that watches the ranks, beside rank 0, is gone: its connection ended silently"
    )


def test_a_process_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(OSError, match="the process that watches the ranks must start, got status 1"):
        watch.start_beside(2, everywhere=False)
    watch._started.pop()
