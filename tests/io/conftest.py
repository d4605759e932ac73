"""Arrays whose values come late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from forerun import _core
from tests.support.engine.late_arrays import HeldTask


@pytest.fixture
def late_array() -> Iterator[Callable[..., Any]]:
    """Makes arrays that have values at the end of the test, or when `go` is set."""
    go = threading.Event()

    def late(x: Any, queue: str = "compute") -> Any:
        return HeldTask(x, go=go, queue=queue).result

    late.go = go  # type: ignore[attr-defined]
    yield late
    go.set()
    _core.wait_mark(_core.mark())
