"""Which rank this process is, and small values of all ranks, which travel by the launcher."""

from __future__ import annotations

import os
from typing import Any

from .._launch import link

__all__ = ["gathered", "rank", "size"]


def rank() -> int:
    """Return the number of this rank, from 0."""
    return int(os.environ.get("FORERUN_RANK", "0"))


def size() -> int:
    """Return the number of ranks."""
    return int(os.environ.get("FORERUN_SIZE", "1"))


def gathered(op: str, value: Any) -> list[Any]:
    """Return values of all ranks, which are JSON's: each rank must call it as often as the others. Waits."""
    if size() == 1:
        return [value]
    connection = link.connect()
    if connection is None:
        raise RuntimeError(f"{op}: ranks must be started by `forerun run -n`, got {size()} ranks without its launcher")
    return connection.gather(value)
