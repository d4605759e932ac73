"""Fixtures of all tests: the engine in each of its modes, a gate that holds it, a check that nothing is left behind."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

import forerun
from forerun import _core
from tests.support.engine.resources import leaks, open_files, resource_counts
from tests.support.engine.settings import ENGINES, configured, running


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each mode of the engine; no failure may be left that no read has raised."""
    _core.unseen_failures()
    with running(request.param):
        yield request.param
        _core.quiesce()
        assert _core.unseen_failures() == []


@pytest.fixture(params=[mode for mode in ENGINES if mode != "sync"])
def ahead(request: pytest.FixtureRequest) -> Iterator[str]:
    """The modes in which the front end runs ahead, and errors come later than the call; none may be left."""
    _core.unseen_failures()
    with running(request.param):
        yield request.param
        _core.quiesce()
        assert _core.unseen_failures() == []


@pytest.fixture
def ahead_failing(ahead: str) -> Iterator[str]:
    """The modes in which errors come later than the call; those of inputs are not read."""
    yield ahead
    _core.quiesce()
    _core.unseen_failures()


@pytest.fixture
def many_switches() -> Iterator[None]:
    """The interpreter changes threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def one_worker() -> Iterator[None]:
    """A task that is held keeps everything else on the device from running."""
    with running("1 worker"):
        yield


@pytest.fixture
def four_workers() -> Iterator[None]:
    """Enough of them that some tasks may be held, and another goes on."""
    with running("4 workers"):
        yield


@pytest.fixture
def gate() -> Iterator[None]:
    """Nothing runs until the test opens the gate; a test that waits before is let through after a while, and fails."""
    opened: list[str] = []
    rescue = threading.Timer(60, lambda: (opened.append("waited"), _core.gate(False)))
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
def queued() -> Iterator[None]:
    """Small operations are queued like large ones; none runs in the call."""
    with configured(passes="drop,fuse,reuse"):
        yield


@pytest.fixture
def any_op_is_worth_a_group() -> Iterator[None]:
    """Small operations are fused like large ones."""
    _core.unseen_failures()
    _core.set_fuse_from(0)
    yield
    _core.set_fuse_from(500)


@pytest.fixture
def two_devices() -> Iterator[list[forerun.Device]]:
    """Two logical CPU devices while the test runs."""
    with configured(cpu_devices=2):
        yield forerun.devices()


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_an_exception() -> Iterator[None]:
    """Also where the tests were started with SIGINT ignored (in the background, by cron), which children inherit."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module", autouse=True)
def modules_are_there() -> None:
    """Modules that other files have imported stay: a collection need not visit them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test leaves arrays, memory, threads or files behind, or another environment or folder."""
    before, around = resource_counts(), surroundings()
    yield
    getattr(request.node, "funcargs", {}).clear()  # objects that other fixtures have made
    left = leaks(before)
    assert not left, f"left behind: {left}" + (f", of {open_files()}" if "files" in left else "")
    assert surroundings() == around


def surroundings() -> dict[str, str]:
    """The environment and the current folder: child processes get both.

    Without pytest's own variables, and those of OpenMP that scikit-learn sets when it is imported.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "KMP_"))}
    return variables | {"the current folder": os.getcwd()}
