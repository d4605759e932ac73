"""Functions of shapes and positions, with PyTorch's names and argument names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import np
from .positions import gather, index_select, masked_fill, nonzero, numel

if TYPE_CHECKING:
    from ..typing import Array

__all__ = [
    "cat", "concat", "stack", "split", "chunk", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "t",
    "flip", "roll", "tile", "repeat_interleave", "meshgrid", "gather", "index_select", "masked_fill", "nonzero",
    "numel",
]  # fmt: skip


def cat(tensors: Sequence[Any], dim: int = 0) -> Array:
    """Return tensors one after the other along an axis.

    Parameters
    ----------
    tensors : sequence of Tensor
        Tensors of one shape, except along the axis.
    dim : int, default 0
        The axis.

    Returns
    -------
    Tensor
        The joined tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cat((torch.ones(1, 2), torch.zeros(1, 2)), dim=1).tolist()
    [[1.0, 1.0, 0.0, 0.0]]
    """
    return np.concatenate(tensors, dim)


concat = cat


def stack(tensors: Sequence[Any], dim: int = 0) -> Array:
    """Stack tensors of one shape along a new axis.

    Parameters
    ----------
    tensors : sequence of Tensor
        Tensors of one shape.
    dim : int, default 0
        Where the new axis is in the result.

    Returns
    -------
    Tensor
        The tensors, with one axis more.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.stack((torch.ones(2), torch.zeros(2)), dim=1).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    return np.stack(tensors, dim)


def split(x: Array, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Return views of parts along an axis: of one size (the last may be smaller), or of the sizes given.

    Parameters
    ----------
    x : Tensor
        The input.
    split_size_or_sections : int or sequence of int
        The extent of each part, or those of all parts.
    dim : int, default 0
        The axis.

    Returns
    -------
    tuple of Tensor
        The parts.

    Raises
    ------
    ValueError
        If the sizes do not add up to the extent of the axis.

    Examples
    --------
    >>> from forerun import torch
    >>> [part.tolist() for part in torch.split(torch.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    n, sizes = x.shape[dim], split_size_or_sections
    if isinstance(sizes, int):
        return tuple(np.array_split(x, range(sizes, n, sizes), dim))
    if sum(sizes) != n:
        raise ValueError(f"split: sizes must add up to {n}, got {list(sizes)}")
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    return tuple(np.array_split(x, ends, dim))


def chunk(x: Array, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Return views of so many parts along an axis, or fewer: all of one size, the last may be smaller.

    Parameters
    ----------
    x : Tensor
        The input.
    chunks : int
        How many parts.
    dim : int, default 0
        The axis.

    Returns
    -------
    tuple of Tensor
        The parts.

    Examples
    --------
    >>> from forerun import torch
    >>> [part.tolist() for part in torch.chunk(torch.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    return split(x, max(1, math.ceil(x.shape[dim] / chunks)), dim)


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Return x with the axes from start_dim to end_dim as one.

    Parameters
    ----------
    x : Tensor
        The input.
    start_dim : int, default 0
        The first of the axes.
    end_dim : int, default -1
        The last of them.

    Returns
    -------
    Tensor
        The tensor, a view where its memory allows.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.flatten(torch.ones(2, 3, 4), 1).shape
    (2, 12)
    """
    if x.ndim == 0:
        return x.reshape(1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def squeeze(x: Array, dim: int | Sequence[int] | None = None) -> Array:
    """Return a view without the axis if its extent is 1; by default without all such axes.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or sequence of int, optional
        The axes; by default all of extent 1.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.squeeze(torch.ones(1, 2, 1), 0).shape
    (2, 1)
    """
    if isinstance(dim, int):
        return np.squeeze(x, dim) if x.shape[dim] == 1 else x
    return np.squeeze(x, dim)


def unsqueeze(x: Array, dim: int) -> Array:
    """Return a view with a new axis of extent 1.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int
        Where the new axis is in the result.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.unsqueeze(torch.ones(2), 1).shape
    (2, 1)
    """
    return np.expand_dims(x, dim)


def transpose(x: Array, dim0: int, dim1: int) -> Array:
    """Return a view with two axes exchanged.

    Parameters
    ----------
    x : Tensor
        The input.
    dim0 : int
        An axis.
    dim1 : int
        The axis that it changes places with.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.transpose(torch.ones(2, 3), 0, 1).shape
    (3, 2)
    """
    return np.swapaxes(x, dim0, dim1)


def permute(x: Array, dims: Sequence[int]) -> Array:
    """Return a view with the axes in another order.

    Parameters
    ----------
    x : Tensor
        The input.
    dims : sequence of int
        The axes of x in their new order.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return np.transpose(x, dims)


def t(x: Array) -> Array:
    """Return a view of a matrix with its axes exchanged; vectors stay as they are.

    Parameters
    ----------
    x : Tensor
        At most two axes.

    Returns
    -------
    Tensor
        A view.

    Raises
    ------
    ValueError
        For more axes.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.t(torch.ones(2, 3)).shape
    (3, 2)
    """
    if x.ndim > 2:
        raise ValueError(f"t: tensor must have at most 2 axes, got shape {x.shape}")
    return np.transpose(x)


def flip(x: Array, dims: int | Sequence[int]) -> Array:
    """Return a view with the order of elements reversed along axes.

    Parameters
    ----------
    x : Tensor
        The input.
    dims : int or sequence of int
        The axes.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.flip(torch.arange(3), 0).tolist()
    [2, 1, 0]
    """
    return np.flip(x, dims)


def roll(x: Array, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Array:
    """Return x with its elements shifted around along axes.

    Parameters
    ----------
    x : Tensor
        The input.
    shifts : int or sequence of int
        How far, for each axis.
    dims : int or sequence of int, optional
        The axes; by default the elements in C order.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.roll(torch.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    return np.roll(x, shifts, dims)


def tile(x: Array, dims: Sequence[int]) -> Array:
    """Return x repeated as a whole along its axes.

    Parameters
    ----------
    x : Tensor
        The input.
    dims : sequence of int
        How many copies along each axis.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.tile(torch.arange(2), (3,)).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    return np.tile(x, dims)


def repeat_interleave(x: Array, repeats: int | Array, dim: int | None = None) -> Array:
    """Repeat each element several times along an axis.

    Parameters
    ----------
    x : Tensor
        The input.
    repeats : int or Tensor
        How often, for all elements or for each.
    dim : int, optional
        The axis; by default the elements in C order.

    Returns
    -------
    Tensor
        The repeated elements.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.repeat_interleave(torch.arange(2), 2).tolist()
    [0, 0, 1, 1]
    """
    return np.repeat(x, repeats, dim)


def meshgrid(*tensors: Array, indexing: str = "ij") -> tuple[Any, ...]:
    """Return coordinates of a grid: one tensor per vector.

    Parameters
    ----------
    indexing : str, default "ij"
        "ij", or "xy" with the first two axes exchanged.
    *tensors : Tensor
        Vectors.

    Returns
    -------
    tuple of Tensor
        A tensor for each vector.

    Examples
    --------
    >>> from forerun import torch
    >>> [x.tolist() for x in torch.meshgrid(torch.arange(2), torch.arange(1))]
    [[[0], [1]], [[0], [0]]]
    """
    return tuple(np.meshgrid(*tensors, indexing=indexing))
