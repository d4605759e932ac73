"""The all-reduce of gradients over devices: a sum, and a broadcast. CPU devices share memory: sums copy nothing.

Inside `collective_scope()`, operations may read arrays of other devices in place, and run before older ones that are
ready: so the sum of the last layer's gradients does not wait for the backward pass of the first layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._runtime.device import Device
from ...ops._base import core as _core

__all__ = ["collective_scope", "owners", "broadcast_to_replicas", "reduce_replicas"]

Copies = tuple[int, list[Any]]
"""The number of a parameter, and its arrays: one per device."""


@contextmanager
def collective_scope() -> Iterator[None]:
    """Marks operations of this thread as a collective of several devices, and does not record them for gradients."""
    recording, before = _core.set_recording(False), _core.set_in_collective(True)
    try:
        yield
    finally:
        _core.set_in_collective(before)
        _core.set_recording(recording)


def owners(params: Sequence[Copies], balanced: bool) -> dict[int, int]:
    """Return the number of each parameter's copy whose device sums the gradients and updates the parameter.

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


def reduce_replicas(arrays: Sequence[Any], at: int) -> Any:
    """Return the sum of one array per device, on the device of arrays[at]: that one first, then the others in order."""
    found = arrays[at]
    for k, x in enumerate(arrays):
        found = found + x if k != at else found
    return found


def broadcast_to_replicas(arrays: Sequence[Any], at: int) -> None:
    """Copy the values of arrays[at] into all others."""
    for k, x in enumerate(arrays):
        if k != at:
            _core.assign(x, arrays[at])
