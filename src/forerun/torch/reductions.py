"""Reductions, running sums and shares along an axis, in PyTorch's spelling: `dim`, `keepdim`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import np, npx
from .dtypes import as_dtype

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DTypeLike

__all__ = [
    "sum", "mean", "prod", "var", "std", "all", "any", "cumsum", "cumprod", "norm", "logsumexp", "softmax",
    "log_softmax",
]  # fmt: skip

Dim = int | tuple[int, ...] | None


def sum(x: Array, dim: Dim = None, keepdim: bool = False, dtype: DTypeLike = None) -> Array:
    """Return the sum over axes.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.
    dtype : dtype, optional
        The dtype of the result; by default that of the input.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.sum(torch.ones(2, 3), dim=1).tolist()
    [3.0, 3.0]
    """
    return np.sum(x, dim, as_dtype(dtype), keepdims=keepdim)


def mean(x: Array, dim: Dim = None, keepdim: bool = False, dtype: DTypeLike = None) -> Array:
    """Return the mean over axes.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.
    dtype : dtype, optional
        The dtype of the result; by default that of the input.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.mean(torch.tensor([1.0, 3.0])).item()
    2.0
    """
    return np.mean(x, dim, as_dtype(dtype), keepdims=keepdim)


def prod(x: Array, dim: Dim = None, keepdim: bool = False, dtype: DTypeLike = None) -> Array:
    """Return the product over axes.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.
    dtype : dtype, optional
        The dtype of the result; by default that of the input.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.prod(torch.tensor([2.0, 3.0])).item()
    6.0
    """
    return np.prod(x, dim, as_dtype(dtype), keepdims=keepdim)


def var(x: Array, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Array:
    """Return the variance over axes: squares divided by their number less `correction`.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    correction : float, default 1
        The number by which that of the elements is lessened: 1 of a sample, 0 of all.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.var(torch.tensor([1.0, 1.0])).item()
    0.0
    """
    return np.var(x, dim, ddof=correction, keepdims=keepdim)


def std(x: Array, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Array:
    """Return the standard deviation over axes, the root of `var`.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    correction : float, default 1
        The number by which that of the elements is lessened: 1 of a sample, 0 of all.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.std(torch.tensor([1.0, 1.0])).item()
    0.0
    """
    return np.std(x, dim, ddof=correction, keepdims=keepdim)


def all(x: ArrayLike, dim: Dim = None, keepdim: bool = False) -> Array:
    """Return whether all elements over axes are true.

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
    >>> torch.all(torch.tensor([True, False])).item()
    False
    """
    return np.all(x, dim, keepdims=keepdim)


def any(x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
    """Return whether any element over axes is true.

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
    >>> torch.any(torch.tensor([True, False])).item()
    True
    """
    return np.any(x, dim, keepdims=keepdim)


def cumsum(x: Array, dim: int) -> Array:
    """Return running sums along an axis.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int
        The axis.

    Returns
    -------
    Tensor
        The sums.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cumsum(torch.tensor([1, 2, 3]), 0).tolist()
    [1, 3, 6]
    """
    return np.cumsum(x, dim)


def cumprod(x: Array, dim: int) -> Array:
    """Return running products along an axis.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int
        The axis.

    Returns
    -------
    Tensor
        The products.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.cumprod(torch.tensor([1, 2, 3]), 0).tolist()
    [1, 2, 6]
    """
    return np.cumprod(x, dim)


def norm(x: Array, p: float | str = 2, dim: Dim = None, keepdim: bool = False) -> Array:
    """Return the p-norm of the elements over axes: (sum of |x|**p) ** (1 / p). p: a number, `inf`, or "fro" for 2.

    Parameters
    ----------
    x : Tensor
        The input.
    p : float or str, default 2
        The exponent, or "fro" for 2.
    dim : int or tuple of int, optional
        The axis or axes; all by default.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        The norm.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.norm(torch.tensor([3.0, 4.0])).item()
    5.0
    """
    size = np.abs(x)
    if p == numpy.inf:
        return np.max(size, dim, keepdims=keepdim)
    if p == 1:
        return np.sum(size, dim, keepdims=keepdim)
    if p in (2, "fro"):
        return np.sqrt(np.sum(np.square(size), dim, keepdims=keepdim))
    order: Any = p
    found: Array = np.sum(size**order, dim, keepdims=keepdim) ** (1 / order)
    return found


def logsumexp(x: Array, dim: Dim, keepdim: bool = False) -> Array:
    """Return log(sum of exp(x)) over axes, without overflow.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int or tuple of int
        The axis or axes.
    keepdim : bool, default False
        Whether the axis stays, with extent 1.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.logsumexp(torch.zeros(1, 1), 1).tolist()
    [0.0]
    """
    return np.logsumexp(x, dim, keepdims=keepdim)


def softmax(x: Array, dim: int = -1) -> Array:
    """Return exp(x) divided by its sum along an axis, without overflow.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int, default -1
        The axis; the last one by default.

    Returns
    -------
    Tensor
        The result, whose sum is 1 along the axis.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.softmax(torch.zeros(4), 0).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return npx.softmax(x, dim)


def log_softmax(x: Array, dim: int = -1) -> Array:
    """Return log(softmax(x)), without loss of small values.

    Parameters
    ----------
    x : Tensor
        The input.
    dim : int, default -1
        The axis; the last one by default.

    Returns
    -------
    Tensor
        The logarithms.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.log_softmax(torch.zeros(1), 0).tolist()
    [0.0]
    """
    return npx.log_softmax(x, dim)
