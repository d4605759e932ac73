"""The plugins that modules are run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pjrt_plugin import Plugin, paths, plugin_of


@pytest.fixture(params=paths() or [None], ids=lambda path: path.stem if path else "none")
def plugin(request: pytest.FixtureRequest) -> Plugin:
    """Each plugin that is installed for tests."""
    path: Path | None = request.param
    if path is None:
        pytest.skip("no PJRT plugin: pip install --no-deps --target build/plugins/xla-cpu-pjrt xla-cpu-pjrt")
    return plugin_of(path)
