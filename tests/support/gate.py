"""A gate that holds the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forerun import _core


@contextmanager
def closed_gate() -> Iterator[None]:
    """Inside, the engine plans and starts nothing."""
    _core.gate(True)
    try:
        yield
    finally:
        _core.gate(False)
