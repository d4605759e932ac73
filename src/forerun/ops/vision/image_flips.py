"""Images with left and right, or top and bottom, exchanged: always, or at random, a batch as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..elementwise.select import where
from ..random.uniform_normal import uniform
from ..shape.flip_roll import flip
from .image_arrays import _images

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["flip_left_right", "flip_top_bottom", "random_flip_left_right", "random_flip_top_bottom"]


def flip_left_right(data: ArrayLike) -> Array:
    """Return images with left and right exchanged, as a view.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).

    Returns
    -------
    array
        A view of the images, of data's shape.

    Raises
    ------
    ValueError
        If data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.flip_left_right(np.arange(2).reshape(1, 2, 1)).tolist()
    [[[1], [0]]]
    """
    return flip(_images("flip_left_right", data), -2)


def flip_top_bottom(data: ArrayLike) -> Array:
    """Return images with top and bottom exchanged, as a view.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).

    Returns
    -------
    array
        A view of the images, of data's shape.

    Raises
    ------
    ValueError
        If data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.flip_top_bottom(np.arange(2).reshape(2, 1, 1)).tolist()
    [[[1]], [[0]]]
    """
    return flip(_images("flip_top_bottom", data), -3)


def _perhaps(x: Array, changed: Array, p: float) -> Array:
    return where(uniform(device=x.device) < p, changed, x)


def random_flip_left_right(data: ArrayLike, p: float = 0.5) -> Array:
    """Return images with left and right exchanged, with probability `p`. A batch is changed as a whole, or not at all.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    p : float, optional
        The probability.

    Returns
    -------
    array
        The images, of data's shape and dtype.

    Raises
    ------
    ValueError
        If data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_flip_left_right(np.arange(2).reshape(1, 2, 1), p=1.0).tolist()
    [[[1], [0]]]
    """
    x = _images("random_flip_left_right", data)
    return _perhaps(x, flip(x, -2), p)


def random_flip_top_bottom(data: ArrayLike, p: float = 0.5) -> Array:
    """Return images with top and bottom exchanged, with probability `p`. A batch is changed as a whole, or not at all.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    p : float, optional
        The probability.

    Returns
    -------
    array
        The images, of data's shape and dtype.

    Raises
    ------
    ValueError
        If data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_flip_top_bottom(np.arange(2).reshape(2, 1, 1), p=1.0).tolist()
    [[[1]], [[0]]]
    """
    x = _images("random_flip_top_bottom", data)
    return _perhaps(x, flip(x, -3), p)
