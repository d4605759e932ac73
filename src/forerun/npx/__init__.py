"""MXNet's functions beside NumPy's names: waits, devices, settings, and functions of neural networks.

>>> from forerun import np, npx
>>> npx.softmax(np.array([0.0, 0.0])).tolist()
[0.5, 0.5]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._display.namespaces import dir_of
from .. import np
from .._interop.lending import from_dlpack, from_numpy, to_dlpack_for_read
from .._io import file_ops as _issue
from .._io import named_arrays as _named
from .._io.atomic_write import place as _place
from .._io.npz import Archive as _Archive
from .._runtime import core as _core
from .._io.numpy_files import savez
from .._runtime.device import cpu
from .._runtime.device import cpu_pinned
from .._runtime.device import current_device
from .._runtime.device import gpu
from .._runtime.device import num_gpus
from ..ops._base import convert
from ..ops._base.host_task import host
from ..ops.elementwise.erf import erf
from ..ops.elementwise.special import digamma, erfinv, gamma, gammaln
from ..ops.index.getitem import one_hot
from ..ops.mxnet.arithmetic import add_n, div_sqrt_dim, khatri_rao
from ..ops.mxnet.casts import amp_cast, amp_multicast
from ..ops.mxnet.checks import all_finite, constraint_check, multi_all_finite
from ..ops.mxnet.depth_to_space import depth_to_space, space_to_depth
from ..ops.mxnet.positions import index_add, index_array, index_update, nonzero
from ..ops.mxnet.selections import batch_take, pick, topk
from ..ops.mxnet.shapes import broadcast_like, reshape, shape_array
from ..ops.mxnet.slices import slice, slice_axis, slice_like
from ..ops.nn.activation import (
    elu, gelu, hard_sigmoid, log_sigmoid, mish, relu, selu, sigmoid, silu, softrelu, softsign,
)  # fmt: skip
from ..ops.nn.activation_by_name import activation, leaky_relu
from ..ops.nn.attention import (
    interleaved_matmul_encdec_qk, interleaved_matmul_encdec_valatt, interleaved_matmul_selfatt_qk,
    interleaved_matmul_selfatt_valatt, masked_log_softmax,
)  # fmt: skip
from ..ops.nn.control_flow import cond, foreach, stop_gradient, while_loop
from ..ops.nn.conv import convolution, deconvolution
from ..ops.nn.ctc import ctc_loss
from ..ops.nn.deformable import deformable_convolution, modulated_deformable_convolution
from ..ops.nn.layers import batch_dot, dropout, embedding, fully_connected, l2_normalization
from ..ops.nn.losses import cross_entropy, smooth_l1
from ..ops.nn.norm import batch_norm, group_norm, instance_norm, layer_norm
from ..ops.nn.pool import pooling
from ..ops.nn.sequence import sequence_last, sequence_mask, sequence_reverse
from ..ops.nn.softmax import log_softmax, masked_softmax, softmax, softmin
from ..ops.random.npx_sampling import bernoulli, categorical, multinomial, normal_n, seed, uniform_n
from ..ops.vision.anchors import multibox_detection, multibox_target
from ..ops.vision.boxes import bipartite_matching, box_decode, box_encode, box_iou, box_nms
from ..ops.vision.detection import batch_flatten, multibox_prior, roi_pooling
from ..ops.vision.regions import roi_align
from . import image
from . import random

if TYPE_CHECKING:
    from ..typing import FileLike
    from ..typing import Array, ArrayLike, DTypeLike

__all__ = [
    "activation", "add_n", "all_finite", "amp_cast", "amp_multicast", "arange_like", "batch_dot", "batch_flatten",
    "batch_norm", "batch_take", "bernoulli", "bipartite_matching", "box_decode", "box_encode", "box_iou", "box_nms",
    "broadcast_like", "cast", "categorical", "cond", "constraint_check", "convolution", "cpu", "cpu_pinned",
    "cross_entropy", "ctc_loss", "current_context", "current_device", "deconvolution", "deformable_convolution",
    "depth_to_space", "digamma", "div_sqrt_dim", "dropout", "elu", "embedding", "erf", "erfinv", "foreach",
    "from_dlpack", "from_numpy", "fully_connected", "gamma", "gammaln", "gather_nd", "gelu", "gpu", "group_norm",
    "hard_sigmoid", "host", "image", "index_add", "index_array", "index_update", "instance_norm",
    "interleaved_matmul_encdec_qk", "interleaved_matmul_encdec_valatt", "interleaved_matmul_selfatt_qk",
    "interleaved_matmul_selfatt_valatt", "is_np_array", "is_np_shape", "khatri_rao", "l2_normalization", "layer_norm",
    "leaky_relu", "load", "log_sigmoid", "log_softmax", "masked_log_softmax", "masked_softmax", "mish",
    "modulated_deformable_convolution", "multi_all_finite", "multibox_detection", "multibox_prior", "multibox_target",
    "multinomial", "nonzero", "normal_n", "num_gpus", "one_hot", "pick", "pooling", "random", "relu", "reset_np",
    "reshape", "reshape_like", "roi_align", "roi_pooling", "save", "savez", "seed", "selu", "sequence_last",
    "sequence_mask", "sequence_reverse", "set_np", "shape_array", "sigmoid", "silu", "slice", "slice_axis",
    "slice_like", "smooth_l1", "softmax", "softmin", "softrelu", "softsign", "space_to_depth", "stop_gradient",
    "to_dlpack_for_read", "topk", "uniform_n", "waitall", "while_loop",
]  # fmt: skip
__dir__ = dir_of(__name__)

current_context = current_device


def waitall() -> None:
    """Wait until all operations issued so far have ended; raise the errors that have not been raised yet.

    One is raised as itself, several as an `ExceptionGroup`.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.ones(3) + 1
    >>> npx.waitall()
    """
    _core.waitall()


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Make creation behave as in MXNet: Python integers become floats.

    `np.array([1, 2])` and `np.arange(3)` are float32 then, unless `dtype` is True. `reset_np` undoes either.

    Parameters
    ----------
    shape : bool, optional
        Must be True: arrays have NumPy's shapes in any case.
    array : bool, optional
        Must be True: arrays are NumPy's in any case.
    dtype : bool, optional
        Whether creation is as in NumPy instead, with float64 and integers.

    Raises
    ------
    NotImplementedError
        If `shape` or `array` is False.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.set_np(); np.arange(3).dtype
    dtype('float32')
    >>> npx.reset_np()
    """
    if not (shape and array):
        raise NotImplementedError(f"set_np: shape and array must be True, got {shape} and {array}")
    convert.set_defaults("float64" if dtype else "float32", ints_become_floats=not dtype)


