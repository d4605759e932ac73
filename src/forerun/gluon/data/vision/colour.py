"""Transforms that change colours, and how they are written down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .... import image
from .transform import Transform, constant, space

if TYPE_CHECKING:
    from ....typing import Array


__all__ = [
    "ToTensor", "Normalize", "RandomBrightness", "RandomContrast", "RandomSaturation", "RandomHue",
    "RandomColorJitter", "RandomLighting", "RandomGray",
]  # fmt: skip

_GREY = numpy.array([0.299, 0.587, 0.114], "float32")
_TO_YIQ = numpy.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_VALUES = numpy.array([55.46, 4.794, 1.148])  # of the covariance of ImageNet's colours (Krizhevsky et al. 2012)
_VECTORS = numpy.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


def _like(x: Array | numpy.ndarray, values: Array | numpy.ndarray) -> Array | numpy.ndarray:
    """Floats as colours in x's dtype: rounded and kept in range where that is of integers."""
    if x.dtype.kind not in "iu":
        return values.astype(x.dtype)
    xp, top = space(x), numpy.iinfo(x.dtype).max
    colours: Array | numpy.ndarray = xp.clip(xp.round(values), 0, top).astype(x.dtype)
    return colours


def _grey(x: Array | numpy.ndarray) -> Array | numpy.ndarray:
    return (x * constant(_GREY, x)).sum(axis=-1, keepdims=True)


class ToTensor(Transform):
    """(height, width, channels) in 0 to 255 to float32 (channels, height, width) in 0 to 1; batches likewise.

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        Has no effect: a transform has no parameters.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> x = transforms.ToTensor()(np.full((4, 6, 3), 255, dtype="uint8"))
    >>> x.shape, x.max().item()
    ((3, 4, 6), 1.0)
    """

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x with channels first, divided by 255. ValueError unless it has 3 or 4 axes."""
        y = self.early(x)
        if isinstance(x, numpy.ndarray) and x.dtype != "float64":
            return numpy.divide(y, numpy.float32(255), dtype="float32")
        return y.astype("float32") / 255

    def early(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x with channels first. ValueError unless it has 3 or 4 axes."""
        if x.ndim not in (3, 4):
            raise ValueError(f"ToTensor: image must have 3 axes, or 4 as a batch, got shape {x.shape}")
        return x.transpose(2, 0, 1) if x.ndim == 3 else x.transpose(0, 3, 1, 2)

    def late(self, batch: Array) -> Array:
        """Divided by 255."""
        return batch.astype("float32") / 255


class Normalize(Transform):
    """(x - mean) / std of each channel of (channels, height, width), or of a batch of such.

    Parameters
    ----------
    mean : float or sequence of floats, optional
        The mean of all channels, or of each.
    std : float or sequence of floats, optional
        The standard deviation of all channels, or of each.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.Normalize(1.0, 2.0)(np.full((1, 1, 2), 5.0)).tolist()
    [[[2.0, 2.0]]]
    """

    def __init__(self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0) -> None:
        super().__init__()
        self._mean, self._std = (numpy.reshape(v, (-1, 1, 1)).astype("float32") for v in (mean, std))

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x, shifted and scaled. ValueError if channels are not as many."""
        mean, std = constant(self._mean, x), constant(self._std, x)
        if isinstance(x, numpy.ndarray) and x.dtype.kind == "f":
            y: numpy.ndarray = numpy.subtract(x, mean)
            numpy.divide(y, std, out=y)
            return y
        return (x - mean) / std

    late = transformed


class _Factor(Transform):
    """A change by a number drawn around 0. Subclasses say which."""

    lowest = -math.inf

    def __init__(self, amount: float) -> None:
        super().__init__()
        if amount < 0:
            raise ValueError(f"{type(self).__name__}: amount must not be negative, got {amount}")
        self._amount = amount

    def transformed(self, x: Any) -> Any:
        """Return x with its colours changed."""
        by = image.draws().uniform(max(self.lowest, -self._amount), self._amount)
        return _like(x, self.changed(x.astype("float32"), by))

    def changed(self, x: Array, by: float) -> Any:
        """Return the colours."""
        raise NotImplementedError


class RandomBrightness(_Factor):
    """Colours times 1 + b, b uniform on (-brightness, brightness), but not below -1.

    Parameters
    ----------
    brightness : float
        The bound of b.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomBrightness(0.5)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    lowest = -1.0

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness)

    def changed(self, x: Array | numpy.ndarray, by: float) -> Array | numpy.ndarray:
        """Return the image, brighter or darker.

        Parameters
        ----------
        x : array
            The image, shape (..., height, width, 3).
        by : float
            1 + by is the factor of all values.

        Returns
        -------
        array
            The image, in the shape of `x`.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> x = np.array([[[0.5, 0.25, 0.0]]])
        >>> print(np.round(transforms.RandomBrightness(0.5).changed(x, 0.5), 2))
        [[[0.75 0.38 0.  ]]]
        """
        return x * (1 + by)


