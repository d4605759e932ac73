"""Batches split over devices, gradients kept small, files from the network."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import autograd, np
from .._display.namespaces import dir_of
from .._runtime.device import Device
from ._training.load_balancer import LoadBalancer as LoadBalancer
from ._training.load_balancer import Shares as Shares
from .download import check_sha1, download
from .parameter.deferred import known

if TYPE_CHECKING:
    from ..typing import Array

__all__ = [
    "LoadBalancer", "Shares", "split_data", "split_and_load", "clip_global_norm", "check_sha1", "download",
    "replace_file", "shape_is_known",
]  # fmt: skip
__dir__ = dir_of(__name__)


def replace_file(src: str | os.PathLike[str], dst: str | os.PathLike[str]) -> None:
    """Replace a file by another one atomically: a program that opens it sees the old or the new one.

    Parameters
    ----------
    src : path
        The file that is moved.
    dst : path
        The name that it gets; a file of that name goes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from forerun.gluon.utils import replace_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new, old = pathlib.Path(folder, "new"), pathlib.Path(folder, "old")
    ...     _ = new.write_text("1"), old.write_text("2")
    ...     replace_file(new, old)
    ...     old.read_text()
    '1'
    """
    os.replace(src, dst)


def shape_is_known(shape: int | Sequence[int | None] | None) -> bool:
    """Return whether all extents of a shape are known. Those that are not are written as None, 0 or -1.

    Parameters
    ----------
    shape : int, sequence of ints, or None
        The shape; None if nothing of it is known.

    Returns
    -------
    bool
        Whether each extent is positive.

    Examples
    --------
    >>> shape_is_known((4, 3)), shape_is_known((4, 0)), shape_is_known(None)
    (True, False, False)
    """
    extents = known(shape)
    return extents is not None and -1 not in extents


def split_data(data: Array, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[Any]:
    """Return views of an array's parts along the batch axis, as equal as can be.

    Parameters
    ----------
    data : Array
        A batch.
    num_slice : int
        How many parts.
    batch_axis : int, default 0
        The axis of the examples.
    even_split : bool, default True
        Whether parts that differ in length are an error.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    ValueError
        If there are fewer examples than parts, or with `even_split` if the parts are not equal.

    Examples
    --------
    >>> from forerun import np
    >>> [part.shape for part in split_data(np.zeros((5, 2)), 2, even_split=False)]
    [(2, 2), (3, 2)]
    """
    n = data.shape[batch_axis]
    if num_slice < 1 or n < num_slice:
        raise ValueError(f"split_data: parts must be between 1 and the {n} examples, got {num_slice}")
    if even_split and n % num_slice:
        raise ValueError(f"split_data: examples must divide evenly by {num_slice}, got {n}")
    bounds = [n * i // num_slice for i in range(num_slice + 1)]
    before = (slice(None),) * (batch_axis % data.ndim)
    return [data[(*before, slice(start, stop))] for start, stop in itertools.pairwise(bounds)]


def split_and_load(
    data: Array, ctx_list: Sequence[Device | str], batch_axis: int = 0, even_split: bool = True
) -> list[Any]:
    """Return parts of an array, each on its device.

    Parameters
    ----------
    data : Array
        A batch.
    ctx_list : sequence of Device, or LoadBalancer
        The devices; a balancer sets how large the parts are, `even_split` or not.
    batch_axis : int, default 0
        The axis of the examples.
    even_split : bool, default True
        Whether parts that differ in length are an error.

    Returns
    -------
    list of Array
        Copies, which are issued and not waited for.

    Raises
    ------
    ValueError
        As `split_data` raises it.

    Examples
    --------
    >>> import forerun
    >>> from forerun import np
    >>> [part.device for part in split_and_load(np.zeros((4, 2)), [forerun.cpu(0)])]
    [cpu(0)]
    """
    array = data if hasattr(data, "as_in_ctx") else np.array(data)
    if isinstance(ctx_list, LoadBalancer):
        parts = ctx_list.parts(array, batch_axis)
    else:
        parts = split_data(array, len(ctx_list), batch_axis, even_split)
    return [part.as_in_ctx(device) for part, device in zip(parts, ctx_list)]


def clip_global_norm(arrays: Sequence[Any], max_norm: float, check_isfinite: bool = False) -> Array:
    """Scale arrays in place so that the norm of all of them together is at most `max_norm`.

    Parameters
    ----------
    arrays : sequence of Array
        The arrays.
    max_norm : float
        The largest norm.
    check_isfinite : bool, default False
        Whether the norm is read, which waits, and checked.

    Returns
    -------
    Array
        The norm before, without axes.

    Raises
    ------
    ValueError
        Without arrays, or with `check_isfinite` for a norm that is not finite.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([3.0, 4.0])
    >>> clip_global_norm([x], 1.0).item()
    5.0
    >>> (x * 10).round().tolist()
    [6.0, 8.0]
    """
    if not arrays:
        raise ValueError("clip_global_norm: there must be arrays, got none")
    with autograd.pause():
        device = arrays[0].device
        squares = [np.square(array).sum().as_in_ctx(device) for array in arrays]
        norm = np.sqrt(sum(squares[1:], squares[0]))
        factor = np.minimum(max_norm / (norm + 1e-8), 1)
        for array in arrays:
            array *= factor.as_in_ctx(array.device).astype(array.dtype)
    if check_isfinite and not math.isfinite(norm.item()):
        raise ValueError(f"clip_global_norm: norm must be finite, got {norm.item()}")
    return norm
