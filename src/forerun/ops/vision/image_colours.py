"""Images in other colours: brightness, contrast, saturation, hue and lighting.

Random functions draw once per call, so a batch is changed as a whole. Nothing waits. Where images are of floats,
gradients flow through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray
from .._base.random_stream import current
from ..elementwise.exponential import cos, sin
from ..linalg.matmul import matmul
from ..random.uniform_normal import normal, uniform
from ..reduce.mean_variance import mean as _mean
from ..reduce.reduction import sum as _sum
from .image_arrays import _constant, _floats, _images, _like

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "adjust_lighting", "random_brightness", "random_color_jitter", "random_contrast", "random_hue", "random_lighting",
    "random_saturation",
]  # fmt: skip

_GREY = numpy.array([0.299, 0.587, 0.114])
_TO_YIQ = numpy.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ = numpy.linalg.inv(_TO_YIQ)
# The directions in which colours of ImageNet's photographs vary, times how much (Krizhevsky et al. 2012).
_LIGHT = numpy.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]) * [
    55.46, 4.794, 1.148,
]  # fmt: skip


def _factor(op: str, low: float, high: float, x: Array) -> Array:
    if not low <= high:
        raise ValueError(f"{op}: min_factor must be at most max_factor, got {low} and {high}")
    return uniform(low, high, dtype=x.dtype, device=x.device)


def _grey(x: Array) -> Array:
    return _sum(x * _constant(_GREY, x), -1, keepdims=True) if x.shape[-1] == 3 else x


def _brighter(x: Array, by: Array) -> Array:
    return x * by


def _contrasted(x: Array, by: Array) -> Array:
    return x * by + _mean(_grey(x), (-3, -2, -1), keepdims=True) * (1 - by)


def _saturated(x: Array, by: Array) -> Array:
    return x * by + _grey(x) * (1 - by)


def _tinted(x: Array, by: Array) -> Array:
    """Return colours turned around the grey axis by 2 pi times a number."""
    turn = by * (2 * math.pi)
    same, cosine, sine = (_FROM_YIQ @ part @ _TO_YIQ for part in (numpy.diag([1, 0, 0]), numpy.diag([0, 1, 1]),
                          numpy.array([[0, 0, 0], [0, 0, -1], [0, 1, 0]])))  # fmt: skip
    matrix = _constant(same.T, x) + cos(turn) * _constant(cosine.T, x) + sin(turn) * _constant(sine.T, x)
    return matmul(x, matrix)


def _changed(op: str, data: ArrayLike, change: Any, low: float, high: float, channels: int | None = None) -> Array:
    x = _images(op, data, channels)
    y = _floats(x)
    return _like(x, change(y, _factor(op, low, high, y)))


def random_brightness(data: ArrayLike, min_factor: float, max_factor: float) -> Array:
    """Return images with their colours times a number between `min_factor` and `max_factor`.

    The number is drawn once for a call, so that a batch is changed as a whole.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    min_factor : float
        The lower bound of the factor.
    max_factor : float
        The upper bound of the factor.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If `min_factor` is larger than `max_factor`, or data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_brightness(np.ones((1, 1, 3)), 2.0, 2.0).tolist()
    [[[2.0, 2.0, 2.0]]]
    """
    return _changed("random_brightness", data, _brighter, min_factor, max_factor)


def random_contrast(data: ArrayLike, min_factor: float, max_factor: float) -> Array:
    """Return images whose distances of colours from the mean grey are multiplied by a random number.

    The number is drawn once for a call, so that a batch is changed as a whole; the mean grey is that of each image.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    min_factor : float
        The lower bound of the factor.
    max_factor : float
        The upper bound of the factor.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If `min_factor` is larger than `max_factor`, or data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_contrast(np.array([[[0.0], [2.0]]]), 0.5, 0.5).tolist()
    [[[0.5], [1.5]]]
    """
    return _changed("random_contrast", data, _contrasted, min_factor, max_factor)


def random_saturation(data: ArrayLike, min_factor: float, max_factor: float) -> Array:
    """Return images whose distances of colours from their own grey are multiplied by a random number.

    The number is drawn once for a call, so that a batch is changed as a whole.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    min_factor : float
        The lower bound of the factor.
    max_factor : float
        The upper bound of the factor.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If `min_factor` is larger than `max_factor`, or data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_saturation(np.array([[[100, 0, 0]]], dtype="uint8"), 0.0, 0.0).tolist()
    [[[30, 30, 30]]]
    """
    return _changed("random_saturation", data, _saturated, min_factor, max_factor)


def random_hue(data: ArrayLike, min_factor: float, max_factor: float) -> Array:
    """Return images with their colours rotated around the grey axis by a random angle.

    So 0 and 1 change nothing. The number is drawn once for a call, so that a batch is changed as a whole.

    Parameters
    ----------
    data : array_like
        The images of three channels, of shape (height, width, 3), or (batch, height, width, 3).
    min_factor : float
        The lower bound of the number of turns.
    max_factor : float
        The upper bound of the number of turns.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If `min_factor` is larger than `max_factor`, or data has neither 3 axes nor 4, or other than 3 channels.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_hue(np.full((1, 1, 3), 9, dtype="uint8"), 0.2, 0.7).tolist()
    [[[9, 9, 9]]]
    """
    return _changed("random_hue", data, _tinted, min_factor, max_factor, 3)


def random_color_jitter(
    data: ArrayLike, brightness: float = 0.0, contrast: float = 0.0, saturation: float = 0.0, hue: float = 0.0
) -> Array:
    """Change brightness, contrast, saturation and hue of images in random order.

    Numbers are drawn once for a call, so that a batch is changed as a whole. An amount of 0 changes nothing.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels); of three channels if `hue`
        is not 0.
    brightness : float, optional
        The amount of `random_brightness`: its factor is between 1 - amount (at least 0) and 1 + amount.
    contrast : float, optional
        The amount of `random_contrast`, likewise.
    saturation : float, optional
        The amount of `random_saturation`, likewise.
    hue : float, optional
        The largest number of turns of `random_hue`, in either direction.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If an amount is negative, or data has neither 3 axes nor 4, or other than 3 channels with a hue.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_color_jitter(np.full((1, 1, 3), 9, dtype="uint8"), saturation=0.5, hue=0.5).tolist()
    [[[9, 9, 9]]]
    """
    amounts = brightness, contrast, saturation, hue
    if min(amounts) < 0:
        raise ValueError(f"random_color_jitter: amounts must not be negative, got {amounts}")
    x = _images("random_color_jitter", data, 3 if hue else None)
    y, changes = _floats(x), (_brighter, _contrasted, _saturated, _tinted)
    for i in current().draws().permutation(4):
        if amounts[i]:
            y = changes[i](y, uniform(max(1 - amounts[i], 0), 1 + amounts[i], dtype=y.dtype, device=x.device))
    return _like(x, y)


def adjust_lighting(data: ArrayLike, alpha: Sequence[float]) -> Array:
    """Return images whose colours are moved along the three directions in which those of photographs vary.

    The directions, and how much colours vary along each, are those of ImageNet (Krizhevsky et al. 2012).

    Parameters
    ----------
    data : array_like
        The images of three channels, of shape (height, width, 3), or (batch, height, width, 3).
    alpha : sequence of floats
        Three numbers: how far colours are moved along each direction.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If `alpha` is not three numbers, or data has neither 3 axes nor 4, or other than 3 channels.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.adjust_lighting(np.zeros((1, 1, 3)), (0.0, 1.0, 0.0))
    array([[[ 3.4478447, -0.021573 , -3.330871 ]]])
    """
    x = _images("adjust_lighting", data, 3)
    if numpy.shape(alpha) != (3,):
        raise ValueError(f"adjust_lighting: alpha must be three numbers, got {alpha}")
    return _lit(x, alpha)


def random_lighting(data: ArrayLike, alpha_std: float = 0.05) -> Array:
    """Change images as `adjust_lighting` does, by three random normal numbers.

    The numbers are drawn once for a call, so that a batch is changed as a whole.

    Parameters
    ----------
    data : array_like
        The images of three channels, of shape (height, width, 3), or (batch, height, width, 3).
    alpha_std : float, optional
        The standard deviation of the numbers.

    Returns
    -------
    array
        The changed images, of data's shape and dtype. Colours of integers are rounded and kept in range.

    Raises
    ------
    ValueError
        If data has neither 3 axes nor 4, or other than 3 channels; if `alpha_std` is negative.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_lighting(np.full((1, 1, 3), 9, dtype="uint8"), 0.0).tolist()
    [[[9, 9, 9]]]
    """
    x = _images("random_lighting", data, 3)
    return _lit(x, normal(0.0, alpha_std, 3, device=x.device))


def _lit(x: Array, alpha: ArrayLike) -> Array:
    y = _floats(x)
    return _like(x, y + _sum(_constant(_LIGHT, y) * asarray(alpha, y.dtype, x.device), -1))
