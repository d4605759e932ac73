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
    """Return a + alpha * b."""
    return np.add(a, b if alpha == 1 else alpha * b)


def sub(a: Array, b: Array | float, *, alpha: float = 1) -> Array:
    """Return a - alpha * b."""
    return np.subtract(a, b if alpha == 1 else alpha * b)


def mul(a: ArrayLike, b: ArrayLike) -> Array:
    """Return a * b."""
    return np.multiply(a, b)


def div(a: ArrayLike, b: ArrayLike, *, rounding_mode: str | None = None) -> Array:
    """Return a / b; rounding_mode: "floor", "trunc" or None."""
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(f'div: rounding_mode must be "floor", "trunc" or None, got {rounding_mode!r}')
    quotient = np.divide(a, b)
    return quotient if rounding_mode is None else np.floor(quotient) if rounding_mode == "floor" else np.trunc(quotient)


def rsqrt(x: Array) -> Array:
    """Return 1 / sqrt(x)."""
    return 1 / np.sqrt(x)


def clamp(x: Array, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """Return x limited to [min, max]."""
    return np.clip(x, min, max)


def equal(a: Array, b: Array) -> bool:
    """Return whether shapes and all elements are the same. Waits."""
    return bool(np.array_equal(a, b))


def allclose(a: Array, b: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return whether |a - b| <= atol + rtol * |b| everywhere. Waits."""
    return bool(np.allclose(a, b, rtol, atol, equal_nan))


def _product(op: str, a: Array, b: Array, ndims: tuple[int, int]) -> Array:
    if (a.ndim, b.ndim) != ndims:
        raise ValueError(f"{op}: operands must have {ndims[0]} and {ndims[1]} axes, got {a.shape} and {b.shape}")
    return np.matmul(a, b)


def mm(a: Array, b: Array) -> Array:
    """Return the product of two matrices. ValueError for other shapes.

    >>> from forerun import torch
    >>> torch.mm(torch.ones(2, 3), torch.ones(3, 1)).tolist()
    [[3.0], [3.0]]
    """
    return _product("mm", a, b, (2, 2))


def bmm(a: Array, b: Array) -> Array:
    """Return products of matrices, one per leading index."""
    return _product("bmm", a, b, (3, 3))


def mv(a: Array, b: Array) -> Array:
    """Return the product of a matrix and a vector."""
    return _product("mv", a, b, (2, 1))


def dot(a: Array, b: Array) -> Array:
    """Return the sum of the products of two vectors' elements."""
    return _product("dot", a, b, (1, 1))


def tensordot(a: Array, b: Array, dims: Any = 2) -> Array:
    """Return sums of products over several axes."""
    return np.tensordot(a, b, dims)


def cat(tensors: Sequence[Any], dim: int = 0) -> Array:
    """Return tensors one after the other along an axis.

    >>> from forerun import torch
    >>> torch.cat((torch.ones(1, 2), torch.zeros(1, 2)), dim=1).tolist()
    [[1.0, 1.0, 0.0, 0.0]]
    """
    return np.concatenate(tensors, dim)


concat = cat


def stack(tensors: Sequence[Any], dim: int = 0) -> Array:
    """Return tensors of one shape side by side along a new axis."""
    return np.stack(tensors, dim)


def split(x: Array, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Return views of parts along an axis: of one size (the last may be smaller), or of the sizes given."""
    n, sizes = x.shape[dim], split_size_or_sections
    if isinstance(sizes, int):
        return tuple(np.array_split(x, range(sizes, n, sizes), dim))
    if sum(sizes) != n:
        raise ValueError(f"split: sizes must add up to {n}, got {list(sizes)}")
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    return tuple(np.array_split(x, ends, dim))


def chunk(x: Array, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Return views of so many parts along an axis, or fewer: all of one size, the last may be smaller."""
    return split(x, max(1, math.ceil(x.shape[dim] / chunks)), dim)


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Return x with the axes from start_dim to end_dim as one."""
    if x.ndim == 0:
        return x.reshape(1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def squeeze(x: Array, dim: int | Sequence[int] | None = None) -> Array:
    """Return a view without the axis if its extent is 1; by default without all such axes."""
    if isinstance(dim, int):
        return np.squeeze(x, dim) if x.shape[dim] == 1 else x
    return np.squeeze(x, dim)


def unsqueeze(x: Array, dim: int) -> Array:
    """Return a view with an axis of extent 1 put in."""
    return np.expand_dims(x, dim)


def transpose(x: Array, dim0: int, dim1: int) -> Array:
    """Return a view with two axes exchanged."""
    return np.swapaxes(x, dim0, dim1)


def permute(x: Array, dims: Sequence[int]) -> Array:
    """Return a view with the axes in another order."""
    return np.transpose(x, dims)


def t(x: Array) -> Array:
    """Return a view of a matrix with its axes exchanged; vectors stay as they are. ValueError for more axes."""
    if x.ndim > 2:
        raise ValueError(f"t: tensor must have at most 2 axes, got shape {x.shape}")
    return np.transpose(x)


def flip(x: Array, dims: int | Sequence[int]) -> Array:
    """Return a view with the order of elements reversed along axes."""
    return np.flip(x, dims)


def roll(x: Array, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Array:
    """Return x with its elements shifted around along axes."""
    return np.roll(x, shifts, dims)


def tile(x: Array, dims: Sequence[int]) -> Array:
    """Return x repeated as a whole along its axes."""
    return np.tile(x, dims)


def repeat_interleave(x: Array, repeats: Any, dim: int | None = None) -> Array:
    """Repeat each element several times along an axis."""
    return np.repeat(x, repeats, dim)


def meshgrid(*tensors: Array, indexing: str = "ij") -> tuple[Any, ...]:
    """Return coordinates of a grid: one tensor per vector."""
    return tuple(np.meshgrid(*tensors, indexing=indexing))


def gather(x: Array, dim: int, index: Array) -> Array:
    """Return elements of x at positions along an axis that differ from place to place."""
    return np.take_along_axis(x, index, dim)


def index_select(x: Array, dim: int, index: Array) -> Array:
    """Return slices of x at positions along an axis."""
    return np.take(x, index, dim)


def masked_fill(x: Array, mask: Array, value: ArrayLike) -> Array:
    """Return x with a value where the mask is true."""
    return np.where(mask, value, x)


def nonzero(x: Array) -> Array:
    """Return positions of elements that are not zero, one a row. Waits."""
    return np.argwhere(x)


def numel(x: Array) -> int:
    """Return the number of elements of x."""
    count: int = x.size
    return count
