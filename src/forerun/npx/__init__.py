"""What MXNet keeps beside NumPy's names: waiting, devices, settings, and the functions of neural networks.

>>> from forerun import np, npx
>>> npx.softmax(np.array([0.0, 0.0])).tolist()
[0.5, 0.5]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import np
from .._interop.lending import *  # noqa: F403
from .._io import file_ops as _issue
from .._io import named_arrays as _named
from .._io.atomic_write import place as _place
from .._io.npz import Archive as _Archive
from .._io.numpy_files import savez as savez
from .._runtime import core as _core
from .._runtime.device import cpu as cpu
from .._runtime.device import cpu_pinned as cpu_pinned
from .._runtime.device import current_device as current_device
from .._runtime.device import gpu as gpu
from .._runtime.device import num_gpus as num_gpus
from ..ops._base import convert
from ..ops._base.host_task import host as host
from ..ops.elementwise.erf import *  # noqa: F403
from ..ops.elementwise.special import *  # noqa: F403
from ..ops.index.getitem import one_hot as one_hot
from ..ops.nn.activation import *  # noqa: F403
from ..ops.nn.attention import *  # noqa: F403
from ..ops.nn.control_flow import *  # noqa: F403
from ..ops.nn.conv import *  # noqa: F403
from ..ops.nn.ctc import *  # noqa: F403
from ..ops.nn.deformable import *  # noqa: F403
from ..ops.nn.functions import *  # noqa: F403
from ..ops.nn.mxnet_functions import *  # noqa: F403
from ..ops.nn.norm import *  # noqa: F403
from ..ops.nn.pool import *  # noqa: F403
from ..ops.nn.sequence import *  # noqa: F403
from ..ops.random.npx_sampling import *  # noqa: F403
from ..ops.vision.anchors import *  # noqa: F403
from ..ops.vision.boxes import *  # noqa: F403
from ..ops.vision.detection import *  # noqa: F403
from ..ops.vision.regions import *  # noqa: F403
from . import image as image
from . import random as random

if TYPE_CHECKING:
    from ..typing import Array

current_context = current_device


def waitall() -> None:
    """Waits until all work issued so far has ended; raises the errors that nobody has seen yet.

    One is raised as itself, several as an `ExceptionGroup`.

    >>> from forerun import np, npx
    >>> x = np.ones(3) + 1
    >>> npx.waitall()
    """
    _core.waitall()


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Creation as in MXNet: Python integers become floats.

    `np.array([1, 2])` and `np.arange(3)` are float32 then. dtype: creation as in NumPy instead, with float64
    and integers. `reset_np` undoes either. shape, array: True, as arrays are NumPy's in both (NotImplementedError).

    >>> from forerun import np, npx
    >>> npx.set_np(); np.arange(3).dtype
    dtype('float32')
    >>> npx.reset_np()
    """
    if not (shape and array):
        raise NotImplementedError(f"set_np: shape and array must be True, got {shape} and {array}")
    convert.set_defaults("float64" if dtype else "float32", ints_become_floats=not dtype)


def reset_np() -> None:
    """Creation as it is without `set_np`: float32, and integers from integers.

    >>> from forerun import np, npx
    >>> npx.reset_np(); np.arange(3).dtype, np.zeros(3).dtype
    (dtype('int64'), dtype('float32'))
    """
    convert.set_defaults("float32", ints_become_floats=False)


def is_np_array() -> bool:
    """Whether functions return `np.ndarray`: there is no other kind.

    >>> from forerun import npx
    >>> npx.is_np_array()
    True
    """
    return True


is_np_shape = is_np_array


def save(file: Any, arrays: Any, *, wait: bool = True) -> Any:
    """Writes an array, a list of arrays or a dict of arrays to a file of that name, as `np.savez` does.

    Returns the file's size in bytes, as an array, when the file is written. wait=False: the call returns at once, as
    that of `np.save` does; an open file is written now, in any case.

    >>> import tempfile
    >>> from forerun import np, npx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = npx.save(f"{folder}/x", {"a": np.arange(2)})
    ...     npx.load(f"{folder}/x")
    {'a': array([0, 1])}
    """
    if isinstance(arrays, Mapping):
        named = dict(arrays)
    else:
        several = arrays if isinstance(arrays, (list, tuple)) else [arrays]
        named = {f"arr_{i}": a for i, a in enumerate(several)}
    return _issue.save_arrays("save", file, named, wait=wait)


def load(file: Any) -> Any:
    """Reads what `save` wrote: a list of arrays, or a dict if they had names. Also MXNet's own files (".params").

    OSError if there is no such file, ValueError if it is another, or has a sparse array; nothing in it is executed. A
    file given by its name is read by operations, as with `np.load`.

    >>> import tempfile
    >>> from forerun import np, npx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = npx.save(f"{folder}/x", [np.arange(2), np.ones(1)])
    ...     npx.load(f"{folder}/x")
    [array([0, 1]), array([1.])]
    """
    if not hasattr(file, "read") and (mxnets := _named.params_by_name("load", _place(file))) is not None:
        return mxnets
    with np.load(file) as found:
        if not isinstance(found, _Archive):
            raise ValueError("load: file must be an npz archive, got an npy file")
        arrays = dict(found)
    if arrays and all(name == f"arr_{i}" for i, name in enumerate(arrays)):
        return list(arrays.values())
    return arrays


def cast(data: Any, dtype: Any) -> Array:
    """data with its elements converted to a dtype: `np.astype`.

    >>> from forerun import npx
    >>> npx.cast([1.5, -1.5], "int32").tolist()
    [1, -1]
    """
    return np.astype(data, dtype)


def reshape_like(x: Any, like: Any) -> Array:
    """x with the shape of another array: a view where memory allows. ValueError if sizes differ.

    >>> from forerun import np, npx
    >>> npx.reshape_like(np.arange(4), np.zeros((2, 2))).tolist()
    [[0, 1], [2, 3]]
    """
    return x.reshape(like.shape)


def gather_nd(x: Any, indices: Any) -> Array:
    """x[indices[0], indices[1], ...]: of shape indices.shape[1:], and the axes of x that are not indexed.

    >>> from forerun import np, npx
    >>> npx.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [1, 0]])).tolist()
    [2, 3]
    """
    return x[tuple(indices[i] for i in range(indices.shape[0]))]


def arange_like(x: Any, axis: int | None = None, start: float = 0.0, step: float = 1.0) -> Array:
    """Numbers from start, `step` apart, in the shape and dtype of x, or as many as its axis has elements.

    >>> from forerun import np, npx
    >>> npx.arange_like(np.zeros((2, 3)), axis=1).tolist(), npx.arange_like(np.zeros((2, 2))).tolist()
    ([0.0, 1.0, 2.0], [[0.0, 1.0], [2.0, 3.0]])
    """
    n = x.size if axis is None else x.shape[axis]
    numbers = np.arange(n, dtype=x.dtype, device=x.device) * step + start
    return numbers.reshape(x.shape) if axis is None else numbers


def __dir__() -> list[str]:
    inner = {"Any", "Mapping", "TYPE_CHECKING", "annotations", "convert", "np"}  # what this module is made with
    return sorted(globals().keys() - inner)