def reset_np() -> None:
    """Undo `set_np`: creation gives float32, and integers from integers.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.reset_np(); np.arange(3).dtype, np.zeros(3).dtype
    (dtype('int64'), dtype('float32'))
    """
    convert.set_defaults("float32", ints_become_floats=False)


def is_np_array() -> bool:
    """Return True: functions return `np.ndarray`, the only array class.

    Returns
    -------
    bool
        True.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.is_np_array()
    True
    """
    return True


is_np_shape = is_np_array


def save(file: FileLike, arrays: Array | Sequence[Array] | Mapping[str, Array], *, wait: bool = True) -> Array:
    """Write an array, a list of arrays or a dict of arrays to a file of that name, as `np.savez` does.

    Parameters
    ----------
    file : path or file
        A path, or an open file.
    arrays : array, sequence of arrays, or mapping of arrays
        The arrays to write; those of a mapping by their names. An empty sequence is read as an empty dict.
    wait : bool, optional
        Whether the call returns only when the file is written. With False it returns at once, as that of `np.save`
        does; an open file is written now in any case.

    Returns
    -------
    array
        The size of the file in bytes.

    Raises
    ------
    OSError
        If the file cannot be written: with `wait` False where the size is read.

    Examples
    --------
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


def load(file: FileLike) -> Any:
    """Read a file that `save` wrote, or one of MXNet's files (".params").

    An npz file has a name for each array, so `save` calls those of a list arr_0, arr_1 and so on, and `load` takes
    exactly these names for a list. A list without arrays leaves no name to tell it by: it is read as an empty dict.

    Nothing in a file is executed. A file given by its name is read by operations, as with `np.load`.

    Parameters
    ----------
    file : path or file
        A path, or an open file. One of MXNet's files must be given by its name.

    Returns
    -------
    list of arrays, or dict of arrays
        The arrays: a dict if they had names, or if the file is empty; a list otherwise.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If the file is another one, or has a sparse array.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np, npx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = npx.save(f"{folder}/x", [np.arange(2), np.ones(1)])
    ...     npx.load(f"{folder}/x")
    [array([0, 1]), array([1.])]
    """
    if not hasattr(file, "read") and (mxnets := _named.params_by_name("load", _place(file))) is not None:
        return mxnets
    found = np.load(file)
    if not isinstance(found, _Archive):
        raise ValueError("load: file must be an npz archive, got an npy file")
    with found:
        arrays = dict(found)
    if arrays and all(name == f"arr_{i}" for i, name in enumerate(arrays)):
        return list(arrays.values())
    return arrays


def cast(data: ArrayLike, dtype: DTypeLike) -> Array:
    """Return an array with its elements converted to a dtype, as `np.astype` does.

    Floats lose their fraction in integers.

    Parameters
    ----------
    data : array_like
        The values.
    dtype : dtype
        The new dtype.

    Returns
    -------
    array
        A copy of `data` in that dtype.

    Raises
    ------
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.cast([1.5, -1.5], "int32").tolist()
    [1, -1]
    """
    return np.astype(data, dtype)


def reshape_like(x: Array, like: Array) -> Array:
    """Return `x` with the shape of another array: a view where memory allows.

    Parameters
    ----------
    x : array
        The values.
    like : array
        The array whose shape is taken. Its values have no effect.

    Returns
    -------
    array
        The values of `x`, in like's shape.

    Raises
    ------
    ValueError
        If the sizes differ.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.reshape_like(np.arange(4), np.zeros((2, 2))).tolist()
    [[0, 1], [2, 3]]
    """
    return x.reshape(like.shape)


def gather_nd(x: Array, indices: Array) -> Array:
    """Return x[indices[0], indices[1], ...].

    Parameters
    ----------
    x : array
        The values.
    indices : array
        The positions, integers of shape (axes, ...): a row for each of the first axes of `x`. Negative ones count from
        the end.

    Returns
    -------
    array
        The elements, of shape indices.shape[1:], followed by the axes of `x` that are not indexed.

    Raises
    ------
    IndexError
        If `indices` are neither integers nor bools, or have more rows than `x` has axes. Where the result is read, if a
        position is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [1, 0]])).tolist()
    [2, 3]
    """
    return x[tuple(indices[i] for i in range(indices.shape[0]))]


def arange_like(x: Array, axis: int | None = None, start: float = 0.0, step: float = 1.0) -> Array:
    """Return evenly spaced numbers, as many as an array or one of its axes has elements.

    The numbers are start, start + step, start + 2 * step, and so on.

    Parameters
    ----------
    x : array
        The array that gives the shape or the number of elements, the dtype and the device. Its values do not matter.
    axis : int, optional
        The axis whose extent is the number of elements; None for all elements of `x`.
    start : float, optional
        The first number.
    step : float, optional
        The difference of two numbers that follow each other.

    Returns
    -------
    array
        The numbers: in the shape of `x` without an axis, otherwise of shape (x.shape[axis],). Their dtype is that of
        `x`; if `x` has integers, it is the default float unless `start` and `step` are integers, too.

    Raises
    ------
    IndexError
        If `x` lacks the axis.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.arange_like(np.zeros((2, 3)), axis=1).tolist(), npx.arange_like(np.zeros((2, 2))).tolist()
    ([0.0, 1.0, 2.0], [[0.0, 1.0], [2.0, 3.0]])
    """
    n = x.size if axis is None else x.shape[axis]
    numbers = np.arange(n, dtype=x.dtype, device=x.device) * step + start
    return numbers.reshape(x.shape) if axis is None else numbers
