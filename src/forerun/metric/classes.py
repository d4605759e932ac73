"""Metrics of classification: predicted classes compared with labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy

from .. import np, npx
from .base import EvalMetric, Names, Pair, sized

if TYPE_CHECKING:
    from ..typing import Array


__all__ = [
    "Accuracy", "BinaryAccuracy", "TopKAccuracy", "F1", "Fbeta", "MCC", "PCC", "CrossEntropy", "NegativeLogLikelihood",
    "Perplexity",
]  # fmt: skip


def _classes(name: str, label: Array, pred: Array, axis: int = -1) -> Pair:
    """Class numbers of both: the largest of pred along the axis, if it has one more."""
    if pred.ndim > label.ndim or (pred.ndim == label.ndim and pred.shape != label.shape):
        pred = np.argmax(pred, axis)
    return sized(name, label, pred).astype("int64"), pred.astype("int64")


class Accuracy(EvalMetric):
    """The share of predictions that are right: class numbers, or the largest along `axis`.

    Parameters
    ----------
    axis : int, optional
        The axis of classes, where predictions are scores.
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> accuracy = Accuracy()
    >>> accuracy.update(np.array([1, 1]), np.array([1, 0]))
    >>> accuracy.get()
    ('accuracy', 0.5)
    """

    def __init__(self, axis: int = 1, name: str = "accuracy", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)
        self.axis = axis

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the number of correct predictions."""
        label, pred = _classes("Accuracy", label, pred, self.axis)
        return [(label == pred).sum()], label.size


class BinaryAccuracy(EvalMetric):
    """The share of predictions above (for label 1) or not above (for label 0) the threshold.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    threshold : float, optional
        Class 1 is predicted above it.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> metric = BinaryAccuracy()
    >>> metric.update(np.array([1, 0]), np.array([0.9, 0.7]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('binary_accuracy', 0.5)
    """

    def __init__(self, name: str = "binary_accuracy", threshold: float = 0.5, **names: Unpack[Names]) -> None:
        super().__init__(name, **names)
        self.threshold = threshold

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the number of correct predictions."""
        label = sized("BinaryAccuracy", label, pred)
        return [((pred > self.threshold) == (label == 1)).sum()], label.size


class TopKAccuracy(EvalMetric):
    """The share of labels that are among the largest scores of the last axis of the predictions.

    Parameters
    ----------
    top_k : int, optional
        How many of the largest scores count.
    name : str, optional
        The beginning of the name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    ValueError
        If `top_k` is not above 1.

    Examples
    --------
    >>> from forerun import np
    >>> metric = TopKAccuracy(top_k=2)
    >>> metric.update(np.array([2, 0]), np.array([[0.1, 0.6, 0.3], [0.1, 0.6, 0.3]]))
    >>> metric.get()
    ('top_k_accuracy_2', 0.5)
    """

    def __init__(self, top_k: int = 2, name: str = "top_k_accuracy", **names: Unpack[Names]) -> None:
        if top_k < 2:
            raise ValueError(f"TopKAccuracy: top_k must be at least 2 (Accuracy is for 1), got {top_k}")
        super().__init__(f"{name}_{top_k}", **names)
        self.top_k = top_k

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the number of labels among the top predictions."""
        best = npx.topk(pred, min(self.top_k, pred.shape[-1]))
        wanted = sized("TopKAccuracy", label, best[..., 0]).astype("int64")
        return [(best == wanted[..., None]).sum()], label.size


def _positives(name: str, label: Array, pred: Array, threshold: float) -> Pair:
    """Return the examples that are of class 1, and those predicted to be; one column each, as booleans.

    pred: shares above the threshold, or class numbers; of two columns, scores of classes 0 and 1.
    """
    if pred.ndim and pred.shape[-1] == 2 and pred.size == 2 * label.size:
        rows = pred.reshape(-1, 2)
        pred = np.argmax(rows, -1) if threshold == 0.5 else rows[:, 1]
    if label.size != pred.size:
        raise ValueError(f"{name}: pred must be of two classes for labels {label.shape}, got {pred.shape}")
    return label.reshape(-1, 1) == 1, pred.reshape(-1, 1) > threshold


class _Confusion(EvalMetric):
    """Metrics of right and wrong positives and negatives, for each class or label."""

    class_type = "binary"
    threshold: Any = 0.5

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """True positives, false positives, false negatives, true negatives, each for all classes."""
        n = label.size
        one, predicted = self._marks(label, pred)
        kinds = [one & predicted, ~one & predicted, one & ~predicted, ~one & ~predicted]
        return [kind.sum(axis=0) for kind in kinds], n

    def _marks(self, label: Array, pred: Array) -> Pair:
        """Return booleans (examples, classes): the labels, and the predictions."""
        name = type(self).__name__
        if self.class_type == "binary":
            return _positives(name, label, pred, self.threshold)
        if not pred.ndim or (self.class_type == "multiclass" and pred.size != label.size * pred.shape[-1]):
            raise ValueError(f"{name}: pred must have scores for each label, got {pred.shape} for {label.shape}")
        k = pred.shape[-1]
        if self.class_type == "multiclass":
            best = np.argmax(pred.reshape(-1, k), -1)
            return (npx.one_hot(x.reshape(-1).astype("int64"), k) == 1 for x in (label, best))  # type: ignore
        limit = np.array(self.threshold, dtype="float64", device=pred.device)
        return sized(name, label, pred).reshape(-1, k) == 1, pred.reshape(-1, k) > limit


