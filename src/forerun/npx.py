"""What MXNet keeps beside NumPy's names: waiting, devices, settings, and the functions of neural networks.

>>> from forerun import np, npx
>>> npx.softmax(np.array([0.0, 0.0])).tolist()
[0.5, 0.5]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from . import _core, np
from .device import cpu as cpu
from .device import current_device as current_device
from .device import gpu as gpu
from .device import num_gpus as num_gpus
from .ops import convert
from .ops.host import host as host
from .ops.indexing import one_hot as one_hot
from .ops.nn import *  # noqa: F403
from .ops.random import bernoulli as bernoulli
from .ops.random import seed as _seed

current_context = current_device


class random:
    """Random numbers that NumPy has no name for."""

    seed = staticmethod(_seed)
    bernoulli = staticmethod(bernoulli)


def waitall() -> None:
    """Waits until all work issued so far has ended; raises an error that nobody has seen yet."""
    _core.waitall()


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Creation as in MXNet: Python integers become floats (`np.array([1, 2])` and `np.arange(3)` are float32).

    dtype: creation as in NumPy instead, with float64 and integers.
    """
    convert.set_defaults("float64" if dtype else "float32", ints_become_floats=not dtype)


def reset_np() -> None:
    """Creation as it is without `set_np`: float32, and integers from integers."""
    convert.set_defaults("float32", ints_become_floats=False)


def is_np_array() -> bool:
    """Whether functions return `np.ndarray`: there is no other kind."""
    return True


is_np_shape = is_np_array


def save(file: Any, arrays: Any) -> None:
    """Writes an array, a list of arrays or a dict of arrays to a file. Waits."""
    if isinstance(arrays, Mapping):
        named = dict(arrays)
    else:
        several = arrays if isinstance(arrays, (list, tuple)) else [arrays]
        named = {f"arr_{i}": a for i, a in enumerate(several)}
    with open(file, "wb") as out:
        numpy.savez(out, **{name: a.numpy() for name, a in named.items()})


def load(file: Any) -> Any:
    """Reads what `save` wrote: a list of arrays, or a dict if they had names."""
    with numpy.load(file) as found:
        arrays = {name: np.array(found[name], dtype=found[name].dtype) for name in found.files}
    if arrays and all(name == f"arr_{i}" for i, name in enumerate(arrays)):
        return list(arrays.values())
    return arrays


def reshape_like(x: Any, like: Any) -> Any:
    """x with the shape of another array."""
    return x.reshape(like.shape)


def gather_nd(x: Any, indices: Any) -> Any:
    """x[indices[0], indices[1], ...]."""
    return x[tuple(indices[i] for i in range(indices.shape[0]))]


def arange_like(x: Any, axis: int | None = None, start: float = 0.0, step: float = 1.0) -> Any:
    """Numbers from start in the shape of x, or as long as its axis."""
    n = x.size if axis is None else x.shape[axis]
    numbers = np.arange(n, dtype=x.dtype, device=x.device) * step + start
    return numbers.reshape(x.shape) if axis is None else numbers
