"""Recording calls as programs, for the front ends: the core's own functions."""

from __future__ import annotations

from .._core import (
    Array,
    capture,
    capture_drop,
    capture_end,
    capture_first_read,
    capture_maker,
    capture_paused,
    capture_refuse,
    capture_refused,
    capturing,
    recording,
    scalars,
    set_recording,
)

__all__ = [
    "Array",
    "capture",
    "capture_drop",
    "capture_end",
    "capture_first_read",
    "capture_maker",
    "capture_paused",
    "capture_refuse",
    "capture_refused",
    "capturing",
    "recording",
    "scalars",
    "set_recording",
]