class Fbeta(_Confusion):
    """(1 + beta**2) p r / (beta**2 p + r) of precision p and recall r over all batches; 0 where neither is.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    class_type : {"binary", "multiclass", "multilabel"}, optional
        "binary": predictions are shares of class 1, class numbers, or scores of both classes; "multiclass": scores of
        shape (..., classes), the largest of which counts; "multilabel": labels of shape (..., classes) of 0 and 1, and
        a share for each.
    beta : float, optional
        How many times as much recall counts as precision.
    threshold : float or array_like, optional
        A class with a share above it is predicted; with several labels it may be one for each.
    average : {"micro", "macro"} or None, optional
        "micro": of the counts of all classes together; "macro": the mean over classes; None: an array of a value for
        each class.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    ValueError
        For another `class_type` or `average`, or in `update` for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> measure = Fbeta(class_type="multiclass", average="macro", beta=2)
    >>> measure.update(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]))
    >>> name, value = measure.get()
    >>> name, round(value, 4)
    ('fbeta', 0.6944)
    """

    def __init__(
        self, name: str = "fbeta", class_type: str = "binary", beta: float = 1,
        threshold: float | Sequence[float] = 0.5,
        average: str | None = "micro", **names: Unpack[Names],
    ) -> None:  # fmt: skip
        if class_type not in ("binary", "multiclass", "multilabel"):
            kinds = '"binary", "multiclass" or "multilabel"'
            raise ValueError(f"{type(self).__name__}: class_type must be {kinds}, got {class_type!r}")
        if average not in ("micro", "macro", None):
            raise ValueError(f'{type(self).__name__}: average must be "micro", "macro" or None, got {average!r}')
        self.class_type, self.beta, self.threshold, self.average = class_type, beta, threshold, average
        super().__init__(name, **names)

    def value(self, sums: list[Any], n: float) -> float | numpy.ndarray:
        """Of the four counts."""
        tp, fp, fn, _ = (s.sum(keepdims=True) for s in sums) if self.average == "micro" else sums
        above = (1 + self.beta**2) * tp
        below = above + self.beta**2 * fn + fp
        found = numpy.divide(above, below, out=numpy.zeros_like(above), where=below > 0)
        return found if self.average is None else float(found.mean())


class F1(Fbeta):
    """The F1 score of precision p and recall r: 2 p r / (p + r).

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    class_type : {"binary", "multiclass", "multilabel"}, optional
        "binary": predictions are shares of class 1, class numbers, or scores of both classes; "multiclass": scores of
        shape (..., classes), the largest of which counts; "multilabel": labels of shape (..., classes) of 0 and 1, and
        a share for each.
    threshold : float or array_like, optional
        A class with a share above it is predicted; with several labels it may be one for each.
    average : {"micro", "macro"} or None, optional
        "micro": of the counts of all classes together; "macro": the mean over classes; None: an array of a value for
        each class.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    ValueError
        For another `class_type` or `average`, or in `update` for shapes that do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> f1 = F1()
    >>> f1.update(np.array([1, 1, 0, 0]), np.array([1, 1, 1, 0]))
    >>> f1.get()
    ('f1', 0.8)
    """

    def __init__(
        self, name: str = "f1", class_type: str = "binary", threshold: float | Sequence[float] = 0.5,
        average: str | None = "micro",
        **names: Unpack[Names],
    ) -> None:  # fmt: skip
        super().__init__(name, class_type, 1, threshold, average, **names)


