"""Functions that layers and losses are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import np, npx
from ..._display.namespaces import dir_of
from ..functions import sigmoid as sigmoid
from ..functions import tanh as tanh
from ..reductions import log_softmax as log_softmax
from ..reductions import softmax as softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, ArrayLike

__all__ = [
    "binary_cross_entropy_with_logits", "cross_entropy", "dropout", "elu", "embedding", "gelu", "l1_loss",
    "layer_norm", "leaky_relu", "linear", "log_softmax", "logsigmoid", "mse_loss", "nll_loss", "one_hot", "relu",
    "selu", "sigmoid", "silu", "smooth_l1_loss", "softmax", "softplus", "tanh",
]  # fmt: skip
__dir__ = dir_of(__name__)

relu, elu, selu, silu, logsigmoid = npx.relu, npx.elu, npx.selu, npx.silu, npx.log_sigmoid


def leaky_relu(x: Array, negative_slope: float = 0.01) -> Array:
    """Return x where it is positive, negative_slope * x elsewhere.

    Parameters
    ----------
    x : Tensor
        The input.
    negative_slope : float, default 0.01
        The factor of negative elements.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> leaky_relu(torch.tensor([-2.0, 2.0]), 0.5).tolist()
    [-1.0, 2.0]
    """
    return npx.leaky_relu(x, negative_slope)


def gelu(x: Array, approximate: str = "none") -> Array:
    """Return x times the standard normal distribution function of x.

    approximate: "none", or "tanh" for `npx.gelu`; ValueError for another word.

    Parameters
    ----------
    x : Tensor
        The input.
    approximate : str, default "none"
        "none", or "tanh" for the approximation by a hyperbolic tangent.

    Returns
    -------
    Tensor
        The result.

    Raises
    ------
    ValueError
        For another word than these two.

    Examples
    --------
    >>> from forerun import torch
    >>> gelu(torch.tensor([0.0, 10.0])).tolist()
    [0.0, 10.0]
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f'gelu: approximate must be "none" or "tanh", got {approximate!r}')
    return npx.gelu(x) if approximate == "tanh" else 0.5 * x * (1 + npx.erf(x * 0.5**0.5))


def softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """Return log(1 + exp(beta * x)) / beta, and x where beta * x is above the threshold.

    Parameters
    ----------
    x : Tensor
        The input.
    beta : float, default 1.0
        The steepness.
    threshold : float, default 20.0
        Above it, beta * x is so large that x is the result.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> softplus(torch.tensor([0.0, 100.0]), 2.0).tolist()
    [0.346573..., 100.0]
    """
    wide = beta * x
    return np.where(wide > threshold, x, npx.softrelu(wide) / beta)


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return x @ weight.T + bias; weight of shape (out, in).

    Parameters
    ----------
    x : Tensor
        Inputs (..., in).
    weight : Tensor
        The matrix (out, in).
    bias : Tensor, optional
        A vector (out,); none by default.

    Returns
    -------
    Tensor
        The result (..., out).

    Examples
    --------
    >>> from forerun import torch
    >>> linear(torch.ones(1, 2), torch.ones(3, 2)).tolist()
    [[2.0, 2.0, 2.0]]
    """
    return npx.fully_connected(x, weight, bias, flatten=False)


def dropout(x: Array, p: float = 0.5, training: bool = True) -> Array:
    """While training, elements are zero with probability p, and others divided by 1 - p; otherwise x itself.

    Parameters
    ----------
    x : Tensor
        The input.
    p : float, default 0.5
        The probability.
    training : bool, default True
        Whether elements are dropped.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> from forerun import torch
    >>> from_one = torch.nn.functional.dropout(torch.ones(3), 0.0)
    >>> from_one.tolist()
    [1.0, 1.0, 1.0]
    """
    if not training:
        return x
    return x * 0 if p == 1 else npx.dropout(x, p, mode="always")


def embedding(index: ArrayLike, weight: ArrayLike) -> Array:
    """Return rows of the weight at positions.

    Parameters
    ----------
    index : Tensor
        Positions, of integers.
    weight : Tensor
        A matrix, of which positions name rows.

    Returns
    -------
    Tensor
        The rows.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.embedding(torch.tensor([1]), torch.tensor([[1.0], [2.0]])).tolist()
    [[2.0]]
    """
    return npx.embedding(index, weight)


def layer_norm(
    x: Array, shape: Sequence[int], weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5
) -> Array:
    """Return x with mean 0 and variance 1 over its last axes, times weight, plus bias.

    ValueError if these axes, the weight or the bias are not of this shape.

    Parameters
    ----------
    x : Tensor
        The input.
    shape : sequence of int
        The extents of the last axes.
    weight : Tensor, optional
        Factors of that shape; none by default.
    bias : Tensor, optional
        Summands of that shape; none by default.
    eps : float, default 1e-5
        A small number that is added to the variance.

    Returns
    -------
    Tensor
        The result.

    Raises
    ------
    ValueError
        If these axes, the weight or the bias are of another shape.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.layer_norm(torch.ones(1, 2), (2,)).tolist()
    [[0.0, 0.0]]
    """
    shape, before = tuple(shape), x.ndim - len(shape)
    for of in (x.shape[max(before, 0) :], *(v.shape for v in (weight, bias) if v is not None)):
        if of != shape:
            raise ValueError(f"layer_norm: last axes, weight and bias must have shape {shape}, got {of}")
    gamma = np.ones(1, x.dtype, device=x.device) if weight is None else weight
    beta = np.zeros(1, x.dtype, device=x.device) if bias is None else bias
    rows = np.reshape(x, (*x.shape[:before], math.prod(shape)))
    return np.reshape(npx.layer_norm(rows, gamma, beta, eps=eps), x.shape)


def one_hot(index: Array, num_classes: int) -> Array:
    """Return a new last axis with 1 at the index and 0 elsewhere. int64.

    Parameters
    ----------
    index : Tensor
        Classes.
    num_classes : int
        How many there are.

    Returns
    -------
    Tensor
        The vectors, of int64.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.one_hot(torch.tensor([1]), 3).tolist()
    [[0, 1, 0]]
    """
    return npx.one_hot(index, num_classes, dtype="int64")


def _reduced(op: str, x: Array, reduction: str) -> Array:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'{op}: reduction must be "mean", "sum" or "none", got {reduction!r}')
    return np.mean(x) if reduction == "mean" else np.sum(x) if reduction == "sum" else x


def _same_shape(op: str, x: Array, target: Array) -> None:
    if x.shape != target.shape:
        raise ValueError(f"{op}: shapes must be the same, got {x.shape} and {target.shape}")


def mse_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return (x - target) ** 2 of each element, then its mean or sum. ValueError for different shapes.

    Parameters
    ----------
    x : Tensor
        The input.
    target : Tensor
        The values to be reached, of the same shape.
    reduction : str, default "mean"
        "mean" or "sum" over all elements, or "none".

    Returns
    -------
    Tensor
        The loss.

    Raises
    ------
    ValueError
        For different shapes, or for another reduction.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.mse_loss(torch.ones(2), torch.zeros(2)).item()
    1.0
    """
    _same_shape("mse_loss", x, target)
    return _reduced("mse_loss", np.square(x - target), reduction)


