"""The lanes of devices of plugins and of the network: operations are handed over early, and end when these say so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..._runtime.device import FIRST_GPU

if TYPE_CHECKING:
    from ..events import Event

__all__ = ["NETWORK", "is_on_lane", "on_lanes"]

_FIRST = 1 << 16  # threads have smaller numbers
_QUEUES = ("compute", "copy", "io", "network")
NETWORK = 255  # the engine's number of the network between ranks, which is a device to it


def is_on_lane(e: Event) -> bool:
    """Whether an operation was handed over to a device of a plugin, or to the network."""
    return e.device >= FIRST_GPU


def on_lanes(events: list[Event]) -> list[Event]:
    """Return the events with a number of its own for each lane, and the times at which devices can have begun.

    Operations are handed over while others run, and any thread tells of their ends. Each began when it had been handed
    over, its operands were computed, and its lane had ended the one before.
    """
    ends = {number: e.ended for e in events for number in (e.seq, *e.members)}
    free: dict[int, float] = {}
    found = {}
    for e in sorted(filter(is_on_lane, events), key=lambda e: (e.ended, e.started)):
        lane = _FIRST + len(_QUEUES) * e.device + _QUEUES.index(e.queue or "compute")
        began = max([e.started, free.get(lane, 0.0), *_known(ends, e.deps)])
        found[e.seq] = replace(e, thread=lane, started=min(began, e.ended))
        free[lane] = max(e.ended, free.get(lane, 0.0))
    return [found.get(e.seq, e) for e in events]


def _known(ends: dict[int, float], numbers: Iterable[int]) -> list[float]:
    return [ends[number] for number in numbers if number in ends]
