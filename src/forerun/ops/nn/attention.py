"""The products of attention with interleaved heads; the rest of it is `batch_dot` and `masked_softmax`.

Queries, keys and values of all heads are in one array, as one product with one weight gives them: (steps, batch,
heads, how many of the three, features), flat from the third axis on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._base.convert import asarray, asarrays
from ..elementwise.select import where
from ..shape.axis_order import transpose
from ..shape.reshape import reshape
from .layers import batch_dot
from .softmax import log_softmax

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "masked_log_softmax", "interleaved_matmul_selfatt_qk", "interleaved_matmul_selfatt_valatt",
    "interleaved_matmul_encdec_qk", "interleaved_matmul_encdec_valatt",
]  # fmt: skip


def masked_log_softmax(x: ArrayLike, mask: ArrayLike, axis: int = -1, temperature: float | None = None) -> Array:
    """Return the logarithm of the softmax over the elements where the mask is true; -inf elsewhere.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. Integers and bools are taken in the default float.
    mask : array_like
        The elements that count: those where the mask is not 0. It is of x's shape, or broadcasts to it.
    axis : int, optional
        The axis along which the softmax is taken.
    temperature : float, optional
        A number that `x` is divided by first.

    Returns
    -------
    array
        The logarithms of the softmax, of floats; -inf where the mask is false.

    Raises
    ------
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.masked_log_softmax(np.zeros(3), [1, 0, 0]).tolist()
    [0.0, -inf, -inf]
    """
    x, mask = asarrays(x, mask)
    mask = mask != 0
    return where(mask, log_softmax(where(mask, x, -1e30), axis, temperature=temperature), -math.inf)


def _heads(op: str, x: ArrayLike, heads: int, parts: int) -> list[Any]:
    """Return the parts of the last axis, each (batch * heads, steps, features)."""
    x = asarray(x)
    if x.ndim != 3 or heads < 1 or x.shape[2] % (heads * parts):
        wanted = f"3 axes, the last a multiple of {heads} heads times {parts}"
        raise ValueError(f"{op}: array must have {wanted}, got shape {x.shape}")
    steps, batch, width = x.shape
    several = reshape(x, (steps, batch, heads, parts, width // (heads * parts)))
    return [
        reshape(transpose(several[:, :, :, i], (1, 2, 0, 3)), (batch * heads, steps, -1 if width else 0))
        for i in range(parts)
    ]


def _scores(queries: Array, keys: Array) -> Array:
    return batch_dot(queries / math.sqrt(queries.shape[2]), keys, transpose_b=True)


def _weighted(attention: Array, values: Array, heads: int) -> Array:
    """Return sums of values, (steps, batch, heads * features)."""
    y = batch_dot(attention, values)
    several, steps, width = y.shape
    return reshape(
        transpose(reshape(y, (several // heads, heads, steps, width)), (2, 0, 1, 3)),
        (steps, several // heads, heads * width),
    )


def interleaved_matmul_selfatt_qk(queries_keys_values: ArrayLike, heads: int) -> Array:
    """Return products of queries and keys, divided by the square root of their width: the scores of self-attention.

    Queries, keys and values of all heads are in one array, as one product with one weight gives them.

    Parameters
    ----------
    queries_keys_values : array_like
        Queries, keys and values, of shape (steps, batch, heads * 3 * width). Along the last axis, each head has its
        query, its key and its value, one after the other.
    heads : int
        The number of heads.

    Returns
    -------
    array
        The products, of shape (batch * heads, steps, steps).

    Raises
    ------
    ValueError
        If the array is of another shape, or there is not at least one head.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.interleaved_matmul_selfatt_qk(np.ones((5, 2, 24)), heads=2).shape
    (4, 5, 5)
    """
    q, k, _ = _heads("interleaved_matmul_selfatt_qk", queries_keys_values, heads, 3)
    return _scores(q, k)


def interleaved_matmul_selfatt_valatt(queries_keys_values: ArrayLike, attention: ArrayLike, heads: int) -> Array:
    """Return the values of self-attention, weighted by attention.

    Queries, keys and values of all heads are in one array, as one product with one weight gives them.

    Parameters
    ----------
    queries_keys_values : array_like
        Queries, keys and values, of shape (steps, batch, heads * 3 * width). Along the last axis, each head has its
        query, its key and its value, one after the other.
    attention : array_like
        The weights of the values, of shape (batch * heads, steps, steps).
    heads : int
        The number of heads.

    Returns
    -------
    array
        The weighted sums of values, of shape (steps, batch, heads * width).

    Raises
    ------
    ValueError
        If arrays are of other shapes, or there is not at least one head.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x, weights = np.ones((5, 2, 24)), np.full((4, 5, 5), 0.2)
    >>> npx.interleaved_matmul_selfatt_valatt(x, weights, heads=2).shape
    (5, 2, 8)
    """
    x, attention = asarrays(queries_keys_values, attention)
    _, _, v = _heads("interleaved_matmul_selfatt_valatt", x, heads, 3)
    return _weighted(attention, v, heads)


def interleaved_matmul_encdec_qk(queries: ArrayLike, keys_values: ArrayLike, heads: int) -> Array:
    """Return products of queries and others' keys, over the root of their width.

    Parameters
    ----------
    queries : array_like
        The queries of all heads, of shape (steps, batch, heads * width).
    keys_values : array_like
        The others' keys and values of all heads, of shape (others' steps, batch, heads * 2 * width).
    heads : int
        The number of heads, 1 or more.

    Returns
    -------
    array
        The products, of shape (batch * heads, steps, others' steps).

    Raises
    ------
    ValueError
        For other shapes, or if the last axis is not a multiple of the number of heads.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.interleaved_matmul_encdec_qk(np.ones((5, 2, 8)), np.ones((3, 2, 16)), heads=2).shape
    (4, 5, 3)
    """
    queries, keys_values = asarrays(queries, keys_values)
    (q,) = _heads("interleaved_matmul_encdec_qk", queries, heads, 1)
    k, _ = _heads("interleaved_matmul_encdec_qk", keys_values, heads, 2)
    return _scores(q, k)


def interleaved_matmul_encdec_valatt(keys_values: ArrayLike, attention: ArrayLike, heads: int) -> Array:
    """Return others' values weighted by attention.

    Parameters
    ----------
    keys_values : array_like
        The others' keys and values of all heads, of shape (others' steps, batch, heads * 2 * width).
    attention : array_like
        The weights, of shape (batch * heads, steps, others' steps).
    heads : int
        The number of heads, 1 or more.

    Returns
    -------
    array
        The weighted sums, of shape (steps, batch, heads * width).

    Raises
    ------
    ValueError
        For other shapes, or if the last axis of `keys_values` is not a multiple of twice the number of heads.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.interleaved_matmul_encdec_valatt(np.ones((3, 2, 16)), np.ones((4, 5, 3)), heads=2).shape
    (5, 2, 8)
    """
    keys_values, attention = asarrays(keys_values, attention)
    _, v = _heads("interleaved_matmul_encdec_valatt", keys_values, heads, 2)
    return _weighted(attention, v, heads)
