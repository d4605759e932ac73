"""Functions of elements, products, and shapes, with PyTorch's names and argument names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import np, npx

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike

__all__ = [
    "abs", "add", "sub", "mul", "div", "neg", "pow", "square", "sqrt", "rsqrt", "exp", "expm1", "log", "log1p",
    "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sigmoid",
    "relu", "sign", "floor", "ceil", "round", "trunc", "reciprocal", "remainder", "maximum", "minimum", "clamp",
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "isclose", "allclose", "equal", "where",
    "logical_and", "logical_or", "logical_not", "mm", "bmm", "mv", "matmul", "dot", "outer", "einsum",
    "tensordot", "cat", "concat", "stack", "split", "chunk", "reshape", "flatten", "squeeze", "unsqueeze",
    "transpose", "permute", "t", "flip", "roll", "tile", "repeat_interleave", "broadcast_to", "meshgrid", "tril",
    "triu", "diag", "trace", "gather", "index_select", "masked_fill", "nonzero", "unique", "numel", "clone",
]  # fmt: skip

abs, neg, pow, square, sqrt = np.abs, np.negative, np.power, np.square, np.sqrt
exp, expm1, log, log1p, log2, log10 = np.exp, np.expm1, np.log, np.log1p, np.log2, np.log10
sin, cos, tan, asin, acos, atan, atan2 = np.sin, np.cos, np.tan, np.asin, np.acos, np.atan, np.atan2
sinh, cosh, tanh, sigmoid, relu = np.sinh, np.cosh, np.tanh, npx.sigmoid, npx.relu
sign, floor, ceil, round, trunc = np.sign, np.floor, np.ceil, np.round, np.trunc
reciprocal, remainder, maximum, minimum = np.reciprocal, np.remainder, np.maximum, np.minimum
eq, ne, lt, le, gt, ge = np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal
isnan, isinf, isfinite, isclose, where = np.isnan, np.isinf, np.isfinite, np.isclose, np.where
logical_and, logical_or, logical_not = np.logical_and, np.logical_or, np.logical_not
matmul, outer, einsum, reshape, broadcast_to = np.matmul, np.outer, np.einsum, np.reshape, np.broadcast_to
tril, triu, diag, trace, unique, clone = np.tril, np.triu, np.diag, np.trace, np.unique, np.copy


def add(a: Array, b: Array | float, *, alpha: float = 1) -> Array:
    """Return a + alpha * b.

    Parameters
    ----------
    a : Tensor
        The first operand.
    b : Tensor or float
        The second operand.
    alpha : float, default 1
        A factor of b.

    Returns
    -------
    Tensor
        The sums.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.add(torch.ones(2), 1, alpha=3).tolist()
    [4.0, 4.0]
    """
    return np.add(a, b if alpha == 1 else alpha * b)


def sub(a: Array, b: Array | float, *, alpha: float = 1) -> Array:
    """Return a - alpha * b.

    Parameters
    ----------
    a : Tensor
        The first operand.
    b : Tensor or float
        The second operand.
    alpha : float, default 1
        A factor of b.

    Returns
    -------
    Tensor
        The differences.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.sub(torch.ones(2), 1, alpha=3).tolist()
    [-2.0, -2.0]
    """
    return np.subtract(a, b if alpha == 1 else alpha * b)


def mul(a: ArrayLike, b: ArrayLike) -> Array:
    """Return a * b.

    Parameters
    ----------
    a : Tensor or float
        The first operand.
    b : Tensor or float
        The second operand.

    Returns
    -------
    Tensor
        The products.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.mul(torch.ones(2), 3).tolist()
    [3.0, 3.0]
    """
    return np.multiply(a, b)


def div(a: ArrayLike, b: ArrayLike, *, rounding_mode: str | None = None) -> Array:
    """Return a / b; rounding_mode: "floor", "trunc" or None.

    Parameters
    ----------
    a : Tensor or float
        The first operand.
    b : Tensor or float
        The second operand.
    rounding_mode : str, optional
        "floor" rounds down, "trunc" towards zero; by default nothing is rounded.

    Returns
    -------
    Tensor
        The quotients.

    Raises
    ------
    ValueError
        For another rounding mode.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode="floor").tolist()
    [3.0, -4.0]
    """
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(f'div: rounding_mode must be "floor", "trunc" or None, got {rounding_mode!r}')
    quotient = np.divide(a, b)
    return quotient if rounding_mode is None else np.floor(quotient) if rounding_mode == "floor" else np.trunc(quotient)


def rsqrt(x: Array) -> Array:
    """Return 1 / sqrt(x)."""
    return 1 / np.sqrt(x)


def clamp(x: Array, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """Return x limited to [min, max].

    Parameters
    ----------
    x : Tensor
        The input.
    min : float or Tensor, optional
        The lower limit; none by default.
    max : float or Tensor, optional
        The upper limit; none by default.

    Returns
    -------
    Tensor
        The limited elements.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.clamp(torch.tensor([-1.0, 5.0]), 0, 2).tolist()
    [0.0, 2.0]
    """
    return np.clip(x, min, max)


def equal(a: Array, b: Array) -> bool:
    """Return whether shapes and all elements are the same. Waits.

    Parameters
    ----------
    a : Tensor
        The first operand.
    b : Tensor
        The second operand.

    Returns
    -------
    bool
        Whether they are. Waits.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.equal(torch.ones(2), torch.ones(2)), torch.equal(torch.ones(2), torch.ones(3))
    (True, False)
    """
    return bool(np.array_equal(a, b))


def allclose(a: Array, b: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return whether |a - b| <= atol + rtol * |b| everywhere. Waits.

    Parameters
    ----------
    a : Tensor
        The first operand.
    b : Tensor
        The second operand.
    rtol : float, default 1e-5
        The relative tolerance.
    atol : float, default 1e-8
        The absolute tolerance.
    equal_nan : bool, default False
        Whether NaN equals NaN.

    Returns
    -------
    bool
        Whether all differences are at most atol + rtol * abs(b). Waits.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.allclose(torch.ones(2), torch.ones(2) + 1e-7)
    True
    """
    return bool(np.allclose(a, b, rtol, atol, equal_nan))


