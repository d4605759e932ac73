"""Programs that get forerun as another package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.as_numpy_program import Run, programs_in, with_both


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs text as a file of the program, and gives its names; forerun is its NumPy."""
    with programs_in(tmp_path) as run:
        yield run


@pytest.fixture
def namespaces(tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """Names of the program with NumPy, and with forerun."""
    with with_both(tmp_path / "program") as spaces:
        yield spaces
