"""What all tests share: the engine in each of its modes, a gate that holds it, and defaults put back."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import forerun
from forerun import _core, npx
from forerun.config import _apply as put_back
from leaks import held, settled

ENGINES: dict[str, dict[str, Any]] = {
    "sync": {"engine": "sync"},
    "1 worker": {"engine": "async", "workers": 1},
    "4 workers": {"engine": "async", "workers": 4},
}


@contextmanager
def running(mode: str) -> Iterator[None]:
    """The engine in a mode inside the block; as it was after it."""
    before = forerun.config()
    forerun.configure(**ENGINES[mode])
    try:
        yield
    finally:
        put_back(before)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each mode of the engine; no failure may be left that no read has raised."""
    _core.unseen_failures()
    with running(request.param):
        yield request.param
        _core.quiesce()
        assert _core.unseen_failures() == []


@contextmanager
def closed_gate() -> Iterator[None]:
    """Inside, the engine plans and starts nothing."""
    _core.gate(True)
    try:
        yield
    finally:
        _core.gate(False)


@pytest.fixture
def gate() -> Iterator[None]:
    """Nothing runs until the test opens the gate; a test that waits before is let through after a while, and fails."""
    opened: list[str] = []
    rescue = threading.Timer(20, lambda: (opened.append("waited"), _core.gate(False)))
    _core.waitall()
    _core.gate(True)
    rescue.start()
    yield
    rescue.cancel()
    rescue.join()
    _core.gate(False)
    _core.waitall()
    assert not opened


@pytest.fixture
def two_devices() -> Iterator[list[forerun.Device]]:
    """Two logical CPU devices while the test runs."""
    before = forerun.config()
    forerun.configure(cpu_devices=2)
    yield forerun.devices()
    put_back(before)


@pytest.fixture(scope="session", autouse=True)
def modules_are_there() -> None:
    """What is imported by now stays: a collection need not look at it each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test leaves arrays, memory, threads or files behind."""
    before = held()
    yield
    getattr(request.node, "funcargs", {}).clear()  # what other fixtures have made
    left = settled(before)
    assert not left, f"left behind: {left}"


@pytest.fixture(autouse=True)
def default_dtypes() -> Iterator[None]:
    """Creation gives float32 in each test, whatever one before has set."""
    npx.reset_np()
    yield
    npx.reset_np()
