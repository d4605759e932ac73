"""Functions of the positions of elements, with PyTorch's names and argument names; `shapes` has them as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import np

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike

__all__ = ["gather", "index_select", "masked_fill", "nonzero", "numel"]


def gather(x: Array, dim: int, index: Array) -> Array:
    """Return elements of x at positions along an axis that differ from place to place.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int
        The axis.
    index : Tensor
        Positions along the axis, of as many axes as x.

    Returns
    -------
    Tensor
        The elements, in the shape of the index.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    return np.take_along_axis(x, index, dim)


def index_select(x: Array, dim: int, index: Array) -> Array:
    """Return slices of x at positions along an axis.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int
        The axis.
    index : Tensor
        A vector of positions along the axis.

    Returns
    -------
    Tensor
        The slices.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.index_select(torch.arange(4), 0, torch.tensor([3, 0])).tolist()
    [3, 0]
    """
    return np.take(x, index, dim)


def masked_fill(x: Array, mask: Array, value: ArrayLike) -> Array:
    """Return x with a value where the mask is true.

    Parameters
    ----------
    x : Tensor
        The input.
    mask : Tensor
        Bools, which broadcast with x.
    value : float or Tensor
        The value that is written where they are true.

    Returns
    -------
    Tensor
        A new tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.masked_fill(torch.zeros(2), torch.tensor([True, False]), 7).tolist()
    [7.0, 0.0]
    """
    return np.where(mask, value, x)


def nonzero(x: Array) -> Array:
    """Return the positions of elements that are not zero. Waits, as their number is the result's shape.

    Parameters
    ----------
    x : Tensor
        The input.

    Returns
    -------
    Tensor
        int64, of a row for each element and a column for each axis.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nonzero(torch.tensor([0.0, 5.0, 7.0])).tolist()
    [[1], [2]]
    """
    return np.argwhere(x)


def numel(x: Array) -> int:
    """Return the number of elements of a tensor.

    Parameters
    ----------
    x : Tensor
        The input.

    Returns
    -------
    int
        The product of the extents.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.numel(torch.ones(2, 3))
    6
    """
    count: int = x.size
    return count
