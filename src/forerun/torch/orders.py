"""Largest and smallest elements along an axis, and orders, in PyTorch's spelling: values with positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, overload

from .. import np, npx
from ..ops._base.convert import is_array
from .reductions import Dim

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["max", "min", "amax", "amin", "argmax", "argmin", "argsort", "sort", "topk"]


class Found(NamedTuple):
    """Values along an axis, and where they were."""

    values: Array
    indices: Array


@overload
def max(x: Array, dim: Array | None = None, keepdim: bool = False) -> Array: ...
@overload
def max(x: Array, dim: int, keepdim: bool = False) -> Found: ...
def max(x: Array, dim: int | Array | None = None, keepdim: bool = False) -> Array | Found:
    """Return the largest element; along an axis, with positions; of two tensors, the larger elements.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or Tensor, optional
        The axis, or a second tensor; by default all elements.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor or tuple
        The largest element; with an axis, a named tuple of values and positions.

    Examples
    --------
    >>> from forerun import torch
    >>> values, where = torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), 1)
    >>> values.tolist(), where.tolist()
    ([5.0, 7.0], [1, 0])
    """
    if dim is None:
        return np.max(x)
    if is_array(dim):
        return np.maximum(x, dim)
    return Found(np.max(x, dim, keepdims=keepdim), np.argmax(x, dim, keepdims=keepdim))


@overload
def min(x: Array, dim: Array | None = None, keepdim: bool = False) -> Array: ...
@overload
def min(x: Array, dim: int, keepdim: bool = False) -> Found: ...
def min(x: Array, dim: int | Array | None = None, keepdim: bool = False) -> Array | Found:
    """Return the smallest element; along an axis, with positions; of two tensors, the smaller elements.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or Tensor, optional
        The axis, or a second tensor; by default all elements.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor or tuple
        The smallest element; with an axis, a named tuple of values and positions.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.min(torch.tensor([3.0, 1.0])).item()
    1.0
    """
    if dim is None:
        return np.min(x)
    if is_array(dim):
        return np.minimum(x, dim)
    return Found(np.min(x, dim, keepdims=keepdim), np.argmin(x, dim, keepdims=keepdim))


def amax(x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
    """Return the largest element over axes, without positions.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.amax(torch.tensor([[1, 5], [7, 2]]), 1).tolist()
    [5, 7]
    """
    return np.max(x, dim, keepdims=keepdim)


def amin(x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
    """Return the smallest element over axes, without positions.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.amin(torch.tensor([[1, 5], [7, 2]]), 1).tolist()
    [1, 2]
    """
    return np.min(x, dim, keepdims=keepdim)


def argmax(x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Return the position of the largest element.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int, optional
        The axis; by default the elements in C order.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        Positions.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.argmax(torch.tensor([3, 9, 4])).item()
    1
    """
    return np.argmax(x, dim, keepdims=keepdim)


def argmin(x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Return the position of the smallest element.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int, optional
        The axis; by default the elements in C order.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        Positions.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.argmin(torch.tensor([3, 9, 4])).item()
    0
    """
    return np.argmin(x, dim, keepdims=keepdim)


def argsort(x: Array, dim: int = -1, descending: bool = False) -> Array:
    """Return positions that sort x along an axis.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int, default -1
        The axis; the last one by default.
    descending : bool, default False
        Whether the largest come first, NaN before them.

    Returns
    -------
    Tensor
        Positions.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.argsort(torch.tensor([3, 9, 4])).tolist()
    [0, 2, 1]
    """
    if descending and x.ndim and x.shape[dim]:
        return npx.topk(x, x.shape[dim], dim, "indices")  # NaN counts as the largest
    return np.argsort(x, dim)


def sort(x: Array, dim: int = -1, descending: bool = False) -> Found:
    """Return the elements in order along an axis, and where they were.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int, default -1
        The axis; the last one by default.
    descending : bool, default False
        Whether the largest come first.

    Returns
    -------
    tuple
        A named tuple of values and positions.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.sort(torch.tensor([3, 9, 4]), descending=True).values.tolist()
    [9, 4, 3]
    """
    order = argsort(x, dim, descending)
    return Found(np.take_along_axis(x, order, dim), order)


def topk(x: Array, k: int, dim: int = -1, largest: bool = True) -> Found:
    """Return the k largest elements along an axis (or the smallest), in order, and where they were.

    Parameters
    ----------
    x : Tensor
        The input.
    k : int
        How many.
    dim : int, default -1
        The axis; the last one by default.
    largest : bool, default True
        Whether the largest are meant, or the smallest.

    Returns
    -------
    tuple
        A named tuple of values and positions.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.topk(torch.tensor([3, 9, 4]), 2).values.tolist()
    [9, 4]
    """
    return Found(*npx.topk(x, k, dim, "both", not largest))