def l1_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return |x - target| of each element, then its mean or sum.

    Parameters
    ----------
    x : Tensor
        The input.
    target : Tensor
        The values to be reached, of the same shape.
    reduction : str, default "mean"
        "mean" or "sum" over all elements, or "none".

    Returns
    -------
    Tensor
        The loss.

    Raises
    ------
    ValueError
        For different shapes, or for another reduction.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.l1_loss(torch.ones(2), torch.zeros(2)).item()
    1.0
    """
    _same_shape("l1_loss", x, target)
    return _reduced("l1_loss", np.abs(x - target), reduction)


def smooth_l1_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return half the squared error where it is below 1, else the absolute error less a half; then its mean or sum.

    Parameters
    ----------
    x : Tensor
        The input.
    target : Tensor
        The values to be reached, of the same shape.
    reduction : str, default "mean"
        "mean" or "sum" over all elements, or "none".

    Returns
    -------
    Tensor
        The loss.

    Raises
    ------
    ValueError
        For different shapes, or for another reduction.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.smooth_l1_loss(torch.ones(2), torch.zeros(2)).item()
    0.5
    """
    _same_shape("smooth_l1_loss", x, target)
    return _reduced("smooth_l1_loss", npx.smooth_l1(x - target), reduction)


def nll_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return minus the log probability, along axis 1 of x, of each target class; then its mean or sum.

    Parameters
    ----------
    x : Tensor
        Logarithms of probabilities (batch, classes, ...).
    target : Tensor
        The class of each example.
    reduction : str, default "mean"
        "mean" or "sum" over all elements, or "none".

    Returns
    -------
    Tensor
        The loss.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.functional.nll_loss(torch.zeros(2, 4), torch.tensor([0, 3])).item()
    0.0
    """
    return _reduced("nll_loss", -npx.pick(x, target, 1 if x.ndim > 1 else 0), reduction)


def cross_entropy(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return -log(softmax(x)) at the target class, along axis 1 of x; targets in x's shape are distributions.

    Parameters
    ----------
    x : Tensor
        Scores (batch, classes, ...).
    target : Tensor
        The class of each example, or a distribution in the shape of x.
    reduction : str, default "mean"
        "mean" or "sum" over all elements, or "none".

    Returns
    -------
    Tensor
        The loss.

    Examples
    --------
    >>> from forerun import torch
    >>> round(cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3])).item(), 4)
    1.3863
    """
    axis = 1 if x.ndim > 1 else 0
    if target.shape != x.shape:
        losses = npx.cross_entropy(x, target, axis)
    else:
        losses = -np.sum(npx.log_softmax(x, axis) * target, axis)
    return _reduced("cross_entropy", losses, reduction)


def binary_cross_entropy_with_logits(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return -target * log(p) - (1 - target) * log(1 - p), p = sigmoid(x), without overflow; then its mean or sum.

    Parameters
    ----------
    x : Tensor
        The logarithms of the odds.
    target : Tensor
        Probabilities, of the same shape.
    reduction : str, default "mean"
        "mean" or "sum" over all elements, or "none".

    Returns
    -------
    Tensor
        The loss.

    Raises
    ------
    ValueError
        For different shapes, or for another reduction.

    Examples
    --------
    >>> from forerun import torch
    >>> loss = torch.nn.functional.binary_cross_entropy_with_logits(torch.zeros(1), torch.ones(1))
    >>> round(loss.item(), 4)
    0.6931
    """
    _same_shape("binary_cross_entropy_with_logits", x, target)
    losses = npx.relu(x) - x * target + np.log1p(np.exp(-np.abs(x)))
    return _reduced("binary_cross_entropy_with_logits", losses, reduction)
