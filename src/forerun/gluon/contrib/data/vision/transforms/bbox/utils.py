"""Boxes as rows of NumPy's: xmin, ymin, xmax, ymax in pixels, and further columns, such as the class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from ......._display.namespaces import dir_of

if TYPE_CHECKING:
    from .......typing import ArrayLike


__all__ = [
    "bbox_clip_xyxy", "bbox_crop", "bbox_flip", "bbox_iou", "bbox_resize", "bbox_translate", "bbox_xywh_to_xyxy",
    "bbox_xyxy_to_xywh",
]  # fmt: skip
__dir__ = dir_of(__name__)


def rows(bbox: ArrayLike, op: str) -> numpy.ndarray:
    """Return a copy of boxes, waited for. ValueError unless they are rows of 4 numbers or more."""
    values = numpy.array(bbox, copy=True)
    if values.ndim != 2 or values.shape[1] < 4:
        raise ValueError(f"{op}: bbox must have rows of 4 numbers or more, got shape {values.shape}")
    return values


def bbox_flip(bbox: ArrayLike, size: Sequence[int], flip_x: bool = False, flip_y: bool = False) -> numpy.ndarray:
    """Return boxes in the mirror image of an image of `size` (width, height).

    >>> bbox_flip([[1, 2, 3, 4]], (10, 10), flip_x=True).tolist()
    [[7, 2, 9, 4]]
    """
    found = rows(bbox, "bbox_flip")
    for flip, low, extent in ((flip_x, 0, size[0]), (flip_y, 1, size[1])):
        if flip:
            found[:, [low, low + 2]] = extent - found[:, [low + 2, low]]
    return found


def bbox_resize(bbox: ArrayLike, in_size: Sequence[int], out_size: Sequence[int]) -> numpy.ndarray:
    """Return boxes in an image of `in_size` (width, height) that becomes one of `out_size`.

    >>> bbox_resize([[1.0, 2.0, 3.0, 4.0]], (10, 10), (20, 5)).tolist()
    [[2.0, 1.0, 6.0, 2.0]]
    """
    found = rows(bbox, "bbox_resize")
    for low in (0, 1):
        found[:, [low, low + 2]] = found[:, [low, low + 2]] * (out_size[low] / in_size[low])
    return found


def bbox_translate(bbox: ArrayLike, x_offset: float = 0, y_offset: float = 0) -> numpy.ndarray:
    """Return boxes moved to the right and down.

    >>> bbox_translate([[1, 2, 3, 4]], 10, -1).tolist()
    [[11, 1, 13, 3]]
    """
    found = rows(bbox, "bbox_translate")
    found[:, [0, 2]] += numpy.asarray(x_offset, found.dtype)
    found[:, [1, 3]] += numpy.asarray(y_offset, found.dtype)
    return found


def bbox_crop(
    bbox: ArrayLike, crop_box: Sequence[int] | None = None, allow_outside_center: bool = True
) -> numpy.ndarray:
    """Crop boxes to `crop_box` (x, y, width, height), with coordinates relative to its corner.

    Boxes outside of it are removed; without `allow_outside_center`, also those whose centre is outside.

    >>> bbox_crop([[1, 1, 5, 5], [8, 8, 9, 9]], (2, 2, 4, 4)).tolist()
    [[0, 0, 3, 3]]
    """
    found = rows(bbox, "bbox_crop")
    if crop_box is None:
        return found
    x, y, w, h = crop_box
    low, high = numpy.array([x, y]), numpy.array([x + w, y + h])
    centre = (found[:, :2] + found[:, 2:4]) / 2
    stays = ((low <= centre) & (centre < high)).all(1) | allow_outside_center
    found[:, :2] = numpy.maximum(found[:, :2], low) - low
    found[:, 2:4] = numpy.minimum(found[:, 2:4], high) - low
    inside: numpy.ndarray = found[stays & (found[:, :2] < found[:, 2:4]).all(1)]
    return inside


def bbox_iou(bbox_a: ArrayLike, bbox_b: ArrayLike, offset: float = 0) -> numpy.ndarray:
    """Return the shared area of each box of a with each of b, over the area of both together.

    offset: added to extents, 1 where the last pixel belongs to a box.

    >>> bbox_iou([[0, 0, 2, 2]], [[1, 0, 3, 2], [5, 5, 6, 6]]).round(3).tolist()
    [[0.333, 0.0]]
    """
    a, b = (rows(x, "bbox_iou")[:, :4].astype("float64") for x in (bbox_a, bbox_b))
    low, high = numpy.maximum(a[:, None, :2], b[:, :2]), numpy.minimum(a[:, None, 2:], b[:, 2:])
    shared = numpy.prod(numpy.maximum(high - low + offset, 0), 2)
    areas = [numpy.prod(x[:, 2:] - x[:, :2] + offset, 1) for x in (a, b)]
    together = areas[0][:, None] + areas[1] - shared
    ratio: numpy.ndarray = numpy.divide(shared, together, out=numpy.zeros_like(shared), where=together > 0)
    return ratio


def bbox_xywh_to_xyxy(xywh: ArrayLike) -> numpy.ndarray:
    """Return corners of boxes that are given by x, y, width and height; the last pixel belongs to them.

    >>> bbox_xywh_to_xyxy([[1, 2, 3, 4]]).tolist()
    [[1, 2, 3, 5]]
    """
    found = rows(xywh, "bbox_xywh_to_xyxy")
    found[:, 2:4] = found[:, :2] + numpy.maximum(found[:, 2:4] - 1, 0)
    return found


def bbox_xyxy_to_xywh(xyxy: ArrayLike) -> numpy.ndarray:
    """Return x, y, width and height of boxes that are given by corners; the inverse of `bbox_xywh_to_xyxy`.

    >>> bbox_xyxy_to_xywh([[1, 2, 3, 5]]).tolist()
    [[1, 2, 3, 4]]
    """
    found = rows(xyxy, "bbox_xyxy_to_xywh")
    found[:, 2:4] = found[:, 2:4] - found[:, :2] + 1
    return found


def bbox_clip_xyxy(xyxy: ArrayLike, width: int, height: int) -> numpy.ndarray:
    """Return boxes whose corners are moved into an image, to its last pixel at most.

    >>> bbox_clip_xyxy([[-1, 2, 30, 40]], 10, 20).tolist()
    [[0, 2, 9, 19]]
    """
    found = rows(xyxy, "bbox_clip_xyxy")
    found[:, [0, 2]] = numpy.clip(found[:, [0, 2]], 0, width - 1)
    found[:, [1, 3]] = numpy.clip(found[:, [1, 3]], 0, height - 1)
    return found
