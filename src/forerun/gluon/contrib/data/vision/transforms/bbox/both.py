"""Transforms of an image (height, width, channels) together with its boxes: `transform(image, boxes)` gives both.

Boxes are rows of xmin, ymin, xmax, ymax in pixels, and any further columns. The number of boxes that remain depends on
values: forerun arrays are waited for.

>>> from forerun import np
>>> image, boxes = ImageBboxCrop((2, 0, 4, 4))(np.ones((8, 8, 3)), np.array([[1.0, 1.0, 5.0, 3.0]]))
>>> image.shape, boxes.tolist()
((4, 4, 3), [[0.0, 1.0, 3.0, 3.0]])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ....... import image, np
from ......._runtime import core as _core
from ......block.block import Block
from ......data.vision.transform import constant, space
from .utils import bbox_crop, bbox_flip, bbox_iou, bbox_resize, bbox_translate

if TYPE_CHECKING:
    from .......typing import Array


__all__ = [
    "Both", "ImageBboxRandomFlipLeftRight", "ImageBboxCrop", "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomExpand", "ImageBboxResize",
]  # fmt: skip

Boxes = numpy.ndarray
Crop = tuple[int, int, int, int]
_CONSTRAINTS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


class Both(Block):
    """A transform of an image and its boxes; subclasses define `both`."""

    takes_numpy = True  # NumPy's images are accepted; but it cannot be a step of a plan, which gets the image alone

    def both(self, x: Array | numpy.ndarray, boxes: Boxes) -> tuple[Any, Boxes]:
        """Return the transformed image and boxes."""
        raise NotImplementedError(f"{type(self).__name__}: both must be defined, got none")

    def forward(self, x: Array | numpy.ndarray, bbox: Array | numpy.ndarray) -> tuple[Any, Any]:
        """Return the image and its boxes, of NumPy's where they were so."""
        y, boxes = self.both(x, numpy.asarray(bbox))
        if isinstance(bbox, _core.Array):
            return y, np.array(boxes, boxes.dtype, device=bbox.device)
        return y, boxes


def _probability(name: str, p: float) -> float:
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: p must be in [0, 1], got {p}")
    return p


