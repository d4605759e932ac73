"""Images: arrays (height, width, channels), read and resized by Pillow (`pip install forerun[image]`).

Images of NumPy's stay NumPy's: they are transformed at once, in the thread of the call.

>>> from forerun import image, np
>>> x = np.arange(12).reshape(2, 2, 3).astype("uint8")
>>> image.imresize(x, 4, 4).shape, image.fixed_crop(x, 0, 1, 2, 1).tolist()
((4, 4, 3), [[[6, 7, 8], [9, 10, 11]]])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from . import np
from ._display.namespaces import dir_of
from .ops._base.random_stream import current
from .ops.vision.decode import decoded as decoded
from .ops.vision.decode import imdecode, imread
from .ops.vision.decode import values_in as values_in
from .ops.vision.resize import resized
from .ops.vision.rotate import image_of, imrotate, random_rotate

if TYPE_CHECKING:
    from .ops.vision.resize import Pixels
    from .typing import Array


__all__ = [
    "imread", "imdecode", "imresize", "resize_short", "fixed_crop", "random_crop", "center_crop", "random_size_crop",
    "imrotate", "random_rotate", "color_normalize", "copyMakeBorder", "scale_down", "draws",
]  # fmt: skip
__dir__ = dir_of(__name__)

Crop = tuple[int, int, int, int]


def imresize(src: Pixels, w: int, h: int, interp: int = 1) -> Pixels:
    """Return the image in another size. Images that get smaller are smoothed. It does not wait, and has no gradient.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    w : int
        The new width.
    h : int
        The new height.
    interp : int, optional
        The filter: 0 nearest, 1 bilinear, 2 bicubic, 3 the mean of an area, 4 Lanczos, 9 bicubic, 10 bilinear.

    Returns
    -------
    array
        Of shape (h, w, channels) and the image's dtype.

    Raises
    ------
    ValueError
        If the image has not three axes, if a size is not positive, or for another filter.

    Examples
    --------
    >>> from forerun import np
    >>> imresize(np.ones((2, 2, 3)), 1, 1).tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    x: Any = image_of(src)
    if x.ndim != 3:
        raise ValueError(f"imresize: image must have 3 axes, got shape {x.shape}")
    found: Pixels = resized("imresize", x, w, h, interp)
    return found


