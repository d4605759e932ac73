"""Settings of the engine for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
