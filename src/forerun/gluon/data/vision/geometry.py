"""Transforms that move pixels: sizes, crops, mirror images, turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .... import image
from .transform import Transform, space

if TYPE_CHECKING:
    from ....typing import Array


__all__ = [
    "Resize", "CenterCrop", "CropResize", "RandomCrop", "RandomResizedCrop", "RandomFlipLeftRight",
    "RandomFlipTopBottom", "Rotate", "RandomRotation",
]  # fmt: skip

Size = int | Sequence[int]


def _pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _each(x: Any, function: Callable[[Any], Array | numpy.ndarray]) -> Array | numpy.ndarray:
    """Return a function of an image, or of each of a batch."""
    if x.ndim != 4:
        return function(x)
    several: Array | numpy.ndarray = space(x).stack([function(one) for one in x])
    return several


class Resize(Transform):
    """The image in another size.

    Parameters
    ----------
    size : int or (int, int)
        The length of both sides, or the width and the height.
    keep_ratio : bool, optional
        Whether one number is the length of the shorter side.
    interpolation : int, optional
        The filter, as in `image.imresize`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.Resize((3, 2))(np.ones((4, 6, 3))).shape
    (2, 3, 3)
    """

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._size, self._keep, self._interpolation = size, keep_ratio, interpolation

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x, resized; a batch image by image."""
        if self._keep and isinstance(self._size, int):
            size = self._size
            return _each(x, lambda one: image.resize_short(one, size, self._interpolation))
        w, h = _pair(self._size)
        return _each(x, lambda one: image.imresize(one, w, h, self._interpolation))


class CenterCrop(Transform):
    """The middle of the image; resized if that is smaller.

    Parameters
    ----------
    size : int or (int, int)
        The length of both sides, or the width and the height.
    interpolation : int, optional
        The filter, as in `image.imresize`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.CenterCrop((3, 2))(np.ones((4, 6, 3))).shape
    (2, 3, 3)
    """

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return the crop."""
        return image.center_crop(x, self._size, self._interpolation)[0]


class CropResize(Transform):
    """A part of an image, or of a batch; resized if asked for.

    Parameters
    ----------
    x : int
        The first column.
    y : int
        The first row.
    width : int
        The number of columns.
    height : int
        The number of rows.
    size : int or (int, int), optional
        The size that the part is resized to; None leaves it as it is.
    interpolation : int, optional
        The filter, as in `image.imresize`; None for bilinear.

    Raises
    ------
    ValueError
        When it is called, if the part is not inside the image.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.CropResize(1, 0, 3, 2)(np.ones((4, 6, 3))).shape
    (2, 3, 3)
    """

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Size | None = None, interpolation: int | None = None
    ) -> None:
        super().__init__()
        self._place = x, y, width, height
        self._resize = Resize(size, False, 1 if interpolation is None else interpolation) if size is not None else None

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return the crop."""
        out = image.fixed_crop(x, *self._place)
        return out if self._resize is None else self._resize.transformed(out)


