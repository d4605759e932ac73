"""Targets of anchor boxes, and detection with them (Liu et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base.convert import asarrays
from .._base.host_task import host, host_op
from .boxes import overlaps, without_overlaps

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["multibox_detection", "multibox_target"]

Values = numpy.ndarray


def multibox_target(
    anchor: ArrayLike, label: ArrayLike, cls_pred: ArrayLike, overlap_threshold: float = 0.5,
    ignore_label: float = -1.0, negative_mining_ratio: float = -1.0, negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0, variances: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
) -> list[Array]:  # fmt: skip
    """Return the training targets of anchors: the codes of their objects' boxes, a mask of these, and classes.

    Each object gets the anchor that overlaps it most, one after another; then other anchors get the object that they
    overlap most, if their `box_iou` is above the threshold. The class of an anchor is its object's plus 1; other
    anchors are background, which is class 0. It has no gradient.

    Parameters
    ----------
    anchor : array_like
        The anchors as corners (left, top, right, bottom), of shape (1, n, 4).
    label : array_like
        The objects of each image, of shape (batch, objects, 5), in rows of (class, left, top, right, bottom), in the
        units of the anchors. Rows from the first one with class -1 on do not count.
    cls_pred : array_like
        The scores of classes, of which 0 is the background, of shape (batch, classes, n). Only negative mining uses
        them.
    overlap_threshold : float, optional
        The overlap above which an anchor that is the best one of no object gets an object.
    ignore_label : float, optional
        The class of anchors that do not count in training: those that negative mining leaves out, and all of an image
        without objects.
    negative_mining_ratio : float, optional
        If it is positive, the number of background anchors for each anchor that has an object: of the candidates, those
        with the lowest background scores are taken. If not, all anchors without an object are background.
    negative_mining_thresh : float, optional
        The candidates of negative mining are the anchors that overlap every object by less than this.
    minimum_negative_samples : int, optional
        The least number of anchors that negative mining takes as background, if there are so many candidates.
    variances : sequence of floats, optional
        Four numbers by which codes are divided: of x, y, width and height.

    Returns
    -------
    list of arrays
        The codes, as of `box_encode`, of shape (batch, 4 n); the mask, of that shape, which is 1 for anchors that have
        an object and 0 for others; and the classes, of shape (batch, n). All are in the anchors' dtype.

    Raises
    ------
    ValueError
        If arrays are of other shapes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> anchors = np.array([[[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0]]])
    >>> codes, mask, classes = npx.multibox_target(anchors, np.array([[[2, 0, 0, 0.5, 0.5]]]), np.zeros((1, 4, 2)))
    >>> mask.tolist(), classes.tolist()
    ([[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]], [[3.0, 0.0]])
    """
    boxes, objects, scores = asarrays(anchor, label, cls_pred)
    n, batch = boxes.size // 4, objects.shape[0] if objects.ndim else 0
    fits = boxes.shape == (1, n, 4) and objects.ndim == 3 and objects.shape[2] >= 5 and scores.ndim == 3
    if not fits or (scores.shape[0], scores.shape[2]) != (batch, n):
        shapes = f"{boxes.shape}, {objects.shape} and {scores.shape}"
        raise ValueError(f"multibox_target: shapes must be (1, n, 4), (b, m, 5) and (b, classes, n), got {shapes}")
    mining = negative_mining_ratio, negative_mining_thresh, minimum_negative_samples

    def targets(boxes: Values, objects: Values, scores: Values) -> tuple[Values, ...]:
        codes, mask = numpy.zeros((2, batch, n, 4))
        classes = numpy.full((batch, n), float(ignore_label))
        for i in range(batch):
            known = _objects(objects[i])
            if len(known):
                shared = overlaps(boxes[0][:, None].astype("float64"), known[None, :, 1:5])
                match = _matches(shared, overlap_threshold)
                positive = match >= 0
                codes[i, positive] = _codes(boxes[0][positive], known[match[positive], 1:5], variances)
                mask[i, positive] = 1
                classes[i, _background(match, shared.max(1), scores[i], mining)] = 0
                classes[i, positive] = known[match[positive], 0] + 1
        return tuple(v.reshape(batch, -1).astype(dtype) for v in (codes, mask, classes))

    dtype = boxes.dtype
    outs = [((batch, 4 * n), dtype), ((batch, 4 * n), dtype), ((batch, n), dtype)]
    return host(targets, [boxes, objects, scores], outs, name="multibox_target")


def _objects(rows: Values) -> Values:
    ends = numpy.flatnonzero(rows[:, 0] == -1)
    return rows[: ends[0]].astype("float64") if len(ends) else rows.astype("float64")


def _matches(shared: Values, threshold: float) -> Values:
    """Return the number of each anchor's object, or -1. shared: (anchors, objects)."""
    match = numpy.full(len(shared), -1)
    rest = shared.copy()
    for _ in range(min(shared.shape)):
        i, j = divmod(int(rest.argmax()), shared.shape[1])
        if rest[i, j] <= 0:
            break
        match[i] = j
        rest[i], rest[:, j] = -1, -1
    best = shared.argmax(1)
    further = (match < 0) & (shared.max(1) > threshold)
    match[further] = best[further]
    return match


