"""Devices in PyTorch's spelling."""

from __future__ import annotations

from .._runtime.device import Device, resolve

__all__ = ["device", "where", "Where"]

Where = Device | str | int | None


def device(type: str | Device, index: int | None = None) -> Device:
    """Return the device of that name, or of a kind and a number.

    "cpu" is the first CPU device. A GPU can be named on a machine without one; using it raises ValueError.

    Parameters
    ----------
    type : str or Device
        "cpu", "cpu:1", "cuda:0"; or with a number, "cpu" or "cuda".
    index : int, optional
        The number.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> device("cpu:0")
    cpu(0)
    >>> device("cuda", 1)
    gpu(1)
    """
    if isinstance(type, Device):
        return type
    kind, _, number = type.partition(":")
    if number and (index is not None or not number.isdigit()):
        raise ValueError(f"device: must be like 'cpu', 'cpu:1' or ('cpu', 1), got {type!r} and {index}")
    return Device("gpu" if kind == "cuda" else kind, int(number or 0) if index is None else index)


def where(given: Where = None) -> Device:
    """Return the device meant, which must exist: ValueError otherwise. None is the current one, a number a GPU.

    >>> where("cpu")
    cpu(0)
    """
    if given is None:
        return resolve(None)
    return resolve(device("cuda", given) if isinstance(given, int) else device(given))