class ImageBboxRandomFlipLeftRight(Both):
    """Left and right exchanged, with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = _probability("ImageBboxRandomFlipLeftRight", p)

    def both(self, x: Array | numpy.ndarray, boxes: Boxes) -> tuple[Any, Boxes]:
        """Both, or their mirror images."""
        if image.chance() >= self.p:
            return x, boxes
        return x[:, ::-1], bbox_flip(boxes, (x.shape[1], x.shape[0]), flip_x=True)


class ImageBboxCrop(Both):
    """Crop to `crop` (x, y, width, height), with boxes whose centre is outside only if that is allowed.

    ValueError if the crop is not inside the image.
    """

    def __init__(self, crop: Sequence[int], allow_outside_center: bool = False) -> None:
        super().__init__()
        if len(crop) != 4:
            raise ValueError(f"ImageBboxCrop: crop must be x, y, width and height, got {crop}")
        x, y, w, h = crop
        self._crop, self._allow = (x, y, w, h), allow_outside_center

    def both(self, x: Array | numpy.ndarray, boxes: Boxes) -> tuple[Any, Boxes]:
        """Return the crop, and the parts of boxes in it."""
        return image.fixed_crop(x, *self._crop), bbox_crop(boxes, self._crop, self._allow)


class ImageBboxRandomCropWithConstraints(Both):
    """With probability p a random crop that has enough of every box (Liu et al. 2016, SSD); else nothing changes.

    constraints: pairs of the least and the largest overlap, as intersection over union, of the crop with each box;
    None means no bound. One of them, or the whole image, is drawn; crops are drawn until one fits and keeps the centre
    of a box, at most `max_trial` times. Their area is between min_scale**2 and max_scale**2 of the image's, and their
    sides differ from the image's proportions by a factor of `max_aspect_ratio` at most.
    """

    def __init__(
        self, p: float = 0.5, min_scale: float = 0.3, max_scale: float = 1, max_aspect_ratio: float = 2,
        constraints: Sequence[tuple[float | None, float | None]] | None = None, max_trial: int = 50,
    ) -> None:  # fmt: skip
        super().__init__()
        self.p = _probability("ImageBboxRandomCropWithConstraints", p)
        self._scales, self._ratio, self._trials = (min_scale, max_scale), max_aspect_ratio, max_trial
        self._constraints = tuple(_CONSTRAINTS if constraints is None else constraints)

    def both(self, x: Array | numpy.ndarray, boxes: Boxes) -> tuple[Any, Boxes]:
        """Return the crop, and the parts of boxes in it."""
        if image.chance() >= self.p:
            return x, boxes
        crop = self._drawn((x.shape[1], x.shape[0]), boxes)
        return (x, boxes) if crop is None else (image.fixed_crop(x, *crop), bbox_crop(boxes, crop, False))

    def _drawn(self, size: tuple[int, int], boxes: Boxes) -> Crop | None:
        """Return a crop that fits; None for the whole image."""
        rng = image.draws()
        chosen = rng.integers(len(self._constraints) + 1)
        if chosen == len(self._constraints):
            return None
        low, high = self._constraints[chosen]
        for _ in range(self._trials):
            crop = self._any(size, rng)
            if not len(boxes):
                return crop
            corners = [[crop[0], crop[1], crop[0] + crop[2], crop[1] + crop[3]]]
            shares = bbox_iou(boxes, corners)
            fits = (low is None or shares.min() >= low) and (high is None or shares.max() <= high)
            if fits and len(bbox_crop(boxes, crop, False)):
                return crop
        return None

    def _any(self, size: tuple[int, int], rng: numpy.random.Generator) -> Crop:
        scale = rng.uniform(*self._scales)
        limit = min(self._ratio, 1 / scale**2)  # a side is not longer than the image's
        root = math.sqrt(rng.uniform(1 / limit, limit))
        w, h = (max(1, min(n, int(n * scale * f))) for n, f in zip(size, (root, 1 / root)))
        return int(rng.integers(size[0] - w + 1)), int(rng.integers(size[1] - h + 1)), w, h


class ImageBboxRandomExpand(Both):
    """With probability p the image is placed at random in a larger one that is filled with `fill` (Liu et al. 2016).

    max_ratio: how much larger its sides are at most; keep_ratio: both by the same factor. fill: a number, or one for
    each channel.
    """

    def __init__(
        self, p: float = 0.5, max_ratio: float = 4, fill: float | Sequence[float] = 0, keep_ratio: bool = True
    ) -> None:
        super().__init__()
        self.p = _probability("ImageBboxRandomExpand", p)
        if max_ratio < 1:
            raise ValueError(f"ImageBboxRandomExpand: max_ratio must be at least 1, got {max_ratio}")
        self._most, self._fill, self._keep = max_ratio, fill, keep_ratio

    def both(self, x: Array | numpy.ndarray, boxes: Boxes) -> tuple[Any, Boxes]:
        """Return the larger image, and the boxes where they are in it."""
        if image.chance() >= self.p or self._most == 1:
            return x, boxes
        rng, (h, w, channels) = image.draws(), x.shape
        by = rng.uniform(1, self._most)
        sides = int(h * by), int(w * (by if self._keep else rng.uniform(1, self._most)))
        top, left = int(rng.integers(sides[0] - h + 1)), int(rng.integers(sides[1] - w + 1))
        fill = constant(numpy.broadcast_to(numpy.asarray(self._fill, x.dtype), (channels,)), x)
        out = space(x).broadcast_to(fill, (*sides, channels)).copy()
        out[top : top + h, left : left + w] = x
        return out, bbox_translate(boxes, left, top)


class ImageBboxResize(Both):
    """Another size. interp: as for `image.imresize`."""

    def __init__(self, width: int, height: int, interp: int = 1) -> None:
        super().__init__()
        self._size, self._interpolation = (width, height), interp

    def both(self, x: Array | numpy.ndarray, boxes: Boxes) -> tuple[Any, Boxes]:
        """Return the image and the boxes, resized."""
        resized = image.imresize(x, *self._size, self._interpolation)
        return resized, bbox_resize(boxes, (x.shape[1], x.shape[0]), self._size)
