"""Boxes: overlaps, matches, codes, and the choice of the best ones.

A box is (left, top, right, bottom), format "corner", or (x, y, width, height) around its middle, format "center".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray, asarrays, cast, check_choice
from .._base.host_task import host, host_op
from ..elementwise.arithmetic import divide, maximum, minimum
from ..elementwise.exponential import exp, log
from ..elementwise.select import where
from ..index.getitem import getitem, take_along_axis
from ..reduce.product import prod
from ..shape.broadcast import broadcast_to
from ..shape.join import concatenate
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["bipartite_matching", "box_decode", "box_encode", "box_iou", "box_nms"]

_FORMATS = ("corner", "center")
Values = numpy.ndarray


def _four(op: str, x: Array) -> Array:
    if x.ndim == 0 or x.shape[-1] != 4:
        raise ValueError(f"{op}: boxes must be of 4 numbers, got shape {x.shape}")
    return x


def _corners(x: Array, format: str) -> tuple[Any, Any]:
    """Left and top, right and bottom."""
    a, b = getitem(x, (..., slice(0, 2))), getitem(x, (..., slice(2, 4)))
    return (a, b) if format == "corner" else (a - b / 2, a + b / 2)


def _centres(x: Array, format: str) -> tuple[Any, Any]:
    """Return the middle, and width and height."""
    a, b = getitem(x, (..., slice(0, 2))), getitem(x, (..., slice(2, 4)))
    return ((a + b) / 2, b - a) if format == "corner" else (a, b)


def box_iou(lhs: ArrayLike, rhs: ArrayLike, format: str = "corner") -> Array:
    """Return the area that boxes share, divided by the area that they cover together.

    Each box of `lhs` is compared with each box of `rhs`.

    Parameters
    ----------
    lhs : array_like
        Boxes, of shape (..., 4).
    rhs : array_like
        Boxes, of shape (..., 4).
    format : str, optional
        The format of the boxes: "corner" for (left, top, right, bottom), "center" for (x, y, width, height) around the
        middle.

    Returns
    -------
    array
        Numbers from 0 to 1, of shape lhs.shape[:-1] + rhs.shape[:-1]; 0 of boxes without area.

    Raises
    ------
    ValueError
        If boxes are not of 4 numbers, or for another format.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.box_iou(np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([[1.0, 0.0, 3.0, 2.0]])).tolist()
    [[0.3333333432674408]]
    """
    check_choice("box_iou", "format", format, _FORMATS)
    a, b = (_four("box_iou", x) for x in asarrays(lhs, rhs))
    a = reshape(a, (*a.shape[:-1], *(1,) * (b.ndim - 1), 4))
    (start, end), (other_start, other_end) = _corners(a, format), _corners(b, format)

    def area(low: Array, high: Array) -> Array:
        return prod(maximum(high - low, 0), -1)

    shared = area(maximum(start, other_start), minimum(end, other_end))
    covered = area(start, end) + area(other_start, other_end) - shared
    return where(covered > 0, divide(shared, where(covered > 0, covered, 1)), 0)


def bipartite_matching(
    data: ArrayLike, is_ascend: bool = False, threshold: float | None = None, topk: int = -1
) -> tuple[Array, Array]:
    """Return pairs of a row and a column of matrices of scores, the best score first.

    Each row and each column is in one pair at most. The function has no gradient.

    Parameters
    ----------
    data : array_like
        The scores, of shape (..., rows, columns).
    is_ascend : bool, optional
        False: large scores are the best. True: small ones are the best.
    threshold : float
        The limit of scores, which must be given: only scores above it count, or below it with `is_ascend`.
    topk : int, optional
        The largest number of pairs of a matrix, if it is positive; otherwise there is no limit.

    Returns
    -------
    tuple of arrays
        The column of each row, of shape (..., rows), and the row of each column, of shape (..., columns), both in the
        dtype of `data`; -1 for those without a pair.

    Raises
    ------
    ValueError
        If `threshold` is not given, or `data` has fewer than two axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> rows, columns = npx.bipartite_matching(np.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]]), threshold=1e-12)
    >>> rows.tolist(), columns.tolist()
    ([1.0, -1.0, 0.0], [2.0, 0.0])
    """
    x = asarray(data)
    if x.ndim < 2 or threshold is None:
        raise ValueError(f"bipartite_matching: there must be matrices and a threshold, got {x.shape} and {threshold}")

    def matched(scores: Values) -> tuple[Values, Values]:
        found = [_pairs(m, threshold, is_ascend, topk) for m in scores.reshape(-1, *scores.shape[-2:])]
        ends = zip(*found) if found else ((), ())
        return tuple(numpy.reshape(part, shape).astype(x.dtype) for part, shape in zip(ends, shapes))  # type: ignore[return-value]

    shapes = x.shape[:-1], (*x.shape[:-2], x.shape[-1])
    rows, columns = host(matched, [x], [(shape, x.dtype) for shape in shapes], name="bipartite_matching")
    return rows, columns


def _pairs(scores: Values, threshold: float, is_ascend: bool, topk: int) -> tuple[Values, Values]:
    rows, columns = (numpy.full(n, -1) for n in scores.shape)
    flat = scores.reshape(-1)
    good = numpy.flatnonzero(flat < threshold if is_ascend else flat > threshold)
    most = min(topk, *scores.shape) if topk > 0 else min(scores.shape)
    for at in good[numpy.argsort(flat[good] if is_ascend else -flat[good], kind="stable")]:
        if most <= 0:
            break
        i, j = divmod(int(at), scores.shape[1])
        if rows[i] < 0 and columns[j] < 0:
            rows[i], columns[j], most = j, i, most - 1
    return rows, columns


def box_encode(
    samples: ArrayLike, matches: ArrayLike, anchors: ArrayLike, refs: ArrayLike,
    means: ArrayLike = (0.0, 0.0, 0.0, 0.0), stds: ArrayLike = (0.1, 0.1, 0.2, 0.2),
) -> tuple[Array, Array]:  # fmt: skip
    """Encode boxes as offsets from the anchors that match them, and return a mask.

    Codes are distances of middles in widths and heights of anchors, and logarithms of ratios of widths and heights,
    minus `means`, divided by `stds` (Ren et al. 2015). Boxes and anchors are corners (left, top, right, bottom).

    Parameters
    ----------
    samples : array_like
        Numbers above 0.5 for anchors that count, of shape (batch, n).
    matches : array_like
        The number of each anchor's box in `refs`, of shape (batch, n). A negative one counts from the end.
    anchors : array_like
        The anchors, of shape (batch, n, 4).
    refs : array_like
        The boxes, of shape (batch, m, 4).
    means : array_like, optional
        Four numbers that are subtracted from the codes of x, y, width and height.
    stds : array_like, optional
        Four numbers that these codes are divided by then.

    Returns
    -------
    tuple of arrays
        The codes, which are 0 for anchors that do not count, and the mask, which is 1 for anchors that count and 0 for
        others; both of shape (batch, n, 4).

    Raises
    ------
    ValueError
        If boxes or anchors are not of 4 numbers.
    IndexError
        Where results are read, for a number in `matches` without a box.

    Examples
    --------
    >>> from forerun import np, npx
    >>> anchors, refs = np.array([[[0.0, 0.0, 1.0, 1.0]]]), np.array([[[0.5, 0.0, 1.5, 1.0]]])
    >>> codes, mask = npx.box_encode(np.ones((1, 1)), np.zeros((1, 1)), anchors, refs)
    >>> codes.tolist(), mask.tolist()
    ([[[5.0, 0.0, 0.0, 0.0]]], [[[1.0, 1.0, 1.0, 1.0]]])
    """
    samples, matches, anchors, refs = asarrays(samples, matches, anchors, refs)
    for boxes in (anchors, refs):
        _four("box_encode", boxes)
    at = broadcast_to(reshape(cast(matches, numpy.dtype("int64")), (*matches.shape, 1)), (*matches.shape, 4))
    (x, size), (own, own_size) = (_centres(boxes, "corner") for boxes in (take_along_axis(refs, at, 1), anchors))
    mean, std = (asarray(v, refs.dtype, refs.device) for v in (means, stds))
    codes = (concatenate([(x - own) / own_size, log(size / own_size)], -1) - mean) / std
    mask = broadcast_to(reshape(samples > 0.5, (*samples.shape, 1)), codes.shape)
    return where(mask, codes, 0), cast(mask, codes.dtype)


def box_decode(
    data: ArrayLike, anchors: ArrayLike, std0: float = 1.0, std1: float = 1.0, std2: float = 1.0, std3: float = 1.0,
    clip: float = -1.0, format: str = "center",
) -> Array:  # fmt: skip
    """Return boxes from codes and anchors: the inverse of `box_encode` without means.

    The middle of a box is that of its anchor, moved by the first two codes in widths and heights of the anchor. Its
    width and height are those of the anchor, times exp of the last two codes.

    Parameters
    ----------
    data : array_like
        The codes, of shape (batch, n, 4).
    anchors : array_like
        The anchors, of shape (1, n, 4).
    std0 : float, optional
        The factor of the first code of each box, that of x.
    std1 : float, optional
        The factor of the second code, that of y.
    std2 : float, optional
        The factor of the third code, that of the width.
    std3 : float, optional
        The factor of the fourth code, that of the height.
    clip : float, optional
        The largest value of codes of sizes, times std2 and std3, if it is positive.
    format : str, optional
        The format of the anchors: "center" for (x, y, width, height) around the middle, "corner" for (left, top, right,
        bottom).

    Returns
    -------
    array
        The boxes as corners (left, top, right, bottom), of shape (batch, n, 4).

    Raises
    ------
    ValueError
        If codes or anchors are not of 4 numbers, or for another format.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.box_decode(np.zeros((1, 1, 4)), np.array([[[1.0, 1.0, 2.0, 2.0]]])).tolist()
    [[[0.0, 0.0, 2.0, 2.0]]]
    """
    check_choice("box_decode", "format", format, _FORMATS)
    x, boxes = (_four("box_decode", v) for v in asarrays(data, anchors))
    own, size = _centres(boxes, format)
    scaled = x * asarray((std0, std1, std2, std3), x.dtype, x.device)
    middle = getitem(scaled, (..., slice(0, 2))) * size + own
    growth = getitem(scaled, (..., slice(2, 4)))
    half = exp(minimum(growth, clip) if clip > 0 else growth) * size / 2
    return concatenate([middle - half, middle + half], -1)


def box_nms(
    data: ArrayLike, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1, coord_start: int = 2,
    score_index: int = 1, id_index: int = -1, background_id: int = -1, force_suppress: bool = False,
    in_format: str = "corner", out_format: str = "corner",
) -> Array:  # fmt: skip
    """Return the best boxes of each batch by score, without those that overlap a better one; then rows of -1.

    Boxes whose score is not above `valid_thresh`, and those of the class `background_id`, are left out; of the others,
    the `topk` best are considered. A box is left out if its `box_iou` with a better one of its class is above
    `overlap_thresh`. Gradients flow to the boxes that stay.

    Parameters
    ----------
    data : array_like
        The boxes, of shape (..., boxes, numbers). The numbers include the score, four coordinates, and perhaps the
        class.
    overlap_thresh : float, optional
        The largest overlap of two boxes that both stay.
    valid_thresh : float, optional
        The score that boxes must be above.
    topk : int, optional
        The number of boxes of a batch that are considered, if it is positive; otherwise all are.
    coord_start : int, optional
        The position of the first coordinate among the numbers of a box.
    score_index : int, optional
        The position of the score.
    id_index : int, optional
        The position of the class; a negative one if boxes have no class, so that each is compared with all.
    background_id : int, optional
        The class that is left out; a negative one for none.
    force_suppress : bool, optional
        True compares boxes of different classes, too.
    in_format : str, optional
        The format of the coordinates of `data`: "corner" for (left, top, right, bottom), "center" for (x, y, width,
        height) around the middle.
    out_format : str, optional
        The format of the coordinates of the result, of the same two.

    Returns
    -------
    array
        The boxes that stay, the best first, then rows of -1, in the shape of `data`.

    Raises
    ------
    ValueError
        If `data` has fewer than two axes, the numbers of a box do not reach the positions given, or for another format.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.array([[0, 0.5, 0, 0, 2, 2], [0, 0.9, 0, 0, 2, 1.9], [1, 0.4, 0, 0, 2, 2]])
    >>> npx.box_nms(x, id_index=0)[:, 1].tolist()
    [0.8999999761581421, 0.4000000059604645, -1.0]
    """
    check_choice("box_nms", "in_format", in_format, _FORMATS)
    check_choice("box_nms", "out_format", out_format, _FORMATS)
    x = asarray(data)
    if x.ndim < 2 or max(coord_start + 3, score_index, id_index) >= x.shape[-1]:
        raise ValueError(f"box_nms: boxes must have score and coordinates, got shape {x.shape}")

    def chosen(values: Values) -> Values:
        order = numpy.full(values.shape[:-1], -1, "int64")
        for batch in numpy.ndindex(values.shape[:-2]):
            kept = best(values[batch])
            order[batch][: len(kept)] = kept
        return order

    def best(boxes: Values) -> list[int]:
        ids = boxes[:, id_index] if id_index >= 0 else None
        good = boxes[:, score_index] > valid_thresh
        if ids is not None and background_id >= 0:
            good &= ids != background_id
        order = numpy.flatnonzero(good)
        order = order[numpy.argsort(-boxes[order, score_index], kind="stable")]
        order = order[:topk] if topk > 0 else order
        corners = corners_of(boxes[:, coord_start : coord_start + 4], in_format)
        return without_overlaps(order, corners, None if force_suppress else ids, overlap_thresh)

    order = host_op("box_nms", chosen, [x], x.shape[:-1], "int64")
    at = reshape(order, (*order.shape, 1))
    found = where(at >= 0, take_along_axis(x, broadcast_to(maximum(at, 0), x.shape), -2), -1)
    return found if in_format == out_format else _reformatted(found, at >= 0, coord_start, out_format)


def _reformatted(x: Array, kept: Array, start: int, format: str) -> Array:
    boxes = getitem(x, (..., slice(start, start + 4)))
    pair = _centres(boxes, "corner") if format == "center" else _corners(boxes, "center")
    parts = [getitem(x, (..., slice(0, start))), concatenate(pair, -1), getitem(x, (..., slice(start + 4, None)))]
    return where(kept, concatenate(parts, -1), -1)


def corners_of(boxes: Values, format: str) -> Values:
    """Return boxes of NumPy's as corners.

    >>> corners_of(numpy.array([[1.0, 1.0, 2.0, 2.0]]), "center").tolist()
    [[0.0, 0.0, 2.0, 2.0]]
    """
    if format == "corner":
        return boxes
    half = boxes[..., 2:] / 2
    return numpy.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1)


def overlaps(box: Values, others: Values) -> Values:
    """Return `box_iou` of NumPy arrays of corners, which broadcast.

    >>> overlaps(numpy.array([0, 0, 2, 2.0]), numpy.array([[0, 0, 1, 2.0]])).tolist()
    [0.5]
    """

    def area(low: numpy.ndarray, high: numpy.ndarray) -> numpy.ndarray:
        sizes: numpy.ndarray = numpy.maximum(high - low, 0).prod(-1)
        return sizes

    start, end = numpy.maximum(box[..., :2], others[..., :2]), numpy.minimum(box[..., 2:], others[..., 2:])
    shared = area(start, end)
    covered = area(box[..., :2], box[..., 2:]) + area(others[..., :2], others[..., 2:]) - shared
    return numpy.where(covered > 0, shared / numpy.where(covered > 0, covered, 1), 0)


def without_overlaps(order: Values, corners: Values, ids: Values | None, most: float) -> list[int]:
    """Return the boxes, from the best on, that do not overlap a better one that is kept (of the same class, with ids).

    >>> without_overlaps(numpy.array([1, 0]), numpy.array([[0, 0, 2, 2.0], [0, 0, 2, 2.0]]), None, 0.5)
    [1]
    """
    kept = []
    while len(order):
        first, order = int(order[0]), order[1:]
        kept.append(first)
        near = overlaps(corners[first], corners[order]) > most
        order = order[~(near if ids is None else near & (ids[order] == ids[first]))]
    return kept
