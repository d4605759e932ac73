"""Devices, and data on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as _numpy

from .. import gluon
from .._runtime.device import Device, cpu, devices, gpu, num_gpus

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["numpy", "split_batch", "to", "try_all_gpus", "try_gpu"]


def try_gpu(i: int = 0) -> Device:
    """Return a GPU if the machine has it, otherwise the first CPU device.

    Parameters
    ----------
    i : int, optional
        The number of the GPU.

    Returns
    -------
    Device
        gpu(i) or cpu(0).

    Examples
    --------
    >>> try_gpu(1000), try_gpu(-1)
    (cpu(0), cpu(0))
    """
    return gpu(i) if 0 <= i < num_gpus() else cpu()


def try_all_gpus() -> list[Device]:
    """Return all GPUs; without any, all CPU devices (`FORERUN_CPU_DEVICES` says into how many the cores are split).

    Returns
    -------
    list of Devices
        One device at least.

    Examples
    --------
    >>> import forerun
    >>> try_all_gpus()[0] in (forerun.gpu(0), forerun.cpu(0))
    True
    """
    return [gpu(i) for i in range(num_gpus())] or devices()


def split_batch(X: Array, y: Array, devices: Sequence[Device]) -> tuple[list[Array], list[Array]]:
    """Return the examples and labels of a batch in equal parts on several devices.

    Parameters
    ----------
    X : array
        The examples, along its first axis.
    y : array
        The labels, as many as examples.
    devices : sequence of Devices
        The devices, one for each part. Their number must divide the number of examples.

    Returns
    -------
    X_parts : list of arrays
        The parts of X.
    y_parts : list of arrays
        The parts of y, on the same devices.

    Raises
    ------
    ValueError
        If there are more labels than examples, or fewer, or no equal parts.

    Examples
    --------
    >>> from forerun import cpu, np
    >>> X, y = split_batch(np.ones((4, 3)), np.arange(4), [cpu(), cpu()])
    >>> [x.shape for x in X], [part.tolist() for part in y]
    ([(2, 3), (2, 3)], [[0, 1], [2, 3]])
    """
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"split_batch: X and y must have one length, got {X.shape[0]} and {y.shape[0]}")
    return gluon.utils.split_and_load(X, devices), gluon.utils.split_and_load(y, devices)


def numpy(x: Array) -> _numpy.ndarray:
    """Return the values of an array as a NumPy array. Waits.

    Parameters
    ----------
    x : array
        The array.

    Returns
    -------
    numpy.ndarray
        A copy of the values, of the same shape and dtype.

    Examples
    --------
    >>> from forerun import np
    >>> numpy(np.arange(3)).sum()
    np.int64(3)
    """
    values: _numpy.ndarray = x.asnumpy()
    return values


def to(x: Array, device: Device | str) -> Array:
    """Return the array itself if it is on a device, otherwise a copy there. Does not wait.

    Parameters
    ----------
    x : array
        The array.
    device : Device or str
        The device, such as cpu(0) or "cpu:0".

    Returns
    -------
    array
        The array, or its copy.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.ones(2)
    >>> to(x, "cpu:0") is x
    True
    """
    return x.to_device(device)
