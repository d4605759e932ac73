"""Regions of images, brought to one size by interpolation (He et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from .._base.convert import asarrays
from .._base.host_task import host_op
from .._base.primitive import nondifferentiable, primitive
from .._base.registry import registered_tuple

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["roi_align"]

Values = numpy.ndarray


@registered_tuple("roi_align.Plan")
class _Plan(NamedTuple):
    """The settings of sampling in regions."""

    size: tuple[int, int]
    scale: float
    samples: int
    aligned: bool


def roi_align(
    data: ArrayLike, rois: ArrayLike, pooled_size: int | Sequence[int], spatial_scale: float, sample_ratio: int = -1,
    position_sensitive: bool = False, aligned: bool = False,
) -> Array:  # fmt: skip
    """Return the mean of samples in each cell of a grid over each region (He et al. 2017).

    Samples are interpolated between pixels, and 0 beyond the border. Gradients flow to data.

    Parameters
    ----------
    data : array_like
        The images, of shape (batch, channels, height, width).
    rois : array_like
        The regions, of shape (regions, 5), in rows of (number in the batch, left, top, right, bottom), in pixels of an
        image of which data has `spatial_scale` times the size.
    pooled_size : int or sequence of two ints
        The number of cells of a grid: rows and columns, or one number for both.
    spatial_scale : float
        The factor from pixels of regions to pixels of data.
    sample_ratio : int, optional
        The number of samples of a cell each way; if it is not positive, there is about one for each pixel.
    position_sensitive : bool, optional
        Must be False.
    aligned : bool, optional
        Whether positions of pixels are those of their middles. If not, they are those of their corners, and regions are
        at least a pixel wide and high.

    Returns
    -------
    array
        The means, of shape (regions, channels, *pooled_size), in data's dtype.

    Raises
    ------
    ValueError
        If arrays are of other shapes, or there are not two positive sizes.
    IndexError
        Where the result is read, if a region has a number that is not in the batch.
    NotImplementedError
        If `position_sensitive` is True.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> npx.roi_align(x, np.array([[0, 0, 0, 3, 3]]), (1, 1), 1.0, aligned=True).tolist()
    [[[[5.0]]]]
    """
    x, boxes = asarrays(data, rois)
    size = (pooled_size, pooled_size) if isinstance(pooled_size, int) else tuple(pooled_size)
    if position_sensitive:
        raise NotImplementedError("roi_align: position_sensitive must be False, got True")
    if x.ndim != 4 or boxes.ndim != 2 or boxes.shape[1] != 5 or len(size) != 2 or min(size) < 1:
        raise ValueError(
            "roi_align: shapes must be (batch, channels, height, width) and (regions, 5), of 2 sizes, "
            f"got {x.shape}, {boxes.shape} and {size}"
        )
    return _align(x, boxes, _Plan((int(size[0]), int(size[1])), spatial_scale, sample_ratio, aligned), x.shape)


def _weights(box: Values, plan: _Plan, extents: Sequence[int]) -> Iterator[Values]:
    """Of rows, then of columns: how much each one has in each cell. (cells, extent)."""
    for axis, (cells, extent) in enumerate(zip(plan.size, extents)):
        start, end = (box[[2 - axis, 4 - axis]] * plan.scale) - (0.5 if plan.aligned else 0.0)
        length = end - start if plan.aligned else max(end - start, 1.0)
        samples = plan.samples if plan.samples > 0 else max(math.ceil(length / cells), 1)
        at = start + (numpy.arange(cells * samples) + 0.5) * (length / cells / samples)
        inside = (at >= -1) & (at <= extent)
        at = at.clip(0, extent - 1)
        low = numpy.floor(at).astype(int)
        share = at - low
        found = numpy.zeros((cells, samples, extent))
        rows = numpy.arange(cells * samples)
        flat = found.reshape(-1, extent)
        flat[rows, low] += inside * (1 - share)
        flat[rows, numpy.minimum(low + 1, extent - 1)] += inside * share
        yield found.mean(1)


def _regions(boxes: Values, plan: _Plan, shape: Sequence[int]) -> Iterator[tuple[int, Values, Values]]:
    """Yield the number of each region's image, and its weights of rows and of columns."""
    for box in boxes.astype("float64"):
        if not 0 <= box[0] < shape[0]:
            raise IndexError(f"roi_align: region must be of one of {shape[0]} images, got {box[0]}")
        rows, columns = _weights(box, plan, shape[2:])
        yield int(box[0]), rows, columns


@primitive(lambda g, rois, plan, shape: _align_back(g, rois, plan, shape), nondifferentiable, op="roi_align")
def _align(x: Array, rois: Array, plan: _Plan, shape: tuple[int, ...]) -> Array:
    def pooled(v: Values, boxes: Values) -> Values:
        result = numpy.zeros((len(boxes), shape[1], *plan.size), v.dtype)
        for i, (image, rows, columns) in enumerate(_regions(boxes, plan, shape)):
            result[i] = rows @ v[image] @ columns.T
        return result

    return host_op("roi_align", pooled, [x, rois], (rois.shape[0], shape[1], *plan.size), x.dtype)


@primitive(lambda g, rois, plan, shape: _align(g, rois, plan, shape), nondifferentiable, op="roi_align.backward")
def _align_back(x: Array, rois: Array, plan: _Plan, shape: tuple[int, ...]) -> Array:
    """Return the gradient of an image's regions: it is linear, so that its own gradient is the op."""

    def spread(g: Values, boxes: Values) -> Values:
        result = numpy.zeros(shape, g.dtype)
        for i, (image, rows, columns) in enumerate(_regions(boxes, plan, shape)):
            result[image] += (rows.T @ g[i] @ columns).astype(g.dtype)
        return result

    return host_op("roi_align_back", spread, [x, rois], shape, x.dtype)
