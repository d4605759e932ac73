"""The engine with all passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.engine.passes import ALL
from tests.support.engine.settings import configured


@pytest.fixture
def improving() -> Iterator[None]:
    """All passes, one worker."""
    with configured(engine="async", workers=1, passes=ALL):
        yield
