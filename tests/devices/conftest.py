"""GPUs are seen by these tests alone."""

from collections.abc import Iterator

import pytest

from forerun import _core
from tests.support.device_plugins.devices import hide


@pytest.fixture(autouse=True)
def seen_here_alone() -> Iterator[None]:
    """The plugin that a test has opened stays open, but other tests have no GPUs."""
    _core.forget_fallbacks()
    yield
    hide()
