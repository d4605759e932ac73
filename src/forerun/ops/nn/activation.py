"""Activations: what layers do to each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarray_like_device, cast, check_choice
from ..elementwise.arithmetic import maximum, minimum
from ..elementwise.erf import erf
from ..elementwise.exponential import exp, logaddexp, tanh
from ..elementwise.select import where
from ..random.uniform_normal import uniform
from ..shape.reshape import reshape
from .functions import relu, sigmoid

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "activation", "elu", "gelu", "hard_sigmoid", "leaky_relu", "log_sigmoid", "mish", "selu", "silu", "softrelu",
    "softsign",
]  # fmt: skip


def softrelu(x: ArrayLike) -> Array:
    """Return log(1 + exp(x)), a smooth form of the rectified linear unit, computed without overflow.

    Parameters
    ----------
    x : array_like
        The values, of real numbers.

    Returns
    -------
    array
        Numbers that are not negative, in x's dtype; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.softrelu([-1000.0, 1000.0]).tolist()
    [0.0, 1000.0]
    """
    return logaddexp(asarray(x), 0)


def log_sigmoid(x: ArrayLike) -> Array:
    """Return log(1 / (1 + exp(-x))), the logarithm of `sigmoid`, computed without overflow.

    Parameters
    ----------
    x : array_like
        The values, of real numbers.

    Returns
    -------
    array
        Numbers that are not positive, in x's dtype; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.log_sigmoid([-1000.0]).tolist()
    [-1000.0]
    """
    return -softrelu(-asarray(x))


def softsign(x: ArrayLike) -> Array:
    """Return x / (1 + |x|), which lies between -1 and 1.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The result for each element, in x's dtype; of integers in the default float.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.softsign([-1.0, 3.0]).tolist()
    [-0.5, 0.75]
    """
    x = asarray(x)
    return x / (1 + abs(x))


def silu(x: ArrayLike) -> Array:
    """Return x * sigmoid(x), the sigmoid linear unit (Elfwing et al. 2017).

    Parameters
    ----------
    x : array_like
        The values, of real numbers.

    Returns
    -------
    array
        The result for each element, in x's dtype; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.silu([0.0, 100.0]).tolist()
    [0.0, 100.0]
    """
    x = asarray(x)
    return x * sigmoid(x)


def gelu(x: ArrayLike) -> Array:
    """Return the Gaussian error linear unit, x * Phi(x), in the tanh approximation.

    It is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x**3))) (Hendrycks and Gimpel 2016).

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.gelu([0.0, 10.0]).tolist()
    [0.0, 10.0]
    """
    x = asarray(x)
    return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def elu(x: ArrayLike, alpha: float = 1.0) -> Array:
    """Return x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2015).

    Parameters
    ----------
    x : array_like
        The values.
    alpha : float, optional
        The factor of exp(x) - 1.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.elu([-1000.0, 2.0], alpha=0.5).tolist()
    [-0.5, 2.0]
    """
    x = asarray(x)
    return where(x > 0, x, alpha * (exp(minimum(x, 0)) - 1))


def selu(x: ArrayLike) -> Array:
    """Return the self-normalising elu (Klambauer et al. 2017): 1.0507 * elu(x, 1.6733), with more digits.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The result for each element, in x's dtype; of integers in the default float.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.selu([0.0, 1.0])
    array([0.      , 1.050701])
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def mish(x: ArrayLike) -> Array:
    """Return x * tanh(log(1 + exp(x))) (Misra 2019).

    Parameters
    ----------
    x : array_like
        The values, of real numbers.

    Returns
    -------
    array
        The result for each element, in x's dtype; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.mish([0.0, 100.0]).tolist()
    [0.0, 100.0]
    """
    x = asarray(x)
    return x * tanh(softrelu(x))


def hard_sigmoid(x: ArrayLike, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """Return alpha * x + beta, kept between 0 and 1.

    Parameters
    ----------
    x : array_like
        The values.
    alpha : float, optional
        The slope.
    beta : float, optional
        The result where `x` is 0.

    Returns
    -------
    array
        The results, in the shape and dtype of `x`; of integers in the default float.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.hard_sigmoid([-9.0, 0.0, 9.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    return minimum(maximum(alpha * asarray(x) + beta, 0), 1)


def _gelu_erf(x: Array) -> Array:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


# --- those that leak ------------------------------------------------------------------------------

_LEAKY = ("elu", "gelu", "gelu_erf", "gelu_tanh", "leaky", "prelu", "rrelu", "selu")
_LEAKY_OTHERS: dict[str, Callable[[Array], Array]] = {
    "gelu": _gelu_erf,
    "gelu_erf": _gelu_erf,
    "gelu_tanh": gelu,
    "selu": selu,
}


def leaky_relu(
    x: ArrayLike, slope: Any = 0.25, *, gamma: ArrayLike | None = None, act_type: str = "leaky",
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
