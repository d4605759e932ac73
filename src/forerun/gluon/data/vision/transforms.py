"""Transforms of images (height, width, channels), as blocks. Random ones draw anew for each image.

>>> from forerun import np
>>> both = Compose([ToTensor(), Normalize(0.5, 0.5)])
>>> both(np.zeros((2, 2, 1), dtype="uint8")).tolist()
[[[-1.0, -1.0], [-1.0, -1.0]]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .... import image, np
from ...block import Block
from ...nn.container import Sequential
from ...nn.function import Lambda

__all__ = [
    "Compose", "Cast", "ToTensor", "Normalize", "Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop",
    "RandomFlipLeftRight", "RandomFlipTopBottom", "RandomBrightness", "RandomContrast", "RandomSaturation", "RandomHue",
    "RandomColorJitter", "RandomLighting",
]  # fmt: skip

_GREY = numpy.array([0.299, 0.587, 0.114], "float32")
_TO_YIQ = numpy.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_VALUES = numpy.array([55.46, 4.794, 1.148])  # of the covariance of ImageNet's colours (Krizhevsky et al. 2012)
_VECTORS = numpy.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


def _pair(size: int | Sequence[int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _like(x: Any, values: Any) -> Any:
    """Floats as colours in x's dtype: rounded and kept in range where that is of integers."""
    if x.dtype.kind not in "iu":
        return values.astype(x.dtype)
    top = numpy.iinfo(x.dtype).max
    return np.clip(np.round(values), 0, top).astype(x.dtype)


class Compose(Sequential):
    """Transforms one after another: blocks, or functions."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        super().__init__()
        self.add(*[t if isinstance(t, Block) else Lambda(t) for t in transforms])


class Cast(Block):
    """The image in another dtype."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def forward(self, x: Any) -> Any:
        """x in that dtype."""
        return x.astype(self._dtype)


class ToTensor(Block):
    """(height, width, channels) in 0 to 255 to float32 (channels, height, width) in 0 to 1; batches likewise."""

    def forward(self, x: Any) -> Any:
        """x with channels first, divided by 255. ValueError unless it has 3 or 4 axes."""
        if x.ndim not in (3, 4):
            raise ValueError(f"ToTensor: image must have 3 axes, or 4 as a batch, got shape {x.shape}")
        return np.moveaxis(x, -1, -3).astype("float32") / 255


class Normalize(Block):
    """(x - mean) / std of each channel of (channels, height, width), or of a batch of such."""

    def __init__(self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0) -> None:
        super().__init__()
        self._mean, self._std = (numpy.reshape(v, (-1, 1, 1)).astype("float32") for v in (mean, std))

    def forward(self, x: Any) -> Any:
        """x, shifted and scaled. ValueError if channels are not as many."""
        mean, std = (np.array(v, dtype=x.dtype, device=x.device) for v in (self._mean, self._std))
        return (x - mean) / std


class Resize(Block):
    """The image in another size: a number for both sides, or (width, height).

    keep_ratio: the number is the shorter side.
    """

    def __init__(
        self, size: int | Sequence[int], keep_ratio: bool = False, interpolation: int = 1
    ) -> None:
        super().__init__()
        self._size, self._keep, self._interpolation = size, keep_ratio, interpolation

    def forward(self, x: Any) -> Any:
        """x, resized; a batch image by image."""
        if x.ndim == 4:
            return np.stack([self.forward(one) for one in x])
        if self._keep and isinstance(self._size, int):
            return image.resize_short(x, self._size, self._interpolation)
        return image.imresize(x, *_pair(self._size), interp=self._interpolation)


class CenterCrop(Block):
    """The middle of the image; resized if that is smaller. size: a number, or (width, height)."""

    def __init__(self, size: int | Sequence[int], interpolation: int = 1) -> None:
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation

    def forward(self, x: Any) -> Any:
        """The crop."""
        return image.center_crop(x, self._size, self._interpolation)[0]


