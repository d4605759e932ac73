"""`torch.cuda` as far as programs ask it: without a GPU it waits for the CPU devices, and has nothing to show."""

from __future__ import annotations

from .._runtime import core as _core
from .._runtime.device import num_gpus
from .places import Where, where

__all__ = ["is_available", "device_count", "current_device", "synchronize", "empty_cache", "memory_allocated"]


def is_available() -> bool:
    """Return whether there is a GPU."""
    return num_gpus() > 0


def device_count() -> int:
    """Return the number of GPUs."""
    return num_gpus()


def current_device() -> int:
    """Return number of the GPU in use: 0. Raises RuntimeError without a GPU."""
    if not is_available():
        raise RuntimeError("cuda.current_device: there must be a GPU, got none")
    return 0


def synchronize(device: Where = None) -> None:
    """Wait until the work issued so far has ended, also that of CPU devices.

    device: accepted, and checked; work on all devices is waited for, since what one device does may be needed by
    another. Programs written for GPUs so measure the same on a machine without one. Raises ValueError for a device
    that does not exist.

    >>> from forerun import torch
    >>> y = torch.ones(3) * 2
    >>> torch.cuda.synchronize()
    >>> y.ready
    True
    """
    if device is not None:
        where(device)
    _core.waitall()


def empty_cache() -> None:
    """Give cached memory back to the system."""
    _core.empty_cache()


def memory_allocated(device: Where = None) -> int:
    """Return bytes of the live arrays of a device."""
    return int(_core.memory(where(device).index)["live"])
