"""Functions of images (height, width, channels), or of batches of such: `npx.image`.

Random functions draw once per call, so a batch is changed as a whole. Nothing waits. Where images are of floats,
gradients flow through all functions but `resize` and crops that are resized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, cast
from .._base.random_stream import current
from ..create.ranges import arange
from ..elementwise.exponential import cos, sin
from ..elementwise.select import where
from ..index.getitem import getitem, take
from ..linalg.matmul import matmul
from ..random.uniform_normal import normal, uniform
from ..reduce.mean_variance import mean as _mean
from ..reduce.reduction import sum as _sum
from ..shape.axis_order import transpose
from ..shape.flip_roll import flip
from .resize import resized

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize", "random_brightness",
    "random_color_jitter", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_top_bottom",
    "random_hue", "random_lighting", "random_resized_crop", "random_saturation", "resize", "to_tensor",
]  # fmt: skip

Range = Sequence[float]

_FLOAT32 = numpy.dtype("float32")
_GREY = numpy.array([0.299, 0.587, 0.114])
_TO_YIQ = numpy.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ = numpy.linalg.inv(_TO_YIQ)
# The directions in which colours of ImageNet's photographs vary, times how much (Krizhevsky et al. 2012).
_LIGHT = numpy.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]) * [
    55.46, 4.794, 1.148,
]  # fmt: skip


def _images(op: str, data: ArrayLike, channels: int | None = None) -> Array:
    """Return an image or a batch. ValueError unless it has 3 axes or 4, and as many channels."""
    x = asarray(data)
    if x.ndim not in (3, 4):
        raise ValueError(f"{op}: image must have 3 axes, or 4 as a batch, got shape {x.shape}")
    if channels is not None and x.shape[-1] != channels:
        raise ValueError(f"{op}: image must have {channels} channels, got shape {x.shape}")
    return x


def _constant(values: numpy.ndarray, x: Array) -> Array:
    """Return values in x's dtype, where x is."""
    return _core.from_numpy(numpy.asarray(values).astype(x.dtype), x.device)


def _floats(x: Array) -> Array:
    """Return x as floats of 32 bits or more."""
    return x if x.dtype.kind == "f" and x.dtype.itemsize > 2 else cast(x, _FLOAT32)


def _like(x: Array, values: Array) -> Array:
    """Floats as colours in x's dtype: rounded and kept in range where that is of integers."""
    if x.dtype.kind in "iu":
        values = values.round().clip(0, numpy.iinfo(x.dtype).max)
    return values if values.dtype == x.dtype else cast(values, x.dtype)


# --- tensors --------------------------------------------------------------------------------------


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

    def of(v: object) -> Array:
        return _constant(numpy.reshape(v, (-1, 1, 1)), x)

    return (x - of(mean)) / of(std)


# --- pixels ---------------------------------------------------------------------------------------


def resize(data: ArrayLike, size: int | Sequence[int], keep_ratio: bool = False, interp: int = 1) -> Array:
    """Resize images to a number of pixels for both sides, or to (width, height).

    Images that get smaller are smoothed. It has no gradient.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    size : int or sequence of two ints
        The size in pixels: a number for both sides, or (width, height).
    keep_ratio : bool, optional
        Whether a number is the size of the shorter side, and the proportions stay.
    interp : int, optional
        The interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 box, 4 Lanczos; 9 is as 2, and 10 as 1.

    Returns
    -------
    array
        The resized images, in data's dtype, of shape (height, width, channels), or (batch, height, width, channels),
        with the new height and width.

    Raises
    ------
    ValueError
        If sizes are not positive, `interp` is another number, or data is empty or has neither 3 axes nor 4.
    ImportError
        If Pillow is not installed.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.zeros((4, 8, 3))
    >>> npx.image.resize(x, 2).shape, npx.image.resize(x, 2, True).shape, npx.image.resize(x, (3, 5)).shape
    ((2, 2, 3), (2, 4, 3), (5, 3, 3))
    """
    x = _images("resize", data)
    w, h = (size, size) if isinstance(size, int) else size
    if keep_ratio and isinstance(size, int):
        shorter = max(min(x.shape[-3:-1]), 1)
        w, h = size * x.shape[-2] // shorter, size * x.shape[-3] // shorter
    return resized("resize", x, w, h, interp)


def crop(data: ArrayLike, x: int, y: int, width: int, height: int) -> Array:
    """Crop images to `width` and `height` from column `x` and row `y`, as a view.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    x : int
        The first column, in pixels from the left.
    y : int
        The first row, in pixels from the top.
    width : int
        The number of columns.
    height : int
        The number of rows.

    Returns
    -------
    array
        A view of the images, of shape (height, width, channels), or (batch, height, width, channels).

    Raises
    ------
    ValueError
        If the crop is empty or not inside the image, or data has neither 3 axes nor 4.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.crop(np.arange(6).reshape(2, 3, 1), 1, 0, 2, 1).tolist()
    [[[1], [2]]]
    """
    image = _images("crop", data)
    if not (0 <= x < x + width <= image.shape[-2] and 0 <= y < y + height <= image.shape[-3]):
        raise ValueError(f"crop: crop must be inside {image.shape[-3:-1]}, got {(y, x)} to {(y + height, x + width)}")
    return getitem(image, (..., slice(y, y + height), slice(x, x + width), slice(None)))


