"""Programs that get forerun as another package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.as_numpy_program import Run, running


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs text as a file of the program, and gives its names; forerun is its NumPy."""
    with running(tmp_path) as run:
        yield run
