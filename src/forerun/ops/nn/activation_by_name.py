"""Activations that are chosen by a word: `activation`, and `leaky_relu` with its kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarray_like_device, cast, check_choice
from ..elementwise.erf import erf
from ..elementwise.exponential import tanh
from ..elementwise.select import where
from ..random.uniform_normal import uniform
from ..shape.reshape import reshape
from .activation import elu, gelu, hard_sigmoid, log_sigmoid, mish, relu, selu, sigmoid, silu, softrelu, softsign

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["activation", "leaky_relu"]


def _gelu_erf(x: Array) -> Array:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


_LEAKY = ("elu", "gelu", "gelu_erf", "gelu_tanh", "leaky", "prelu", "rrelu", "selu")
_LEAKY_OTHERS: dict[str, Callable[[Array], Array]] = {
    "gelu": _gelu_erf,
    "gelu_erf": _gelu_erf,
    "gelu_tanh": gelu,
    "selu": selu,
}


def leaky_relu(
    x: ArrayLike, slope: float = 0.25, *, gamma: ArrayLike | None = None, act_type: str = "leaky",
    lower_bound: float = 0.125, upper_bound: float = 0.334,
) -> Array:  # fmt: skip
    """Return x where it is positive, slope * x elsewhere; or another function that leaks, by `act_type`.

    Parameters
    ----------
    x : array_like
        The values.
    slope : float or array_like, optional
        The slope where `x` is not positive; the alpha of "elu". Several numbers are taken as `gamma`.
    gamma : array_like, optional
        The slopes of "prelu", which are learned: one, or one for each position of axis 1.
    act_type : str, optional
        The function. "leaky" is slope * x where `x` is not positive. "prelu" is gamma * x in place of slope * x.
        "rrelu" takes a slope for each element, drawn evenly between `lower_bound` and `upper_bound` while training, and
        the middle of these otherwise. "elu" is the function `elu`, with `slope` as its alpha. "gelu" and "gelu_erf" are
        the Gaussian error linear unit, computed by the error function; "gelu_tanh" is the function `gelu`. "selu" is
        the function `selu`.
    lower_bound : float, optional
        The lower bound of the slopes of "rrelu".
    upper_bound : float, optional
        The upper bound of the slopes of "rrelu".

    Returns
    -------
    array
        The result for each element, of x's shape.

    Raises
    ------
    ValueError
        If `act_type` is another word, "prelu" is used without `gamma`, or `gamma` is given for another function.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.leaky_relu([-4.0, 2.0]).tolist(), npx.leaky_relu([-4.0, 2.0], gamma=[0.5], act_type="prelu").tolist()
    ([-1.0, 2.0], [-2.0, 2.0])
    """
    check_choice("leaky_relu", "act_type", act_type, _LEAKY)
    if gamma is None and numpy.ndim(slope):  # MXNet's second parameter is gamma
        slope, gamma = 0.25, slope
    if (gamma is not None) != (act_type == "prelu"):
        raise ValueError(f"leaky_relu: gamma must be given for prelu, and only there, got {gamma} for {act_type!r}")
    x = asarray_like_device(x, gamma)
    if act_type in _LEAKY_OTHERS:
        return _LEAKY_OTHERS[act_type](x)
    if act_type == "elu":
        return elu(x, slope)
    rate: Any = slope
    if gamma is not None:
        rate = asarray(gamma, device=x.device)
        rate = reshape(rate, (-1, *(1,) * (x.ndim - 2))) if x.ndim > 1 and rate.size > 1 else rate
    elif act_type == "rrelu":
        drawn = _core.training()
        middle = (lower_bound + upper_bound) / 2
        rate = cast(uniform(lower_bound, upper_bound, x.shape, device=x.device), x.dtype) if drawn else middle
    return where(x > 0, x, rate * x)


_ACTIVATIONS: dict[str, Callable[[ArrayLike], Array]] = {
    "relu": relu, "sigmoid": sigmoid, "tanh": tanh, "softrelu": softrelu, "softsign": softsign,
    "silu": silu, "gelu": gelu, "log_sigmoid": log_sigmoid, "elu": elu, "selu": selu, "leaky": leaky_relu,
    "mish": mish, "hard_sigmoid": hard_sigmoid,
}  # fmt: skip


def activation(x: ArrayLike, act_type: str = "relu") -> Array:
    """Apply the activation function of a given name to each element.

    The functions have their default parameters.

    Parameters
    ----------
    x : array_like
        The values.
    act_type : str, optional
        The name of the function in `npx`: "elu", "gelu", "hard_sigmoid", "log_sigmoid", "mish", "relu", "selu",
        "sigmoid", "silu", "softrelu" or "softsign"; or "leaky" for `npx.leaky_relu`, or "tanh" for `np.tanh`.

    Returns
    -------
    array
        The result of that function, in the shape of `x`.

    Raises
    ------
    ValueError
        If `act_type` is another name; the message lists the names.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.activation([-1.0, 2.0], "relu").tolist()
    [0.0, 2.0]
    """
    if act_type not in _ACTIVATIONS:
        raise ValueError(f"activation: act_type must be one of {', '.join(sorted(_ACTIVATIONS))}, got {act_type!r}")
    return _ACTIVATIONS[act_type](x)