def _background(match: Values, most: Values, scores: Values, mining: tuple[float, float, int]) -> Values:
    """Return the anchors that are to learn that there is nothing."""
    ratio, threshold, least = mining
    if ratio <= 0:
        return numpy.flatnonzero(match < 0)
    free = numpy.flatnonzero((match < 0) & (most < threshold))
    e = numpy.exp(scores - scores.max(0))
    order = numpy.argsort((e[0] / e.sum(0))[free], kind="stable")
    count = max(int((match >= 0).sum() * ratio), least)
    return free[order[:count]]


def _codes(anchors: Values, objects: Values, variances: Sequence[float]) -> Values:
    size, wanted = anchors[:, 2:] - anchors[:, :2], objects[:, 2:] - objects[:, :2]
    moved = (objects[:, :2] + objects[:, 2:] - anchors[:, :2] - anchors[:, 2:]) / 2 / size
    return numpy.concatenate([moved, numpy.log(wanted / size)], 1) / variances


def multibox_detection(
    cls_prob: ArrayLike, loc_pred: ArrayLike, anchor: ArrayLike, clip: bool = True, threshold: float = 0.01,
    background_id: int = 0, nms_threshold: float = 0.5, force_suppress: bool = False,
    variances: Sequence[float] = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1,
) -> Array:  # fmt: skip
    """Return the objects that anchors detect in images, the most probable first. It has no gradient.

    Parameters
    ----------
    cls_prob : array_like
        The probabilities of classes, at least two, of shape (batch, classes, n), where n is the number of anchors.
    loc_pred : array_like
        The codes of boxes, as of `multibox_target`, of shape (batch, 4 n).
    anchor : array_like
        The anchors as corners (left, top, right, bottom), in parts of the image's width and height, of shape (1, n, 4).
    clip : bool, optional
        Whether boxes end at the image's border, within 0 and 1.
    threshold : float, optional
        The probability below which an anchor detects nothing.
    background_id : int, optional
        The class of the background. An anchor's class is its most probable one but this, counted without it. If it is
        negative, no class is left out.
    nms_threshold : float, optional
        The overlap, as of `box_iou`, above which the less probable one of two boxes of a class is suppressed.
    force_suppress : bool, optional
        Whether boxes of different classes suppress each other too.
    variances : sequence of floats, optional
        Four numbers by which codes are multiplied: of x, y, width and height.
    nms_topk : int, optional
        The number of the most probable boxes of an image that may be kept; all if it is not positive.

    Returns
    -------
    array
        The detections, of shape (batch, n, 6), in the dtype of `cls_prob`: rows of (class, probability, left, top,
        right, bottom). The class is -1 for boxes that are suppressed, and for those after the first `nms_topk`. Rows of
        anchors whose probability is below the threshold are -1 throughout, and are the last ones.

    Raises
    ------
    ValueError
        If arrays are of other shapes, or there are fewer than two classes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> anchors = np.array([[[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.6]]])
    >>> prob = np.array([[[0.2, 0.1], [0.8, 0.9]]])
    >>> npx.multibox_detection(prob, np.zeros((1, 8)), anchors)[0, :, 0].tolist()
    [0.0, -1.0]
    """
    prob, codes, boxes = asarrays(cls_prob, loc_pred, anchor)
    n = boxes.size // 4
    fits = prob.ndim == 3 and prob.shape[1] > 1 and prob.shape[2] == n and boxes.shape == (1, n, 4)
    if not fits or codes.shape != (prob.shape[0], 4 * n):
        shapes = f"{prob.shape}, {codes.shape} and {boxes.shape}"
        raise ValueError(f"multibox_detection: shapes must be (b, classes, n), (b, 4 n) and (1, n, 4), got {shapes}")

    def found(prob: Values, codes: Values, boxes: Values) -> Values:
        rows = numpy.full((len(prob), n, 6), -1.0)
        for i in range(len(prob)):
            corners = _decoded(codes[i].reshape(n, 4).astype("float64"), boxes[0], variances, clip)
            _detected(rows[i], prob[i].astype("float64"), corners)
        return rows.astype(prob.dtype)

    def _detected(rows: Values, prob: Values, corners: Values) -> None:
        real = numpy.delete(prob, background_id, 0) if background_id >= 0 else prob
        ids, best = real.argmax(0), real.max(0)
        order = numpy.flatnonzero(best >= threshold)
        order = order[numpy.argsort(-best[order], kind="stable")]
        rows[: len(order)] = numpy.concatenate([ids[order, None], best[order, None], corners[order]], 1)
        part = order[:nms_topk] if nms_topk > 0 else order
        kept = without_overlaps(part, corners, None if force_suppress else ids, nms_threshold)
        rows[: len(order), 0][~numpy.isin(order, kept)] = -1

    return host_op("multibox_detection", found, [prob, codes, boxes], (prob.shape[0], n, 6), prob.dtype)


def _decoded(codes: Values, anchors: Values, variances: Sequence[float], clip: bool) -> Values:
    size = anchors[:, 2:] - anchors[:, :2]
    scaled = codes * variances
    middle = scaled[:, :2] * size + (anchors[:, :2] + anchors[:, 2:]) / 2
    half = numpy.exp(scaled[:, 2:]) * size / 2
    corners = numpy.concatenate([middle - half, middle + half], 1)
    return corners.clip(0, 1) if clip else corners