class MCC(_Confusion):
    """Matthews' correlation of labels and predictions of two classes; 0 where it is not defined.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> metric = MCC()
    >>> metric.update(np.array([1, 0, 1]), np.array([[0.2, 0.8], [0.7, 0.3], [0.6, 0.4]]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('mcc', 0.5)
    """

    def __init__(self, name: str = "mcc", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def value(self, sums: list[Any], n: float) -> float:
        """Of the four counts."""
        tp, fp, fn, tn = (s.item() for s in sums)
        below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return (tp * tn - fp * fn) / math.sqrt(below) if below else 0.0


class PCC(EvalMetric):
    """The correlation of labels and predictions of any number of classes (Gorodkin 2004), over all batches.

    Of two classes it is `MCC`; 0 where labels or predictions do not vary. Predictions are scores of shape (...,
    classes), or class numbers, for which `update` waits, to see how many classes there are.

    Parameters
    ----------
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Examples
    --------
    >>> from forerun import np
    >>> pcc = PCC()
    >>> pcc.update(np.array([0, 1, 2, 2]), np.array([0, 1, 2, 1]))
    >>> name, value = pcc.get()
    >>> name, round(value, 4)
    ('pcc', 0.7)
    """

    def __init__(self, name: str = "pcc", **names: Unpack[Names]) -> None:
        super().__init__(name, **names)

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Count the examples of each class by their predicted class."""
        scores = pred.ndim > label.ndim or (pred.ndim == label.ndim and pred.shape != label.shape)
        k = pred.shape[-1] if scores else 0
        label, pred = _classes("PCC", label, pred)
        k = k or int(np.maximum(label.max(), pred.max()).item()) + 1
        one, predicted = (npx.one_hot(x.reshape(-1), k).astype("float64") for x in (label, pred))
        return [np.dot(one.T, predicted)], label.size

    def added(self, before: Array, new: Array) -> Array:
        """Return the sum, as large as the larger of both."""
        k = max(len(before), len(new))
        wide = [np.pad(x, (0, k - len(x))) if len(x) < k else x for x in (before, new)]
        return wide[0] + wide[1]

    def value(self, sums: list[Any], n: float) -> float:
        """Of the counts."""
        counts = sums[0]
        actual, predicted, right = counts.sum(1), counts.sum(0), numpy.trace(counts)
        below = (n * n - (actual * actual).sum()) * (n * n - (predicted * predicted).sum())
        return float((n * right - (actual * predicted).sum()) / math.sqrt(below)) if below > 0 else 0.0


class CrossEntropy(EvalMetric):
    """The mean of -log(pred + eps) at the labels, where pred (..., classes) holds probabilities.

    Parameters
    ----------
    eps : float, optional
        A small number that keeps logarithms finite.
    ignore_label : int, optional
        Examples with this label do not count; None counts all.
    axis : int, optional
        The axis of classes in the predictions.
    name : str, optional
        The name that `get` returns.
    from_logits : bool, optional
        Whether predictions are scores, whose softmax is the probabilities.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    IndexError
        When the metric is read, for a label out of range.

    Examples
    --------
    >>> from forerun import np
    >>> metric = CrossEntropy()
    >>> metric.update(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('cross-entropy', 0.693)
    """

    def __init__(
        self, eps: float = 1e-12, ignore_label: int | None = None, axis: int = -1, name: str = "cross-entropy",
        from_logits: bool = False, **names: Unpack[Names],
    ) -> None:  # fmt: skip
        super().__init__(name, **names)
        self.eps, self.ignore_label, self.axis, self.from_logits = eps, ignore_label, axis, from_logits

    def batch(self, label: Array, pred: Array) -> tuple[list[Any], Any]:
        """Return the sum over the examples, and their number."""
        pred = np.moveaxis(pred, self.axis, -1).astype("float64")
        pred = npx.softmax(pred) if self.from_logits else pred
        wanted = sized(type(self).__name__, label, pred[..., 0]).astype("int64")
        if self.ignore_label is None:
            return [-np.log(npx.pick(pred, wanted) + self.eps).sum()], wanted.size
        counts = wanted != self.ignore_label
        p = npx.pick(pred, np.where(counts, wanted, 0))
        return [-np.where(counts, np.log(p + self.eps), 0.0).sum()], counts.sum()


class NegativeLogLikelihood(CrossEntropy):
    """The mean of -log(pred + eps) at the labels: CrossEntropy under its other name.

    Parameters
    ----------
    eps : float, optional
        A small number that keeps logarithms finite.
    name : str, optional
        The name that `get` returns.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    IndexError
        When the metric is read, for a label out of range.

    Examples
    --------
    >>> from forerun import np
    >>> nll = NegativeLogLikelihood()
    >>> nll.update(np.array([0, 2]), np.array([[0.3, 0.6, 0.1], [0.2, 0.3, 0.5]]))
    >>> name, value = nll.get()
    >>> name, round(value, 4)
    ('nll-loss', 0.9486)
    """

    def __init__(self, eps: float = 1e-12, name: str = "nll-loss", **names: Unpack[Names]) -> None:
        super().__init__(eps, name=name, **names)


class Perplexity(CrossEntropy):
    """The perplexity, exp of the cross entropy: as many classes as would be equally likely.

    Parameters
    ----------
    ignore_label : int, optional
        Examples with this label do not count; None counts all.
    axis : int, optional
        The axis of classes in the predictions.
    name : str, optional
        The name that `get` returns.
    eps : float, optional
        A small number that keeps logarithms finite.
    from_logits : bool, optional
        Whether predictions are scores, whose softmax is the probabilities.
    **names : sequence of str, optional
        `output_names` and `label_names`: the arrays that `update_dict` takes; None for all.

    Raises
    ------
    IndexError
        When the metric is read, for a label out of range.

    Examples
    --------
    >>> from forerun import np
    >>> metric = Perplexity()
    >>> metric.update(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    >>> name, value = metric.get()
    >>> name, round(value, 3)
    ('perplexity', 2.0)
    """

    def __init__(
        self, ignore_label: int | None = None, axis: int = -1, name: str = "perplexity", eps: float = 1e-10,
        from_logits: bool = False, **names: Unpack[Names],
    ) -> None:  # fmt: skip
        super().__init__(eps, ignore_label, axis, name, from_logits, **names)

    def value(self, sums: list[float], n: float) -> float:
        """Return the exponential."""
        return math.exp(sums[0] / n)
