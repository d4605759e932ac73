"""Images with the channels first, as networks take them: floats from 0 to 1, normalised. Gradients flow through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import cast
from ..shape.axis_order import transpose
from .image_arrays import _FLOAT32, _constant, _images

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["normalize", "to_tensor"]


def to_tensor(data: ArrayLike) -> Array:
    """Convert images with colours from 0 to 255 to float32 from 0 to 1, with the channels first.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).

    Returns
    -------
    array
        The images, float32, of shape (channels, height, width), or (batch, channels, height, width).

    Raises
    ------
    ValueError
        If data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.to_tensor(np.full((1, 2, 1), 255, dtype="uint8")).tolist()
    [[[1.0, 1.0]]]
    """
    x = _images("to_tensor", data)
    return cast(transpose(x, (2, 0, 1) if x.ndim == 3 else (0, 3, 1, 2)), _FLOAT32) / 255


def normalize(data: ArrayLike, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0) -> Array:
    """Return (x - mean) / std of each channel, for images with the channels first.

    Parameters
    ----------
    data : array_like
        The images, of floats, of shape (channels, height, width), or (batch, channels, height, width).
    mean : float or sequence of floats, optional
        The mean: a number, or one for each channel.
    std : float or sequence of floats, optional
        The standard deviation: a number, or one for each channel.

    Returns
    -------
    array
        The normalized images, of data's shape and dtype.

    Raises
    ------
    ValueError
        If there is another number of means or of standard deviations, or data has neither 3 axes nor 4.
    TypeError
        If data is not of floats.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.normalize(np.ones((1, 1, 2)), mean=0.5, std=0.25).tolist()
    [[[2.0, 2.0]]]
    """
    x = _images("normalize", data)
    if x.dtype.kind != "f":
        raise TypeError(f"normalize: image must be of floats, got {x.dtype}")
    sizes = numpy.size(mean), numpy.size(std)
    if any(n not in (1, x.shape[-3]) for n in sizes):
        raise ValueError(f"normalize: mean and std must have {x.shape[-3]} elements, or one, got {sizes}")

    def of(v: Any) -> Array:
        return _constant(numpy.reshape(v, (-1, 1, 1)), x)

    return (x - of(mean)) / of(std)
