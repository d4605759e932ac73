"""Settings of the engine for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import forerun
from forerun._runtime.settings import _apply as put_back


@contextmanager
def configured(**settings: Any) -> Iterator[None]:
    """Other settings inside the block; as they were after it."""
    before = forerun.config()
    forerun.configure(**settings)
    try:
        yield
    finally:
        put_back(before)


ENGINES: dict[str, dict[str, Any]] = {
    "sync": {"engine": "sync"},
    "1 worker": {"engine": "async", "workers": 1},
    "4 workers": {"engine": "async", "workers": 4},
}


def running(mode: str) -> AbstractContextManager[None]:
    """The engine in a mode inside the block; as it was after it."""
    return configured(**ENGINES[mode])
