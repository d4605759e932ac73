"""Activations: functions that layers apply to each element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base.convert import as_real_float, asarray
from .._base.one_module import one_module
from .._base.primitive import primitive
from ..elementwise.arithmetic import maximum, minimum
from ..elementwise.exponential import exp, logaddexp, tanh
from ..elementwise.select import where

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "relu", "sigmoid", "elu", "gelu", "hard_sigmoid", "log_sigmoid", "mish", "selu", "silu", "softrelu", "softsign",
]  # fmt: skip


@primitive(lambda g, y: g * (y > 0), op="relu")
def relu(x: ArrayLike) -> Array:
    """Return max(x, 0), the rectified linear unit. The gradient at 0 is 0.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The larger one of each element and 0, in x's dtype.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return maximum(asarray(x), 0)


@one_module
def _logistic(x: Array) -> Array:
    return 1 / (1 + exp(-x))


@primitive(lambda g, y: g * (y * (1 - y)), op="sigmoid")
def sigmoid(x: ArrayLike) -> Array:
    """Return the logistic function, 1 / (1 + exp(-x)).

    Parameters
    ----------
    x : array_like
        The values, of real numbers.

    Returns
    -------
    array
        Numbers between 0 and 1, in x's dtype; of integers and bools in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.sigmoid([0.0]).tolist()
    [0.5]
    """
    return _logistic(as_real_float("sigmoid", x))


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
