"""A pytest plugin that runs tests which SciPy leaves out, or expects to fail, for array_api_strict by name.

The reasons are restrictions of that library ("No fancy indexing"), which forerun does not have. Tests that are left out
for every library but NumPy stay out, and so do those left out because SciPy makes its own arrays on the default device.
"""

from __future__ import annotations

import pytest

MARKS = {"skip_xp_backends", "xfail_xp_backends"}
OF_DEVICES = {"special functions don't work with 'device1'", "special/_support_alternative_backends"}


def is_about_strict(mark: pytest.Mark) -> bool:
    """Return whether a mark names array_api_strict alone, and a fault of that library alone."""
    named = mark.name in MARKS and mark.args == ("array_api_strict",)
    return named and mark.kwargs.get("reason") not in OF_DEVICES


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take such marks from tests, and from their classes and modules."""
    for item in items:
        for node in item.listchain():
            node.own_markers[:] = [mark for mark in node.own_markers if not is_about_strict(mark)]