def random_crop(
    data: ArrayLike, xrange: Range = (0.0, 1.0), yrange: Range = (0.0, 1.0), width: int = 0, height: int = 0,
    interp: int = 2,
) -> Array:  # fmt: skip
    """Return a crop of `width` and `height` from a random position.

    If the image is smaller, the largest crop of these proportions is resized, which has no gradient. All images of a
    batch are cropped alike.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    xrange : pair of floats, optional
        The bounds between which the left end is drawn, in parts of how far the crop could be moved to the right.
    yrange : pair of floats, optional
        The bounds between which the top end is drawn, in parts of how far the crop could be moved down.
    width : int
        The number of columns of the result. It must be given.
    height : int
        The number of rows of the result. It must be given.
    interp : int, optional
        The interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 box, 4 Lanczos; 9 is as 2, and 10 as 1.

    Returns
    -------
    array
        The crops, in data's dtype, of shape (height, width, channels), or (batch, height, width, channels).

    Raises
    ------
    ValueError
        If `width` or `height` is not positive, or data has neither 3 axes nor 4.
    ImportError
        If a crop is to be resized and Pillow is not installed.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_crop(np.zeros((4, 8, 3)), width=2, height=3).shape
    (3, 2, 3)
    """
    x = _images("random_crop", data)
    if width < 1 or height < 1:
        raise ValueError(f"random_crop: width and height must be positive, got {width} and {height}")
    fits = min(1.0, x.shape[-3] / height, x.shape[-2] / width)
    h, w = (height, width) if fits == 1 else (max(int(n * fits), 1) for n in (height, width))
    for axis, n, limits in ((x.ndim - 3, h, yrange), (x.ndim - 2, w, xrange)):
        rest = x.shape[axis] - n
        start = cast(uniform(limits[0], limits[1], dtype="float64", device=x.device) * (rest + 1), numpy.dtype("int64"))
        x = take(x, arange(n, device=x.device) + start.clip(0, rest), axis, mode="clip")
    return x if fits == 1 else resized("random_crop", x, width, height, interp)


def random_resized_crop(
    data: ArrayLike, width: int, height: int, xrange: Range = (0.0, 1.0), yrange: Range = (0.0, 1.0),
    area: Range = (0.08, 1.0), ratio: Range = (3 / 4, 4 / 3), interp: int = 1, max_trial: int = 10,
) -> Array:  # fmt: skip
    """Crop a random area of random proportions, and resize it (Szegedy et al. 2015).

    After `max_trial` crops that do not fit into the image, the one in the middle is taken. All images of a batch are
    cropped alike. It has no gradient.

    Parameters
    ----------
    data : array_like
        The images, of shape (height, width, channels), or (batch, height, width, channels).
    width : int
        The number of columns of the result.
    height : int
        The number of rows of the result.
    xrange : pair of floats, optional
        The bounds between which the left end is drawn, in parts of how far the crop could be moved to the right.
    yrange : pair of floats, optional
        The bounds between which the top end is drawn, in parts of how far the crop could be moved down.
    area : pair of floats, optional
        The bounds of the area of the crop, in parts of the image's.
    ratio : pair of floats, optional
        The bounds of the proportions of the crop, width / height.
    interp : int, optional
        The interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 box, 4 Lanczos; 9 is as 2, and 10 as 1.
    max_trial : int, optional
        The number of crops that are tried.

    Returns
    -------
    array
        The crops, in data's dtype, of shape (height, width, channels), or (batch, height, width, channels).

    Raises
    ------
    ValueError
        If `width` or `height` is not positive, `interp` is another number, or data has neither 3 axes nor 4.
    ImportError
        If Pillow is not installed.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.image.random_resized_crop(np.zeros((8, 8, 3)), 5, 4).shape
    (4, 5, 3)
    """
    x = _images("random_resized_crop", data)
    rows, columns = x.shape[-3:-1]
    rng = current().draws()
    for _ in range(max_trial):
        pixels = rng.uniform(*area) * rows * columns
        proportion = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * proportion)), round(math.sqrt(pixels / proportion))
        if 0 < w <= columns and 0 < h <= rows:
            left, top = (int(min(rng.uniform(*limits) * (n + 1), n)) for limits, n in
                         ((xrange, columns - w), (yrange, rows - h)))  # fmt: skip
            return resized("random_resized_crop", crop(x, left, top, w, h), width, height, interp)
    fits = min(rows / height, columns / width)
    w, h = max(int(width * fits), 1), max(int(height * fits), 1)
    middle = crop(x, (columns - w) // 2, (rows - h) // 2, w, h)
    return resized("random_resized_crop", middle, width, height, interp)


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


# --- colours --------------------------------------------------------------------------------------


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
    """Return images with their colours turned around the grey axis by a random number of turns.

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
