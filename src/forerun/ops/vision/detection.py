"""Boxes in images: anchors, and regions pooled to one size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarrays
from .._base.host_task import host_op

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["batch_flatten", "multibox_prior", "roi_pooling"]


def batch_flatten(x: ArrayLike) -> Array:
    """Return an array with all axes after the first one flattened.

    Parameters
    ----------
    x : array_like
        The values, of shape (batch, ...).

    Returns
    -------
    array
        `x` as (batch, elements): a view where memory allows.

    Raises
    ------
    IndexError
        If `x` is an array without axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.batch_flatten(np.zeros((2, 3, 4))).shape
    (2, 12)
    """
    x = asarray(x)
    return x.reshape(x.shape[0], math.prod(x.shape[1:]))


def multibox_prior(
    data: ArrayLike,
    sizes: Sequence[float] = (1.0,),
    ratios: Sequence[float] = (1.0,),
    clip: bool = False,
    steps: Sequence[float] = (-1.0, -1.0),
    offsets: Sequence[float] = (0.5, 0.5),
) -> Array:
    """Return anchor boxes around each pixel of data (Liu et al. 2016).

    Around a pixel there is a box of each size s with the first ratio r, of width s sqrt(r) height / width and height s
    / sqrt(r), then one of the first size with each other ratio.

    Parameters
    ----------
    data : array_like
        An array of shape (..., height, width). Its values have no effect.
    sizes : sequence of floats, optional
        The sizes of boxes, in parts of the image's height.
    ratios : sequence of floats, optional
        The proportions of boxes, width divided by height.
    clip : bool, optional
        Whether boxes end at the image's border, within 0 and 1.
    steps : sequence of floats, optional
        The distances of pixels (y, x), in parts of the image's height and width; negative for 1 / height and 1 / width.
    offsets : sequence of floats, optional
        The positions of centres (y, x) within a pixel, in pixels.

    Returns
    -------
    array
        The boxes, float32, of shape (1, height * width * boxes, 4), where boxes is the number of boxes around a pixel.
        A box is (left, top, right, bottom), in parts of the image's width and height.

    Raises
    ------
    ValueError
        If there are no sizes or no ratios, or data has fewer than two axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.multibox_prior(np.zeros((1, 3, 1, 2)), sizes=[0.5], ratios=[1, 4])[0].tolist()[:2]
    [[0.125, 0.25, 0.375, 0.75], [0.0, 0.375, 0.5, 0.625]]
    """
    x = asarray(data)
    if x.ndim < 2 or not len(sizes) or not len(ratios):
        raise ValueError(
            f"multibox_prior: there must be two axes, sizes and ratios, got {x.shape}, {sizes} and {ratios}"
        )
    height, width = x.shape[-2:]
    roots = numpy.sqrt([ratios[0]] * len(sizes) + list(ratios[1:]))
    scales = numpy.array(list(sizes) + [sizes[0]] * (len(ratios) - 1))
    half = numpy.stack([scales * roots * height / max(width, 1), scales / roots], -1) / 2
    step_y, step_x = (s if s > 0 else 1 / max(n, 1) for s, n in zip(steps, (height, width)))
    ys = (numpy.arange(height) + offsets[0]) * step_y
    xs = (numpy.arange(width) + offsets[1]) * step_x
    centres = numpy.stack(numpy.broadcast_arrays(xs, ys[:, None]), -1)[..., None, :]
    boxes = numpy.concatenate([centres - half, centres + half], -1)
    boxes = boxes.clip(0, 1) if clip else boxes
    return _core.from_numpy(boxes.reshape(1, -1, 4).astype("float32"), x.device)


def roi_pooling(data: ArrayLike, rois: ArrayLike, pooled_size: Sequence[int], spatial_scale: float) -> Array:
    """Return the largest element of each cell of a grid over each region (Girshick 2015). It has no gradient.

    Parameters
    ----------
    data : array_like
        The images, of shape (batch, channels, height, width).
    rois : array_like
        The regions, of shape (regions, 5), in rows of (number in the batch, left, top, right, bottom), in pixels of an
        image of which data has `spatial_scale` times the size. Ends are included.
    pooled_size : sequence of two ints
        The number of cells of a grid: rows and columns.
    spatial_scale : float
        The factor from pixels of regions to pixels of data.

    Returns
    -------
    array
        The largest elements, of shape (regions, channels, *pooled_size), in data's dtype. A cell without pixels is 0.

    Raises
    ------
    ValueError
        If arrays are of other shapes, or there are not two sizes.
    IndexError
        Where the result is read, if a region has a number that is not in the batch.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> npx.roi_pooling(x, np.array([[0, 0, 0, 3, 3]]), (2, 2), 1.0).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    x, boxes = asarrays(data, rois)
    if x.ndim != 4 or boxes.ndim != 2 or boxes.shape[1] != 5 or len(pooled_size) != 2:
        raise ValueError(
            "roi_pooling: shapes must be (batch, channels, height, width) and (regions, 5), of 2 sizes, "
            f"got {x.shape}, {boxes.shape} and {tuple(pooled_size)}"
        )
    shape = (boxes.shape[0], x.shape[1], *pooled_size)
    return host_op("roi_pooling", lambda v, b: _pooled(v, b, shape, spatial_scale), [x, boxes], shape, x.dtype)


def _pooled(x: numpy.ndarray, boxes: numpy.ndarray, shape: tuple[int, ...], scale: float) -> numpy.ndarray:
    result = numpy.zeros(shape, x.dtype)
    for box, into in zip(boxes, result):
        if not 0 <= box[0] < len(x):
            raise IndexError(f"roi_pooling: region must be of one of {len(x)} images, got {box[0]}")
        left, top, right, bottom = (math.floor(float(v) * scale + 0.5) for v in box[1:])
        rows = _cells(top, bottom, shape[2], x.shape[2])
        columns = _cells(left, right, shape[3], x.shape[3])
        for i, (y0, y1) in enumerate(rows):
            for j, (x0, x1) in enumerate(columns):
                if y1 > y0 and x1 > x0:
                    into[:, i, j] = x[int(box[0]), :, y0:y1, x0:x1].max((1, 2))
    return result


def _cells(start: int, end: int, n: int, extent: int) -> list[tuple[int, int]]:
    """Return where n cells between two pixels begin and end, inside the extent."""
    step = max(end - start + 1, 1) / n
    bounds = [(math.floor(i * step) + start, math.ceil((i + 1) * step) + start) for i in range(n)]
    return [(min(max(a, 0), extent), min(max(b, 0), extent)) for a, b in bounds]
