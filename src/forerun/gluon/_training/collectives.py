"""Gradients summed over devices, and results handed round. CPU devices share memory: nothing is copied to be added.

Inside `exchanging()`, operations may read arrays of other devices where they are, and go before older ones that are
ready: so the sum of the last layer's gradients does not stand behind the backward pass of the first layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._runtime.device import Device
from ...ops._base import core as _core

__all__ = ["exchanging", "owners", "hand_round", "total"]

Copies = tuple[int, list[Any]]
"""The number of a parameter, and its arrays: one per device."""


@contextmanager
def exchanging() -> Iterator[None]:
    """Operations of this thread belong to an exchange between devices, and are not recorded for gradients."""
    recording, before = _core.set_recording(False), _core.set_exchanging(True)
    try:
        yield
    finally:
        _core.set_exchanging(before)
        _core.set_recording(recording)


def owners(params: Sequence[Copies], balanced: bool) -> dict[int, int]:
    """Which of each parameter's copies is the one that is summed for and updated, by the parameter's number.

    balanced: the largest parameters first, each goes to the device that has the fewest elements so far; else cpu(0) has
    all, or the first device where it has no copy. Follows from sizes and order alone.
    """
    if not balanced:
        return {i: next((k for k, x in enumerate(copies) if x.device.index == 0), 0) for i, copies in params}
    loads: dict[Device, int] = {}
    found = {}
    for i, copies in sorted(params, key=lambda one: (-one[1][0].size, one[0])):
        devices = [x.device for x in copies]
        found[i] = min(range(len(copies)), key=lambda k: (loads.get(devices[k], 0), k))
        loads[devices[found[i]]] = loads.get(devices[found[i]], 0) + copies[0].size
    return found


def total(arrays: Sequence[Any], at: int) -> Any:
    """The sum of one array per device, on the device of the one at that place: that one first, then the others."""
    found = arrays[at]
    for k, x in enumerate(arrays):
        found = found + x if k != at else found
    return found


def hand_round(arrays: Sequence[Any], at: int) -> None:
    """Gives all arrays the values of the one at that place."""
    for k, x in enumerate(arrays):
        if k != at:
            _core.assign(x, arrays[at])
