"""Parts of images, and images of another size.

Random functions draw once per call, so a batch is changed as a whole. Nothing waits. Where images are of floats,
gradients flow through all functions but `resize` and crops that are resized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base.convert import cast
from .._base.random_stream import current
from ..create.ranges import arange
from ..index.getitem import getitem, take
from ..random.uniform_normal import uniform
from .image_arrays import Range, _images
from .resize import resized

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["crop", "random_crop", "random_resized_crop", "resize"]


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
        pixels = rng.uniform(area[0], area[1]) * rows * columns
        proportion = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * proportion)), round(math.sqrt(pixels / proportion))
        if 0 < w <= columns and 0 < h <= rows:
            left, top = (int(min(rng.uniform(limits[0], limits[1]) * (n + 1), n)) for limits, n in
                         ((xrange, columns - w), (yrange, rows - h)))  # fmt: skip
            return resized("random_resized_crop", crop(x, left, top, w, h), width, height, interp)
    fits = min(rows / height, columns / width)
    w, h = max(int(width * fits), 1), max(int(height * fits), 1)
    middle = crop(x, (columns - w) // 2, (rows - h) // 2, w, h)
    return resized("random_resized_crop", middle, width, height, interp)
