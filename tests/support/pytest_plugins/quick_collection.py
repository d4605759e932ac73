"""Each process collects all tests before it runs one; the objects that this makes stay, and are not garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage during the collection, which would visit a million objects again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