class RandomContrast(_Factor):
    """Colours moved away from the mean grey, or towards it, by a factor 1 + c, c as b in `RandomBrightness`.

    Parameters
    ----------
    contrast : float
        The bound of c.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomContrast(0.5)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    lowest = -1.0

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast)

    def changed(self, x: Array | numpy.ndarray, by: float) -> Array | numpy.ndarray:
        """Return the image with more contrast or less.

        Parameters
        ----------
        x : array
            The image, shape (..., height, width, 3).
        by : float
            1 + by is the factor of the distance to the mean grey.

        Returns
        -------
        array
            The image, in the shape of `x`.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> x = np.array([[[0.5, 0.25, 0.0]]])
        >>> print(np.round(transforms.RandomContrast(0.5).changed(x, 0.5), 2))
        [[[ 0.6   0.23 -0.15]]]
        """
        return x * (1 + by) - _grey(x).mean(axis=(-3, -2, -1), keepdims=True) * by


class RandomSaturation(_Factor):
    """Colours moved away from their own grey, or towards it, by a factor 1 + s, s as b in `RandomBrightness`.

    Parameters
    ----------
    saturation : float
        The bound of s.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomSaturation(0.5)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    lowest = -1.0

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation)

    def changed(self, x: Array | numpy.ndarray, by: float) -> Array | numpy.ndarray:
        """Return the image, more saturated or less.

        Parameters
        ----------
        x : array
            The image, shape (..., height, width, 3).
        by : float
            1 + by is the factor of the distance to the grey of each pixel.

        Returns
        -------
        array
            The image, in the shape of `x`.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> x = np.array([[[0.5, 0.25, 0.0]]])
        >>> print(np.round(transforms.RandomSaturation(0.5).changed(x, 0.5), 2))
        [[[ 0.6   0.23 -0.15]]]
        """
        return x * (1 + by) - _grey(x) * by


class RandomHue(_Factor):
    """Colours rotated around the grey axis by pi * h, h uniform on (-hue, hue).

    Parameters
    ----------
    hue : float
        The bound of h.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomHue(0.1)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, hue: float) -> None:
        super().__init__(hue)

    def changed(self, x: Array | numpy.ndarray, by: float) -> Array | numpy.ndarray:
        """Return the image with other hues.

        Parameters
        ----------
        x : array
            The image, shape (..., height, width, 3).
        by : float
            The rotation around the grey axis, as a part of pi.

        Returns
        -------
        array
            The image, in the shape of `x`.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> x = np.array([[[0.5, 0.25, 0.0]]])
        >>> print(np.round(transforms.RandomHue(0.5).changed(x, 0.5), 2))
        [[[0.46 0.14 0.66]]]
        """
        c, s = math.cos(math.pi * by), math.sin(math.pi * by)
        turn = numpy.linalg.inv(_TO_YIQ) @ numpy.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ _TO_YIQ
        tinted: Array | numpy.ndarray = space(x).dot(x, constant(turn.T.astype("float32"), x))
        return tinted


class RandomColorJitter(Transform):
    """Brightness, contrast, saturation and hue changed, in random order.

    Parameters
    ----------
    brightness : float, optional
        The argument of `RandomBrightness`.
    contrast : float, optional
        The argument of `RandomContrast`.
    saturation : float, optional
        The argument of `RandomSaturation`.
    hue : float, optional
        The argument of `RandomHue`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomColorJitter(brightness=0.5, hue=0.1)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        kinds = {RandomBrightness: brightness, RandomContrast: contrast, RandomSaturation: saturation, RandomHue: hue}
        self._changes = [kind(amount) for kind, amount in kinds.items() if amount]

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x with its colours changed."""
        for i in image.draws().permutation(len(self._changes)):
            x = self._changes[i].transformed(x)
        return x


class RandomLighting(Transform):
    """Noise along the directions in which colours of photographs vary.

    Parameters
    ----------
    alpha : float
        The standard deviation.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomLighting(0.1)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x with changed lighting."""
        light = (_VECTORS * image.draws().normal(0, self._alpha, 3)) @ _VALUES
        floats = x.astype("float32")
        return _like(x, floats + constant(light.astype("float32"), floats))


class RandomGray(Transform):
    """The image without colours, in three equal channels, with a probability.

    Parameters
    ----------
    p : float, optional
        The probability.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomGray(1.0)(np.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self._p = p

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x, or its greys."""
        if image.chance() >= self._p:
            return x
        floats = x.astype("float32")
        return _like(x, space(x).broadcast_to(_grey(floats), x.shape))