class RandomCrop(CenterCrop):
    """A part of the image of that size, somewhere."""

    def forward(self, x: Any) -> Any:
        """The crop."""
        return image.random_crop(x, self._size, self._interpolation)[0]


class RandomResizedCrop(Block):
    """A part of the image of random area (parts of the image's) and proportions (width / height), resized."""

    def __init__(
        self, size: int | Sequence[int], scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3), interpolation: int = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self._size, self._scale, self._ratio, self._interpolation = _pair(size), scale, ratio, interpolation

    def forward(self, x: Any) -> Any:
        """The crop."""
        return image.random_size_crop(x, self._size, self._scale, self._ratio, self._interpolation)[0]


class RandomFlipLeftRight(Block):
    """Left and right exchanged, with probability p."""

    axis = 1

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self._p = p

    def forward(self, x: Any) -> Any:
        """x or its mirror image."""
        return np.flip(x, self.axis) if image.draws().random() < self._p else x


class RandomFlipTopBottom(RandomFlipLeftRight):
    """Top and bottom exchanged, with probability p."""

    axis = 0


class _Factor(Block):
    """A change by a number drawn around 0. Subclasses say which."""

    def __init__(self, amount: float) -> None:
        super().__init__()
        if amount < 0:
            raise ValueError(f"{type(self).__name__}: amount must not be negative, got {amount}")
        self._amount = amount

    def forward(self, x: Any) -> Any:
        """x with its colours changed."""
        by = image.draws().uniform(-self._amount, self._amount)
        return _like(x, self.changed(x.astype("float32"), by))

    def changed(self, x: Any, by: float) -> Any:
        """The colours."""
        raise NotImplementedError


class RandomBrightness(_Factor):
    """Colours times 1 + b, b uniform on (-brightness, brightness)."""

    def changed(self, x: Any, by: float) -> Any:
        """Brighter or darker."""
        return x * (1 + by)


class RandomContrast(_Factor):
    """Colours moved away from the mean grey, or towards it, by a factor 1 + c."""

    def changed(self, x: Any, by: float) -> Any:
        """With more contrast or less."""
        return x * (1 + by) - _grey(x).mean() * by


class RandomSaturation(_Factor):
    """Colours moved away from their own grey, or towards it, by a factor 1 + s."""

    def changed(self, x: Any, by: float) -> Any:
        """Gaudier or paler."""
        return x * (1 + by) - _grey(x) * by


class RandomHue(_Factor):
    """Colours turned around the grey axis by pi * h, h uniform on (-hue, hue)."""

    def changed(self, x: Any, by: float) -> Any:
        """In other tints."""
        c, s = math.cos(math.pi * by), math.sin(math.pi * by)
        turn = numpy.linalg.inv(_TO_YIQ) @ numpy.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ _TO_YIQ
        return np.dot(x, np.array(turn.T, dtype="float32", device=x.device))


class RandomColorJitter(Block):
    """Brightness, contrast, saturation and hue changed, in random order."""

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        super().__init__()
        kinds = {RandomBrightness: brightness, RandomContrast: contrast, RandomSaturation: saturation, RandomHue: hue}
        self._changes = [kind(amount) for kind, amount in kinds.items() if amount]

    def forward(self, x: Any) -> Any:
        """x with its colours changed."""
        for i in image.draws().permutation(len(self._changes)):
            x = self._changes[i](x)
        return x


class RandomLighting(Block):
    """Noise along the directions in which colours of photographs vary, of standard deviation alpha."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def forward(self, x: Any) -> Any:
        """x in another light."""
        light = (_VECTORS * image.draws().normal(0, self._alpha, 3)) @ _VALUES
        return _like(x, x.astype("float32") + np.array(light, dtype="float32", device=x.device))


def _grey(x: Any) -> Any:
    return (x * np.array(_GREY, dtype="float32", device=x.device)).sum(axis=-1, keepdims=True)
