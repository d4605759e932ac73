"""A pytest plugin that runs tests which SciPy leaves out, or expects to fail, for array_api_strict by name.

The reasons are what that library refuses ("No fancy indexing"), and forerun does not. Tests that are left out for
every library but NumPy stay out.
"""

from __future__ import annotations

import pytest

MARKS = {"skip_xp_backends", "xfail_xp_backends"}


def is_about_strict(mark: pytest.Mark) -> bool:
    """Return whether a mark names array_api_strict and nothing else."""
    return mark.name in MARKS and mark.args == ("array_api_strict",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take such marks from tests, and from their classes and modules."""
    for item in items:
        for node in item.listchain():
            node.own_markers[:] = [mark for mark in node.own_markers if not is_about_strict(mark)]
