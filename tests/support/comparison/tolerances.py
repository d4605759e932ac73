"""Equality of values within a tolerance."""

from __future__ import annotations

from typing import Any

import numpy


def assert_close(found: Any, expected: Any, rtol: float = 1e-6, atol: float | None = None, message: str = "") -> None:
    """Assert that values differ by at most a tolerance. atol: that of numbers near 0, `rtol` by default."""
    numpy.testing.assert_allclose(
        numpy.asarray(found), numpy.asarray(expected), rtol, rtol if atol is None else atol, err_msg=message
    )
