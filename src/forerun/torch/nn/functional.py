"""Functions that layers and losses are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import np, npx
from ..functions import sigmoid as sigmoid
from ..functions import tanh as tanh
from ..reductions import log_softmax as log_softmax
from ..reductions import softmax as softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array, ArrayLike

relu, elu, selu, silu, logsigmoid = npx.relu, npx.elu, npx.selu, npx.silu, npx.log_sigmoid


def leaky_relu(x: Array, negative_slope: float = 0.01) -> Array:
    """Return x where it is positive, negative_slope * x elsewhere.

    >>> from forerun import torch
    >>> leaky_relu(torch.tensor([-2.0, 2.0]), 0.5).tolist()
    [-1.0, 2.0]
    """
    return npx.leaky_relu(x, negative_slope)


def gelu(x: Array, approximate: str = "none") -> Array:
    """Return x times the standard normal distribution function of x.

    approximate: "none", or "tanh" for `npx.gelu`; ValueError for another word.

    >>> from forerun import torch
    >>> gelu(torch.tensor([0.0, 10.0])).tolist()
    [0.0, 10.0]
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f'gelu: approximate must be "none" or "tanh", got {approximate!r}')
    return npx.gelu(x) if approximate == "tanh" else 0.5 * x * (1 + npx.erf(x * 0.5**0.5))


def softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """Return log(1 + exp(beta * x)) / beta, and x where beta * x is above the threshold.

    >>> from forerun import torch
    >>> softplus(torch.tensor([0.0, 100.0]), 2.0).tolist()
    [0.346573..., 100.0]
    """
    wide = beta * x
    return np.where(wide > threshold, x, npx.softrelu(wide) / beta)


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return x @ weight.T + bias; weight of shape (out, in).

    >>> from forerun import torch
    >>> linear(torch.ones(1, 2), torch.ones(3, 2)).tolist()
    [[2.0, 2.0, 2.0]]
    """
    return npx.fully_connected(x, weight, bias, flatten=False)


def dropout(x: Array, p: float = 0.5, training: bool = True) -> Array:
    """While training, elements are zero with probability p, and others divided by 1 - p; otherwise x itself."""
    if not training:
        return x
    return x * 0 if p == 1 else npx.dropout(x, p, mode="always")


def embedding(index: ArrayLike, weight: ArrayLike) -> Array:
    """Return rows of the weight at positions."""
    return npx.embedding(index, weight)


def layer_norm(
    x: Array, shape: Sequence[int], weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5
) -> Array:
    """Return x with mean 0 and variance 1 over its last axes, times weight, plus bias.

    ValueError if these axes, the weight or the bias are not of this shape.
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
    """Return a new last axis with 1 at the index and 0 elsewhere. int64."""
    return npx.one_hot(index, num_classes, dtype="int64")


def _reduced(op: str, x: Array, reduction: str) -> Array:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'{op}: reduction must be "mean", "sum" or "none", got {reduction!r}')
    return np.mean(x) if reduction == "mean" else np.sum(x) if reduction == "sum" else x


def _same_shape(op: str, x: Array, target: Array) -> None:
    if x.shape != target.shape:
        raise ValueError(f"{op}: shapes must be the same, got {x.shape} and {target.shape}")


def mse_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return (x - target) ** 2 of each element, then its mean or sum. ValueError for different shapes."""
    _same_shape("mse_loss", x, target)
    return _reduced("mse_loss", np.square(x - target), reduction)


def l1_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return |x - target| of each element, then its mean or sum."""
    _same_shape("l1_loss", x, target)
    return _reduced("l1_loss", np.abs(x - target), reduction)


def smooth_l1_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return half the squared error where it is below 1, else the absolute error less a half; then its mean or sum."""
    _same_shape("smooth_l1_loss", x, target)
    return _reduced("smooth_l1_loss", npx.smooth_l1(x - target), reduction)


def nll_loss(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return minus the log probability, along axis 1 of x, of each target class; then its mean or sum."""
    return _reduced("nll_loss", -npx.pick(x, target, 1 if x.ndim > 1 else 0), reduction)


def cross_entropy(x: Array, target: Array, reduction: str = "mean") -> Array:
    """Return -log(softmax(x)) at the target class, along axis 1 of x; targets in x's shape are distributions.

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
    """Return -target * log(p) - (1 - target) * log(1 - p), p = sigmoid(x), without overflow; then its mean or sum."""
    _same_shape("binary_cross_entropy_with_logits", x, target)
    losses = npx.relu(x) - x * target + np.log1p(np.exp(-np.abs(x)))
    return _reduced("binary_cross_entropy_with_logits", losses, reduction)
