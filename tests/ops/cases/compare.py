"""A test for each row of the table."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ops.cases.table import Case


def by_name(cases: list[Case]) -> Any:
    """One test per row."""
    return pytest.mark.parametrize("case", cases, ids=lambda c: c.name)
