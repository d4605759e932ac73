"""Functions of elements, and products, with PyTorch's names and argument names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import np, npx

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike

__all__ = [
    "abs", "add", "sub", "mul", "div", "neg", "pow", "square", "sqrt", "rsqrt", "exp", "expm1", "log", "log1p",
    "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sigmoid",
    "relu", "sign", "floor", "ceil", "round", "trunc", "reciprocal", "remainder", "maximum", "minimum", "clamp",
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "isclose", "allclose", "equal", "where",
    "logical_and", "logical_or", "logical_not", "mm", "bmm", "mv", "matmul", "dot", "outer", "einsum", "tensordot",
    "reshape", "broadcast_to", "tril", "triu", "diag", "trace", "unique", "clone",
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
    """Return 1 / sqrt(x).

    Parameters
    ----------
    x : Tensor
        The input.

    Returns
    -------
    Tensor
        Of the same shape; integers give floats.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.rsqrt(torch.tensor([4.0])).tolist()
    [0.5]
    """
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


def tensordot(a: Array, b: Array, dims: int | Sequence[Sequence[int]] = 2) -> Array:
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