class RandomCrop(Transform):
    """A part of the image at a random place; resized if the image is smaller.

    Parameters
    ----------
    size : int or (int, int)
        The length of both sides, or the width and the height.
    pad : int or sequence of four ints, optional
        The pixels that are added on each side before; or above, below, left and right.
    pad_value : float, optional
        Their value.
    interpolation : int, optional
        The filter, as in `image.imresize`.

    Raises
    ------
    ValueError
        For another number of sides.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomCrop((3, 2), pad=1)(np.ones((4, 6, 3))).shape
    (2, 3, 3)
    """

    def __init__(self, size: Size, pad: Size | None = None, pad_value: float = 0, interpolation: int = 1) -> None:
        super().__init__()
        if not isinstance(pad, (int, type(None))) and len(pad) != 4:
            raise ValueError(f"RandomCrop: pad must be a number or four, got {pad}")
        self._size, self._interpolation, self._value = _pair(size), interpolation, pad_value
        self._pad = (pad,) * 4 if isinstance(pad, int) else tuple(pad or (0, 0, 0, 0))

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return the crop."""
        (above, below, left, right), (w, h) = self._pad, self._size
        height, width, _ = x.shape
        rows, columns = height + above + below - h, width + left + right - w  # how far the crop can be moved
        if not isinstance(x, numpy.ndarray) or rows < 0 or columns < 0:
            widths = ((above, below), (left, right), (0, 0))
            x = space(x).pad(x, widths, constant_values=self._value) if any(self._pad) else x
            return image.random_crop(x, self._size, self._interpolation)[0]
        x0, y0 = int(image.chance() * (columns + 1)) - left, int(image.chance() * (rows + 1)) - above
        if x0 >= 0 and y0 >= 0 and x0 + w <= width and y0 + h <= height:
            return x[y0 : y0 + h, x0 : x0 + w]
        out = numpy.zeros((h, w, x.shape[2]), x.dtype)
        if self._value:
            out.fill(self._value)
        top, start = max(-y0, 0), max(-x0, 0)  # the part inside the image, and its position
        part = x[y0 + top : y0 + h, x0 + start : x0 + w]
        out[top : top + part.shape[0], start : start + part.shape[1]] = part
        return out


class RandomResizedCrop(Transform):
    """A part of the image of random area and proportions, resized.

    Parameters
    ----------
    size : int or (int, int)
        The length of both sides, or the width and the height.
    scale : float or (float, float), optional
        The smallest and the largest part of the image's area.
    ratio : (float, float), optional
        The smallest and the largest quotient of width and height.
    interpolation : int, optional
        The filter, as in `image.imresize`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomResizedCrop(2)(np.ones((4, 6, 3))).shape
    (2, 2, 3)
    """

    def __init__(
        self, size: Size, scale: float | Sequence[float] = (0.08, 1.0), ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: int = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self._size, self._scale, self._ratio, self._interpolation = _pair(size), scale, ratio, interpolation

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return the crop."""
        return image.random_size_crop(x, self._size, self._scale, self._ratio, self._interpolation)[0]


class RandomFlipLeftRight(Transform):
    """Left and right exchanged, with a probability.

    Parameters
    ----------
    p : float, optional
        The probability.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomFlipLeftRight(1.0)(np.array([[[1.0], [2.0]]])).tolist()
    [[[2.0], [1.0]]]
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self._p = p

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x or its mirror image."""
        return x[..., ::-1, :] if image.chance() < self._p else x


class RandomFlipTopBottom(RandomFlipLeftRight):
    """Top and bottom exchanged, with a probability.

    Parameters
    ----------
    p : float, optional
        The probability.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomFlipTopBottom(1.0)(np.array([[[1.0]], [[2.0]]])).tolist()
    [[[2.0]], [[1.0]]]
    """

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x or its mirror image."""
        return x[..., ::-1, :, :] if image.chance() < self._p else x


class Rotate(Transform):
    """Images (channels, height, width) of float32, or batches of such, rotated as by `image.imrotate`.

    Its place is behind ToTensor.

    Parameters
    ----------
    rotation_degrees : float
        The angle, counter-clockwise.
    zoom_in : bool, optional
        Whether the image is enlarged until nothing beyond it is seen.
    zoom_out : bool, optional
        Whether the image is made smaller until all of it is seen.

    Raises
    ------
    TypeError
        When it is called, for another dtype than float32.
    ValueError
        When it is called, with both zooms.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.Rotate(90)(np.ones((3, 4, 4))).shape
    (3, 4, 4)
    """

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._settings = rotation_degrees, zoom_in, zoom_out

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x, rotated."""
        return image.imrotate(x, *self._settings)


class RandomRotation(Transform):
    """Images rotated as by `Rotate`, by a random angle.

    Parameters
    ----------
    angle_limits : (float, float)
        The smallest and the largest angle.
    zoom_in : bool, optional
        Whether the image is enlarged until nothing beyond it is seen.
    zoom_out : bool, optional
        Whether the image is made smaller until all of it is seen.
    rotate_with_proba : float, optional
        The probability that the image is turned.

    Raises
    ------
    ValueError
        Unless the first limit is below the second, and the probability is one.
    TypeError
        When it is called, for another dtype than float32.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomRotation((-10, 10))(np.ones((3, 4, 4))).shape
    (3, 4, 4)
    """

    def __init__(
        self, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__()
        if not angle_limits[0] < angle_limits[1]:
            raise ValueError(f"RandomRotation: angle_limits must be in order, got {angle_limits}")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f"RandomRotation: rotate_with_proba must be in [0, 1], got {rotate_with_proba}")
        self._limits, self._zoom, self._p = angle_limits, (zoom_in, zoom_out), rotate_with_proba

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x, rotated or unchanged."""
        if image.chance() >= self._p:
            return x
        return image.random_rotate(x, self._limits, *self._zoom)