def _product(op: str, a: Array, b: Array, ndims: tuple[int, int]) -> Array:
    if (a.ndim, b.ndim) != ndims:
        raise ValueError(f"{op}: operands must have {ndims[0]} and {ndims[1]} axes, got {a.shape} and {b.shape}")
    return np.matmul(a, b)


def mm(a: Array, b: Array) -> Array:
    """Return the product of two matrices. ValueError for other shapes.

    Parameters
    ----------
    a : Tensor
        A matrix (n, k).
    b : Tensor
        A matrix (k, m).

    Returns
    -------
    Tensor
        The product.

    Raises
    ------
    ValueError
        For tensors of another number of axes.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.mm(torch.ones(2, 3), torch.ones(3, 1)).tolist()
    [[3.0], [3.0]]
    """
    return _product("mm", a, b, (2, 2))


def bmm(a: Array, b: Array) -> Array:
    """Return products of matrices, one per leading index.

    Parameters
    ----------
    a : Tensor
        Matrices (batch, n, k).
    b : Tensor
        Matrices (batch, k, m).

    Returns
    -------
    Tensor
        The products.

    Raises
    ------
    ValueError
        For tensors of another number of axes.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.bmm(torch.ones(3, 1, 2), torch.ones(3, 2, 4)).shape
    (3, 1, 4)
    """
    return _product("bmm", a, b, (3, 3))


def mv(a: Array, b: Array) -> Array:
    """Return the product of a matrix and a vector.

    Parameters
    ----------
    a : Tensor
        A matrix (n, k).
    b : Tensor
        A vector (k,).

    Returns
    -------
    Tensor
        The product, a vector.

    Raises
    ------
    ValueError
        For tensors of another number of axes.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.mv(torch.ones(3, 2), torch.ones(2)).tolist()
    [2.0, 2.0, 2.0]
    """
    return _product("mv", a, b, (2, 1))


def dot(a: Array, b: Array) -> Array:
    """Return the sum of the products of two vectors' elements.

    Parameters
    ----------
    a : Tensor
        A vector.
    b : Tensor
        A vector of the same length.

    Returns
    -------
    Tensor
        The product, without axes.

    Raises
    ------
    ValueError
        For tensors of another number of axes.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.dot(torch.ones(3), torch.ones(3)).item()
    3.0
    """
    return _product("dot", a, b, (1, 1))


def tensordot(a: Array, b: Array, dims: Any = 2) -> Array:
    """Return sums of products over several axes.

    Parameters
    ----------
    a : Tensor
        The first operand.
    b : Tensor
        The second operand.
    dims : int or pair of sequences of int, default 2
        How many of the last axes of a go with the first of b; or the axes of a, and those of b.

    Returns
    -------
    Tensor
        The sums.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), dims=1).shape
    (2, 4)
    """
    return np.tensordot(a, b, dims)


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
    """Return tensors of one shape side by side along a new axis.

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
    """Return a view with an axis of extent 1 put in.

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
    """Return a view of a matrix with its axes exchanged; vectors stay as they are. ValueError for more axes."""
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


def repeat_interleave(x: Array, repeats: Any, dim: int | None = None) -> Array:
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
        What is written where they are true.

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
    """Return positions of elements that are not zero, one a row. Waits."""
    return np.argwhere(x)


def numel(x: Array) -> int:
    """Return the number of elements of x."""
    count: int = x.size
    return count
