"""GPUs are seen by these tests alone."""

from collections.abc import Iterator

import pytest

from forerun import _core
from tests.support.device_plugins.devices import NAME, gpus, hide
from tests.support.device_plugins.plugins import FILES


@pytest.fixture(scope="session", autouse=True)
def opened() -> None:
    """Open a plugin of GPUs before the first test, which would leave the files behind that it keeps open."""
    if NAME not in FILES:
        gpus()
        hide()


@pytest.fixture(autouse=True)
def seen_here_alone() -> Iterator[None]:
    """The plugin that a test has opened stays open, but other tests have no GPUs."""
    _core.forget_fallbacks()
    yield
    hide()