def resize_short(src: Pixels, size: int, interp: int = 2) -> Pixels:
    """Return the image with its shorter side of a size, and the longer one in proportion.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    size : int
        The new length of the shorter side.
    interp : int, optional
        The filter, as in `imresize`.

    Returns
    -------
    array
        The image in the new size, of its own dtype.

    Raises
    ------
    ValueError
        If the image has not three axes, or the size is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> resize_short(np.ones((4, 8, 3)), 2).shape
    (2, 4, 3)
    """
    h, w = src.shape[:2]
    return imresize(src, size * w // min(h, w), size * h // min(h, w), interp)


def fixed_crop(
    src: Pixels, x0: int, y0: int, w: int, h: int, size: Sequence[int] | None = None, interp: int = 2
) -> Pixels:
    """Return a part of an image, as a view, or resized.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels), or a batch of images.
    x0 : int
        The first column of the part.
    y0 : int
        Its first row.
    w : int
        Its width.
    h : int
        Its height.
    size : (int, int), optional
        The width and height to resize it to; None leaves it as it is. A batch cannot be resized.
    interp : int, optional
        The filter, as in `imresize`.

    Returns
    -------
    array
        Of shape (h, w, channels), or (size[1], size[0], channels).

    Raises
    ------
    ValueError
        If the part is not inside the image, or the image has fewer than three axes.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.arange(8).reshape(2, 4, 1)
    >>> fixed_crop(x, 1, 0, 2, 2)[..., 0].tolist()
    [[1, 2], [5, 6]]
    """
    x = image_of(src)
    if x.ndim < 3:
        raise ValueError(f"fixed_crop: image must have 3 axes or more, got shape {x.shape}")
    if not (0 <= x0 <= x0 + w <= x.shape[-2] and 0 <= y0 <= y0 + h <= x.shape[-3]):
        raise ValueError(f"fixed_crop: crop must be inside {x.shape[-3:-1]}, got {(y0, x0)} to {(y0 + h, x0 + w)}")
    out = x[..., y0 : y0 + h, x0 : x0 + w, :]
    return out if size is None or tuple(size) == (w, h) else imresize(out, size[0], size[1], interp)


def draws() -> numpy.random.Generator:
    """Return NumPy's generator for random numbers that follow the seed of `np.random`.

    Returns
    -------
    numpy.random.Generator
        A generator of its own stream: another one at each call.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.seed(1); a = draws().random()
    >>> np.random.seed(1); a == draws().random()
    True
    """
    return current().draws()


def chance() -> float:
    """Return a random number in [0, 1), which follows the seed of `np.random`."""
    return current().chance()


def _largest(shape: Sequence[int], size: Sequence[int]) -> tuple[int, int]:
    """Return the width and height of `size`'s proportions that fit into the image, at most `size`."""
    if size[0] <= shape[1] and size[1] <= shape[0]:
        return size[0], size[1]
    scale = min(shape[1] / size[0], shape[0] / size[1])
    return max(int(size[0] * scale), 1), max(int(size[1] * scale), 1)


def random_crop(src: Pixels, size: Sequence[int], interp: int = 2) -> tuple[Pixels, Crop]:
    """Return a part of an image at a random place, and where it is.

    If the image is smaller than the part, the largest part of these proportions is resized.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    size : (int, int)
        The width and height of the part.
    interp : int, optional
        The filter, as in `imresize`.

    Returns
    -------
    crop : array
        Of shape (size[1], size[0], channels).
    place : (int, int, int, int)
        The first column, the first row, the width and the height of the part in the image.

    Examples
    --------
    >>> from forerun import np
    >>> x, (x0, y0, w, h) = random_crop(np.ones((4, 8, 3)), (2, 3))
    >>> x.shape, (w, h)
    ((3, 2, 3), (2, 3))
    """
    w, h = _largest(src.shape, size)
    x0, y0 = int(chance() * (src.shape[1] - w + 1)), int(chance() * (src.shape[0] - h + 1))
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def center_crop(src: Pixels, size: Sequence[int], interp: int = 2) -> tuple[Pixels, Crop]:
    """Return the part of an image in its middle, and where it is.

    If the image is smaller than the part, the largest part of these proportions is resized.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    size : (int, int)
        The width and height of the part.
    interp : int, optional
        The filter, as in `imresize`.

    Returns
    -------
    crop : array
        Of shape (size[1], size[0], channels).
    place : (int, int, int, int)
        The first column, the first row, the width and the height of the part in the image.

    Examples
    --------
    >>> from forerun import np
    >>> x, place = center_crop(np.ones((4, 8, 3)), (2, 2))
    >>> x.shape, place
    ((2, 2, 3), (3, 1, 2, 2))
    """
    w, h = _largest(src.shape, size)
    x0, y0 = (src.shape[1] - w) // 2, (src.shape[0] - h) // 2
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_size_crop(
    src: Pixels,
    size: Sequence[int],
    area: float | Sequence[float],
    ratio: Sequence[float],
    interp: int = 2,
) -> tuple[Pixels, Crop]:
    """Return a part of an image of random area and proportions, resized, and where it was (Szegedy et al. 2015).

    After ten parts that do not fit into the image, it is the one in the middle.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    size : (int, int)
        The width and height to resize the part to.
    area : float or (float, float)
        The smallest and the largest part of the image's area; of one number, the largest is 1.
    ratio : (float, float)
        The smallest and the largest quotient of width and height.
    interp : int, optional
        The filter, as in `imresize`.

    Returns
    -------
    crop : array
        Of shape (size[1], size[0], channels).
    place : (int, int, int, int)
        The first column, the first row, the width and the height of the part in the image.

    Raises
    ------
    ValueError
        If areas or ratios are not in order, a ratio is not positive, or an area is negative.

    Examples
    --------
    >>> from forerun import np
    >>> x, place = random_size_crop(np.ones((40, 80, 3)), (16, 16), 0.25, (3 / 4, 4 / 3))
    >>> x.shape, len(place)
    ((16, 16, 3), 4)
    """
    height, width = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, (int, float)) else area
    if not (0 <= low <= high and 0 < ratio[0] <= ratio[1]):
        raise ValueError(f"random_size_crop: parts and ratios must be positive and in order, got {area} and {ratio}")
    rng = draws()
    for _ in range(10):
        pixels = rng.uniform(low, high) * height * width
        proportion = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * proportion)), round(math.sqrt(pixels / proportion))
        if 0 < w <= width and 0 < h <= height:
            x0, y0 = int(rng.random() * (width - w + 1)), int(rng.random() * (height - h + 1))
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)


