"""Recording calls as programs, for the front ends: the core's own functions."""

from __future__ import annotations

from .._core import (
    Array,
    capture_maker,
    capture_paused,
    capture_refuse,
    capturing,
    recording,
    scalars,
    set_recording,
    training,
)

__all__ = [
    "Array",
    "capture_maker",
    "capture_paused",
    "capture_refuse",
    "capturing",
    "recording",
    "scalars",
    "set_recording",
    "training",
]
