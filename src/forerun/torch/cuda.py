"""`torch.cuda` as far as programs ask it: without a GPU it waits for the CPU devices."""

from __future__ import annotations

from .._display.namespaces import dir_of
from .._runtime import core as _core
from .._runtime.device import Device, info, num_gpus
from .._runtime.device import current_device as current_place
from .places import Where, where

__all__ = [
    "is_available", "device_count", "current_device", "get_device_name", "synchronize", "empty_cache",
    "memory_allocated", "max_memory_allocated", "mem_get_info",
]  # fmt: skip
__dir__ = dir_of(__name__)


def is_available() -> bool:
    """Return whether the machine has a GPU that a plugin can use.

    Returns
    -------
    bool
        False without one.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cuda.is_available() == (torch.cuda.device_count() > 0)
    True
    """
    return num_gpus() > 0


def device_count() -> int:
    """Return the number of GPUs.

    Returns
    -------
    int
        0 without one.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cuda.device_count() >= 0
    True
    """
    return num_gpus()


def current_device() -> int:
    """Return the number of the current device if it is a GPU, otherwise 0.

    Returns
    -------
    int
        The number of a GPU.

    Raises
    ------
    RuntimeError
        Without a GPU.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cuda.current_device() if torch.cuda.is_available() else 0
    0
    """
    if not is_available():
        raise RuntimeError("cuda.current_device: there must be a GPU, got none")
    return _gpu(None).device_id


def synchronize(device: Where = None) -> None:
    """Wait until the work issued so far has ended, also that of CPU devices.

    Work on all devices is waited for, since one device may need the results of another. So programs written for GPUs
    measure the same on a machine without one.

    Parameters
    ----------
    device : Device, str or int, optional
        A device, which must exist.

    Raises
    ------
    ValueError
        If there is no such device.

    Examples
    --------
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
    """Give cached memory back to the system.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cuda.empty_cache()
    """
    _core.empty_cache()


def memory_allocated(device: Where = None) -> int:
    """Return the bytes of the live arrays of a device.

    Parameters
    ----------
    device : Device, str or int, optional
        The device; None for the current GPU, or without a GPU for the current CPU device.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    ValueError
        If there is no such device.

    Examples
    --------
    >>> from forerun import torch
    >>> x = torch.ones(1000)
    >>> torch.cuda.synchronize()
    >>> torch.cuda.memory_allocated(x.device) >= 4000
    True
    """
    return int(_core.memory(_counted(device).index)["live"])


def max_memory_allocated(device: Where = None) -> int:
    """Return the most bytes that live arrays of a device have taken.

    Parameters
    ----------
    device : Device, str or int, optional
        The device; None for the current GPU, or without a GPU for the current CPU device.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    ValueError
        If there is no such device.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated()
    True
    """
    return int(_core.memory(_counted(device).index)["peak"])


def mem_get_info(device: Where = None) -> tuple[int, int]:
    """Return the bytes of a GPU's memory.

    Parameters
    ----------
    device : Device, str or int, optional
        The device; None for the current GPU, or the first.

    Returns
    -------
    (int, int)
        Those that are free, and all.

    Raises
    ------
    ValueError
        Without a GPU.
    RuntimeError
        If the plugin does not count them.

    Examples
    --------
    >>> from forerun import torch
    >>> free, total = torch.cuda.mem_get_info()  # doctest: +SKIP
    """
    facts = info(_gpu(device))
    if facts["memory_limit"] is None or facts["memory_in_use"] is None:
        raise RuntimeError(f"cuda.mem_get_info: the plugin must count the memory of {_gpu(device)}, got no count")
    return facts["memory_limit"] - facts["memory_in_use"], facts["memory_limit"]


def get_device_name(device: Where = None) -> str:
    """Return the model of a GPU, as its plugin names it.

    Parameters
    ----------
    device : Device, str or int, optional
        The device; None for the current GPU, or the first.

    Returns
    -------
    str
        The name.

    Raises
    ------
    ValueError
        Without a GPU.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cuda.get_device_name()  # doctest: +SKIP
    'NVIDIA H100'
    """
    return str(info(_gpu(device))["kind"])


def _gpu(device: Where) -> Device:
    """Return the GPU meant: None is the current device if that is a GPU, else the first."""
    if device is None:
        current = current_place()
        return current if current.device_type == "gpu" else where("cuda")
    return where(device)


def _counted(device: Where) -> Device:
    """Return the device whose memory is asked for: None is a GPU if there is one, else the current device."""
    return _gpu(device) if device is not None or is_available() else current_place()
