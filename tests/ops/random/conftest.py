"""Each test draws the same numbers, whichever ran before."""

from __future__ import annotations

import pytest

from forerun import np


@pytest.fixture(autouse=True)
def seeded() -> None:
    np.random.seed(12)
