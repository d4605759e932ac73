"""How parameters start: functions that fill a tensor in place, and return it. Nothing here waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import init as _init
from ..._display.namespaces import dir_of
from ..grad import no_grad

if TYPE_CHECKING:
    from ...typing import Array


__all__ = [
    "constant_", "zeros_", "ones_", "uniform_", "normal_", "xavier_uniform_", "xavier_normal_",
    "kaiming_uniform_", "kaiming_normal_", "orthogonal_",
]  # fmt: skip
__dir__ = dir_of(__name__)


def _filled(x: Array, rule: Callable[[Any], None]) -> Array:
    with no_grad():
        rule(x)
    return x


def constant_(x: Array, val: float) -> Array:
    """Fill a tensor with one value.

    Parameters
    ----------
    x : Tensor
        The input.
    val : float
        The value.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> constant_(torch.empty(2), 3.0).tolist()
    [3.0, 3.0]
    """
    return _filled(x, _init.Constant(val))


def zeros_(x: Array) -> Array:
    """Fill a tensor with zeros.

    Parameters
    ----------
    x : Tensor
        The input.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.zeros_(torch.empty(2)).tolist()
    [0.0, 0.0]
    """
    return constant_(x, 0.0)


def ones_(x: Array) -> Array:
    """Fill a tensor with ones.

    Parameters
    ----------
    x : Tensor
        The input.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.ones_(torch.empty(2)).tolist()
    [1.0, 1.0]
    """
    return constant_(x, 1.0)


def uniform_(x: Array, a: float = 0.0, b: float = 1.0) -> Array:
    """Fill a tensor with numbers evenly spread over [a, b).

    Parameters
    ----------
    x : Tensor
        The input.
    a : float, default 0.0
        The lower limit.
    b : float, default 1.0
        The upper limit.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.uniform_(torch.empty(2), 1.0, 1.0).tolist()
    [1.0, 1.0]
    """
    return _filled(x, lambda t: t.uniform_(a, b))


def normal_(x: Array, mean: float = 0.0, std: float = 1.0) -> Array:
    """Fill a tensor with numbers of a normal distribution.

    Parameters
    ----------
    x : Tensor
        The input.
    mean : float, default 0.0
        Its mean.
    std : float, default 1.0
        Its standard deviation.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.normal_(torch.empty(2), 3.0, 0.0).tolist()
    [3.0, 3.0]
    """
    return _filled(x, lambda t: t.normal_(mean, std))


def xavier_uniform_(x: Array, gain: float = 1.0) -> Array:
    """Fill a tensor with uniform draws whose variance is 2 gain**2 / (fan-in + fan-out) (Glorot and Bengio, 2010).

    Parameters
    ----------
    x : Tensor
        The input.
    gain : float, default 1.0
        A factor of all values.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.xavier_uniform_(torch.empty(2, 3)).shape
    (2, 3)
    """
    return _filled(x, _init.Xavier("uniform", "avg", 3 * gain**2))


def xavier_normal_(x: Array, gain: float = 1.0) -> Array:
    """Fill a tensor with normal draws whose variance is 2 gain**2 / (fan-in + fan-out).

    Parameters
    ----------
    x : Tensor
        The input.
    gain : float, default 1.0
        A factor of all values.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.xavier_normal_(torch.empty(2, 3)).shape
    (2, 3)
    """
    return _filled(x, _init.Xavier("gaussian", "avg", gain**2))


def kaiming_uniform_(x: Array, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Array:
    """Fill a tensor with uniform draws for layers followed by a ReLU of negative slope `a` (He et al., 2015).

    Parameters
    ----------
    x : Tensor
        The input.
    a : float, default 0.0
        The slope of the activation for negative inputs.
    mode : str, default "fan_in"
        "fan_in" keeps the variance of outputs, "fan_out" that of gradients.
    nonlinearity : str, default "leaky_relu"
        The activation that follows.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.kaiming_uniform_(torch.empty(2, 3)).shape
    (2, 3)
    """
    return _filled(x, _init.Xavier("uniform", mode.removeprefix("fan_"), 3 * _gain(a, nonlinearity) ** 2))


def kaiming_normal_(x: Array, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Array:
    """Fill a tensor with normal draws for layers followed by a ReLU of negative slope `a`.

    Parameters
    ----------
    x : Tensor
        The input.
    a : float, default 0.0
        The slope of the activation for negative inputs.
    mode : str, default "fan_in"
        "fan_in" keeps the variance of outputs, "fan_out" that of gradients.
    nonlinearity : str, default "leaky_relu"
        The activation that follows.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.kaiming_normal_(torch.empty(2, 3)).shape
    (2, 3)
    """
    return _filled(x, _init.Xavier("gaussian", mode.removeprefix("fan_"), _gain(a, nonlinearity) ** 2))


def orthogonal_(x: Array, gain: float = 1.0) -> Array:
    """Fill a tensor with an orthogonal matrix times `gain` (Saxe et al., 2013).

    Parameters
    ----------
    x : Tensor
        The input.
    gain : float, default 1.0
        A factor of all values.

    Returns
    -------
    Tensor
        x itself.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.nn.init.orthogonal_(torch.empty(2, 2)).shape
    (2, 2)
    """
    return _filled(x, _init.Orthogonal(gain))


def _gain(a: float, nonlinearity: str) -> float:
    gains = {"relu": math.sqrt(2), "leaky_relu": math.sqrt(2 / (1 + a**2)), "linear": 1.0, "tanh": 5 / 3}
    if nonlinearity not in gains:
        raise ValueError(f"kaiming: nonlinearity must be one of {', '.join(gains)}, got {nonlinearity!r}")
    return gains[nonlinearity]
