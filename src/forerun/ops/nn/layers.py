"""Layers as functions: products with weights, embeddings, dropout, normalisation by length."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import as_real_float, asarray, asarray_like_device, asarrays, cast, check_choice
from ..elementwise.arithmetic import sqrt
from ..index.getitem import _gather
from ..index.parser import places_within
from ..linalg.product import matmul_pair, matrix_product
from ..random.uniform_normal import uniform
from ..reduce.reduction import _sum
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["batch_dot", "dropout", "fully_connected", "embedding", "l2_normalization"]


def fully_connected(
    x: ArrayLike, weight: Array, bias: ArrayLike | None = None, num_hidden: int | None = None, no_bias: bool = False,
    flatten: bool = True,
) -> Array:  # fmt: skip
    """Return x @ weight.T + bias.

    Parameters
    ----------
    x : array_like
        The inputs, of shape (batch, ...) with `flatten`, otherwise (..., inputs).
    weight : array
        The weight, of shape (units, inputs).
    bias : array_like, optional
        The numbers added to each row of the result, of shape (units,), or None.
    num_hidden : int, optional
        The number of units. It is that of the weight, and is checked if given.
    no_bias : bool, optional
        True does not add `bias`.
    flatten : bool, optional
        True: all axes of `x` but the first count as inputs. False: the last one does.

    Returns
    -------
    array
        The result, of shape (batch, units) with `flatten`, otherwise (..., units). Dtypes are promoted.

    Raises
    ------
    ValueError
        If the number of inputs does not fit the weight, or `num_hidden` is not that of units.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x, weight, bias = np.ones((2, 3)), np.ones((1, 3)), np.array([0.5])
    >>> npx.fully_connected(x, weight, bias).tolist(), npx.fully_connected(x, weight, bias, no_bias=True).tolist()
    ([[3.5], [3.5]], [[3.0], [3.0]])
    """
    x = asarray_like_device(x, weight, bias)
    if num_hidden is not None and weight.shape[0] != num_hidden:
        raise ValueError(f"fully_connected: weight must have {num_hidden} rows, got shape {weight.shape}")
    before = x.shape[:1] if flatten else x.shape[:-1]
    if x.ndim != 2:
        x = reshape(x, (math.prod(before), math.prod(x.shape[len(before) :])))
    result = matrix_product(*matmul_pair(x, weight, "fully_connected"), False, True)
    if bias is not None and not no_bias:
        result = result + bias
    return result if len(before) == 1 else reshape(result, (*before, weight.shape[0]))


def batch_dot(a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    """Return products of matrices, one for each leading index.

    The last two axes are those of matrices and the axes before them broadcast, as in `matmul`.

    Parameters
    ----------
    a : array_like
        The first operands, of shape (..., n, k), or (..., k, n) with `transpose_a`.
    b : array_like
        The second operands, of shape (..., k, m), or (..., m, k) with `transpose_b`.
    transpose_a : bool, optional
        True exchanges the last two axes of `a` before the product.
    transpose_b : bool, optional
        True exchanges the last two axes of `b` before the product.

    Returns
    -------
    array
        The products, of shape (..., n, m); the dtypes of `a` and `b` are promoted.

    Raises
    ------
    ValueError
        If the inner extents k differ, or the leading axes do not broadcast.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.batch_dot(np.ones((2, 3, 4)), np.ones((2, 5, 4)), transpose_b=True).shape
    (2, 3, 5)
    """
    return matrix_product(*matmul_pair(a, b, "batch_dot"), transpose_a, transpose_b)


def embedding(
    index: ArrayLike, weight: ArrayLike, input_dim: int | None = None, output_dim: int | None = None
) -> Array:
    """Return rows of the weight at positions.

    Parameters
    ----------
    index : array_like
        The positions of rows, of any shape. Negative ones count from the end, and numbers that are not integers are
        converted to int64.
    weight : array_like
        The rows, of shape (input_dim, output_dim), or with more axes after these.
    input_dim : int, optional
        The number of rows. It is that of the weight, and is checked if given.
    output_dim : int, optional
        The length of a row. It is that of the weight, and is checked if given.

    Returns
    -------
    array
        The rows, of shape index.shape + weight.shape[1:], in the dtype of `weight`.

    Raises
    ------
    IndexError
        Where the result is read, if a position is out of range.
    ValueError
        If `input_dim` or `output_dim` is given and is not the weight's.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.embedding([1, 0, 1], np.array([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2], [3, 4]]
    """
    index, weight = asarrays(index, weight)
    asked = tuple(n if d is None else d for n, d in zip(weight.shape[:2], (input_dim, output_dim)))
    if asked != weight.shape[:2]:
        raise ValueError(f"embedding: weight must have shape (input_dim, output_dim), got {weight.shape} for {asked}")
    index = index if index.dtype.kind in "iu" else cast(index, numpy.dtype("int64"))
    at = places_within("embedding", index, weight.shape[0], "raise", weight.device, "same_kind")
    return _gather(weight, [at], 0, "embedding")


def dropout(x: ArrayLike, p: float = 0.5, axes: tuple[int, ...] = (), mode: str = "training") -> Array:
    """While training, set elements to zero with a probability and scale the others; otherwise return x itself.

    The others are divided by 1 - p (Srivastava et al. 2014).

    Parameters
    ----------
    x : array_like
        The values.
    p : float, optional
        The probability of each element to be zero, in [0, 1).
    axes : tuple of ints, optional
        The axes along which all elements are set to zero or kept together, counted from 0.
    mode : str, optional
        "training", or "always" for the same when not training.

    Returns
    -------
    array
        The elements that are left and zeros, in the shape of `x`. It is `x` itself if p is 0, or when not training
        unless the mode is "always".

    Raises
    ------
    ValueError
        If `p` is not in [0, 1).

    Examples
    --------
    >>> from forerun import autograd, np, npx
    >>> x = np.ones(100)
    >>> with autograd.train_mode():
    ...     y = npx.dropout(x, 0.5)
    >>> ((y == 0) | (y == 2)).all().item(), npx.dropout(x, 0.5) is x
    (True, True)
    """
    if not 0 <= p < 1:
        raise ValueError(f"dropout: p must be in [0, 1), got {p}")
    x = asarray(x)
    if p == 0 or not (mode == "always" or _core.training()):
        return x
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    keep = uniform(size=shape, device=x.device) >= p
    return x * (cast(keep, x.dtype) * (1 / (1 - p)))


def l2_normalization(data: ArrayLike, eps: float = 1e-10, mode: str = "instance") -> Array:
    """Return data divided by the square root of eps plus the sum of its squares.

    Parameters
    ----------
    data : array_like
        The values, of real numbers. Integers and bools are taken in the default float.
    eps : float, optional
        A number that is added to the sum of squares.
    mode : str, optional
        The elements whose squares are added: "instance", those of each instance along the first axis; "channel", those
        of all channels, along axis 1, at each place; "spatial", those of each channel by itself.

    Returns
    -------
    array
        The normalized values, of data's shape.

    Raises
    ------
    ValueError
        If the mode is another word, or data has too few axes: "instance" needs one, the others two.
    TypeError
        If data is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.l2_normalization([[3.0, 4.0]]).round(1).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    check_choice("l2_normalization", "mode", mode, ("instance", "channel", "spatial"))
    x = as_real_float("l2_normalization", data)
    if x.ndim < (1 if mode == "instance" else 2):
        raise ValueError(f"l2_normalization: array must have more axes for {mode!r}, got shape {x.shape}")
    axes = {"instance": range(1, x.ndim), "channel": (1,), "spatial": range(2, x.ndim)}[mode]
    return x / sqrt(_sum(x * x, tuple(axes), True) + eps)
