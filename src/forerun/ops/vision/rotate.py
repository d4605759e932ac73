"""Rotations of images, (channels, height, width) or batches of such."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray
from .._base.host_task import host_op
from .._base.random_stream import current

if TYPE_CHECKING:
    from ...typing import ArrayLike
    from .resize import Pixels

__all__ = ["image_of", "imrotate", "random_rotate"]


def image_of(src: Pixels) -> Pixels:
    """Return an image as an array: NumPy's stay NumPy's.

    >>> image_of(numpy.ones((1, 1, 3))).tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    return src if isinstance(src, numpy.ndarray) else asarray(src)


def imrotate(src: Pixels, rotation_degrees: ArrayLike, zoom_in: bool = False, zoom_out: bool = False) -> Pixels:
    """Rotate images counter-clockwise around their centres. It does not wait.

    Values between pixels are interpolated linearly; beyond the image they are 0.

    Parameters
    ----------
    src : array
        float32, of shape (channels, height, width), or a batch of such.
    rotation_degrees : array_like
        The angle in degrees, or one for each image of a batch.
    zoom_in : bool, optional
        Whether the image is enlarged until nothing beyond it is seen.
    zoom_out : bool, optional
        Whether the image is made smaller until all of it is seen.

    Returns
    -------
    array
        float32, of the same shape.

    Raises
    ------
    ValueError
        With both zooms, for another number of axes, or another number of angles.
    TypeError
        For another dtype.

    Examples
    --------
    >>> from forerun import image, np
    >>> image.imrotate(np.array([[[1.0, 2.0], [3.0, 4.0]]]), 90).round(3).tolist()
    [[[2.0, 4.0], [1.0, 3.0]]]
    """
    x = image_of(src)
    if zoom_in and zoom_out:
        raise ValueError("imrotate: zoom_in and zoom_out must not be given together, got both")
    if x.dtype != "float32":
        raise TypeError(f"imrotate: dtype must be float32, got {x.dtype}")
    given: Any = rotation_degrees
    if x.ndim not in (3, 4) or numpy.ndim(given) > x.ndim - 3:
        raise ValueError(f"imrotate: an angle must be given for each image, got {rotation_degrees} for {x.shape}")
    zoom = 1 if zoom_out else -1 if zoom_in else 0
    if isinstance(x, numpy.ndarray):
        return _rotated(x, numpy.asarray(rotation_degrees), zoom)
    angles = asarray(numpy.asarray(rotation_degrees, "float64"))
    return host_op("imrotate", lambda v, a: _rotated(v, a, zoom), [x, angles], x.shape, x.dtype)


def random_rotate(src: Pixels, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False) -> Pixels:
    """Rotate images as `imrotate` does, each by a random angle.

    Parameters
    ----------
    src : array
        float32, of shape (channels, height, width), or a batch of such.
    angle_limits : (float, float)
        The smallest and the largest angle in degrees.
    zoom_in : bool, optional
        Whether the image is enlarged until nothing beyond it is seen.
    zoom_out : bool, optional
        Whether the image is made smaller until all of it is seen.

    Returns
    -------
    array
        float32, of the same shape.

    Raises
    ------
    ValueError
        If the limits are not in order, and as `imrotate` does.
    TypeError
        For another dtype than float32.

    Examples
    --------
    >>> from forerun import image, np
    >>> image.random_rotate(np.ones((2, 1, 4, 4)), (-10, 10)).shape
    (2, 1, 4, 4)
    """
    low, high = angle_limits
    if not low <= high:
        raise ValueError(f"random_rotate: angle_limits must be two in order, got {angle_limits}")
    angles = current().draws().uniform(low, high, src.shape[0] if src.ndim == 4 else None)
    return imrotate(src, angles, zoom_in, zoom_out)


def _rotated(values: numpy.ndarray, degrees: numpy.ndarray, zoom: int) -> numpy.ndarray:
    if values.ndim == 4:
        angles = numpy.broadcast_to(degrees, len(values))
        return numpy.stack([_rotated(x, angle, zoom) for x, angle in zip(values, angles)])
    h, w = values.shape[1:]
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    larger = max(abs(c) + abs(s) * h / w, abs(c) + abs(s) * w / h)  # than the image is the frame around it
    y, x = (larger**zoom * (numpy.arange(n) - (n - 1) / 2) for n in (h, w))
    columns, rows = c * x - s * y[:, None] + (w - 1) / 2, s * x + c * y[:, None] + (h - 1) / 2
    return _sampled(values, rows, columns).astype("float32")


def _sampled(values: numpy.ndarray, rows: numpy.ndarray, columns: numpy.ndarray) -> numpy.ndarray:
    """Return values at places between pixels, from the four around each, of which those beyond the image are 0."""
    padded = numpy.pad(values, ((0, 0), (1, 1), (1, 1)))
    top, left = numpy.floor(rows).astype(int), numpy.floor(columns).astype(int)
    down, right = rows - top, columns - left
    corners = ((top, left, (1 - down) * (1 - right)), (top, left + 1, (1 - down) * right),
               (top + 1, left, down * (1 - right)), (top + 1, left + 1, down * right))  # fmt: skip
    limits = values.shape[1], values.shape[2]
    sampled: numpy.ndarray = sum(padded[:, numpy.clip(y, -1, limits[0]) + 1, numpy.clip(x, -1, limits[1]) + 1] * share
               for y, x, share in corners)  # fmt: skip
    return sampled