def scale_down(src_size: Sequence[int], size: Sequence[int]) -> tuple[int, int]:
    """Return the largest size of given proportions that fits into an image, at most the given size.

    Parameters
    ----------
    src_size : (int, int)
        The width and height of the image.
    size : (int, int)
        The width and height that are wanted.

    Returns
    -------
    (int, int)
        A width and a height.

    Examples
    --------
    >>> scale_down((640, 480), (720, 120))
    (640, 106)
    """
    return _largest((src_size[1], src_size[0]), size)


def color_normalize(src: Pixels, mean: Array | float, std: Array | float | None = None) -> Pixels:
    """Return (src - mean) / std. Bytes become floats.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    mean : array_like
        One number, or one for each channel.
    std : array_like, optional
        One number, or one for each channel; None divides by nothing.

    Returns
    -------
    array
        Of the image's shape, and of floats.

    Examples
    --------
    >>> from forerun import np
    >>> color_normalize(np.full((1, 1, 3), 5.0), np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[[2.0, 1.5, 1.0]]]
    """
    less = image_of(src) - (float(mean) if isinstance(mean, int) else mean)  # integers would wrap around
    return less if std is None else less / std


_BORDERS = {0: "constant", 1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}  # OpenCV's numbers to NumPy's words


def copyMakeBorder(
    src: Pixels,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0,
    values: Sequence[float] | None = None,
) -> Pixels:
    """Return the image with a border.

    Parameters
    ----------
    src : array
        The image, of shape (height, width, channels).
    top : int
        The number of rows above the image.
    bot : int
        The number of rows below it.
    left : int
        The number of columns to its left.
    right : int
        The number of columns to its right.
    type : int, optional
        The border: 0 of one colour, 1 the outermost pixels again, 2 the image mirrored, 3 its other side, 4 mirrored
        without the outermost pixels.
    value : float, optional
        The colour of type 0, in all channels.
    values : sequence of floats, optional
        The colour of type 0, a number for each channel, in place of `value`.

    Returns
    -------
    array
        Of shape (top + height + bot, left + width + right, channels) and the image's dtype.

    Raises
    ------
    ValueError
        For another type, a negative width, or values that are not one for each channel.

    Examples
    --------
    >>> from forerun import np
    >>> copyMakeBorder(np.ones((1, 1, 1)), 0, 1, 1, 0, value=7)[..., 0].tolist()
    [[7.0, 1.0], [7.0, 7.0]]
    """
    x = image_of(src)
    if type not in _BORDERS:
        raise ValueError(f"copyMakeBorder: type must be one of {sorted(_BORDERS)}, got {type}")
    widths = ((top, bot), (left, right), (0, 0))
    xp: Any = numpy if isinstance(x, numpy.ndarray) else np
    bordered: Pixels
    if type:
        bordered = xp.pad(x, widths, mode=_BORDERS[type])
        return bordered
    if values is None:
        bordered = xp.pad(x, widths, constant_values=value)
        return bordered
    if len(values) != x.shape[-1]:
        raise ValueError(f"copyMakeBorder: values must be one for each channel, got {values} for shape {x.shape}")
    planes = [xp.pad(x[..., i], widths[:2], constant_values=v) for i, v in enumerate(values)]
    bordered = xp.stack(planes, axis=-1)
    return bordered
