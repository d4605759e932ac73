"""Metrics: how good predictions are, over batches. `update` issues operations and never waits; `get` waits.

>>> from forerun import metric, np
>>> accuracy = metric.Accuracy()
>>> accuracy.update(np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]]))
>>> accuracy.get()
('accuracy', 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import autograd, np, npx
from .ops.convert import asarray

__all__ = [
    "EvalMetric", "CompositeEvalMetric", "Accuracy", "BinaryAccuracy", "TopKAccuracy", "F1", "MCC", "MAE", "MSE",
    "RMSE", "CrossEntropy", "NegativeLogLikelihood", "Perplexity", "PearsonCorrelation", "Loss", "CustomMetric",
    "create",
]  # fmt: skip

Pair = tuple[Any, Any]


class EvalMetric:
    """What metrics have in common: a name, and sums over batches. Subclasses define `batch`, and perhaps `value`.

    labels and preds of `update` are arrays, or lists of them, one per device; ValueError if they differ in number, or
    in length. The sums are float64 arrays on the device of the predictions.

    >>> from forerun import np
    >>> class Largest(EvalMetric):
    ...     def batch(self, label, pred):
    ...         return [np.abs(label - pred).max()], 1
    >>> largest = Largest("largest")
    >>> largest.update(np.zeros(2), np.array([1.0, -3.0]))
    >>> largest.get()
    ('largest', 3.0)
    """

    def __init__(self, name: str, output_names: Any = None, label_names: Any = None) -> None:
        self.name = name
        self.output_names, self.label_names = output_names, label_names
        self.reset()

    def reset(self) -> None:
        """Forgets all batches."""
        self.num_inst: Any = 0
        self.sums: list[Any] = []

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """The sums of one batch, and the number that they are divided by."""
        raise NotImplementedError(f"{type(self).__name__}: batch must be defined, got none")

    def value(self, sums: list[float], n: float) -> float:
        """The metric, of sums over all batches."""
        return sums[0] / n

    def update(self, labels: Any, preds: Any) -> None:
        """Takes a batch into account. Does not wait."""
        with autograd.pause():
            for label, pred in _pairs(type(self).__name__, labels, preds):
                sums, n = self.batch(label, pred)
                device = self.sums[0].device if self.sums else pred.device
                wide = [asarray(s).astype("float64").as_in_ctx(device) for s in sums]
                self.sums = [a + b for a, b in zip(self.sums, wide)] if self.sums else wide
                self.num_inst = self.num_inst + (n.as_in_ctx(device) if hasattr(n, "as_in_ctx") else n)

    def get(self) -> tuple[Any, Any]:
        """The name and the value so far; NaN before the first batch. Waits."""
        n = float(self.num_inst)
        return self.name, (self.value([s.item() for s in self.sums], n) if n else math.nan)

    def get_name_value(self) -> list[tuple[str, float]]:
        """`get` as a list of pairs. Waits."""
        name, value = self.get()
        return list(zip(name, value)) if isinstance(name, list) else [(name, value)]

    def update_dict(self, label: dict[str, Any], pred: dict[str, Any]) -> None:
        """`update` with arrays by name: those of label_names and output_names, or all."""
        labels = [label[name] for name in self.label_names] if self.label_names else list(label.values())
        preds = [pred[name] for name in self.output_names] if self.output_names else list(pred.values())
        self.update(labels, preds)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.get_name_value())})"


def _pairs(name: str, labels: Any, preds: Any) -> list[Pair]:
    several = [x if isinstance(x, (list, tuple)) else [x] for x in (labels, preds)]
    if len(several[0]) != len(several[1]):
        raise ValueError(
            f"{name}: labels and preds must be as many, got {len(several[0])} and {len(several[1])}"
        )
    pairs = [(asarray(label), asarray(pred)) for label, pred in zip(*several)]
    return [(label.as_in_ctx(pred.device), pred) for label, pred in pairs]


def _sized(name: str, label: Any, pred: Any) -> Any:
    """The label in pred's shape; ValueError if it has another number of elements."""
    if label.size != pred.size:
        raise ValueError(
            f"{name}: label must have as many elements as pred, got {label.shape} for {pred.shape}"
        )
    return label.reshape(pred.shape)


def _classes(name: str, label: Any, pred: Any, axis: int = -1) -> Pair:
    """Class numbers of both: the largest of pred along the axis, if it has one more."""
    if pred.ndim > label.ndim or (pred.ndim == label.ndim and pred.shape != label.shape):
        pred = np.argmax(pred, axis)
    return _sized(name, label, pred).astype("int64"), pred.astype("int64")


class Accuracy(EvalMetric):
    """The share of predictions that are right: class numbers, or the largest along `axis`.

    >>> from forerun import np
    >>> accuracy = Accuracy()
    >>> accuracy.update(np.array([1, 1]), np.array([1, 0]))
    >>> accuracy.get()
    ('accuracy', 0.5)
    """

    def __init__(self, axis: int = 1, name: str = "accuracy", **names: Any) -> None:
        super().__init__(name, **names)
        self.axis = axis

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """How many are right."""
        label, pred = _classes("Accuracy", label, pred, self.axis)
        return [(label == pred).sum()], label.size


class BinaryAccuracy(EvalMetric):
    """The share of predictions above (for label 1) or not above (for label 0) the threshold."""

    def __init__(self, name: str = "binary_accuracy", threshold: float = 0.5, **names: Any) -> None:
        super().__init__(name, **names)
        self.threshold = threshold

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """How many are right."""
        label = _sized("BinaryAccuracy", label, pred)
        return [((pred > self.threshold) == (label == 1)).sum()], label.size


class TopKAccuracy(EvalMetric):
    """The share of labels that are among the `top_k` largest of pred's last axis. ValueError unless top_k > 1."""

    def __init__(self, top_k: int = 2, name: str = "top_k_accuracy", **names: Any) -> None:
        if top_k < 2:
            raise ValueError(f"TopKAccuracy: top_k must be at least 2 (Accuracy is for 1), got {top_k}")
        super().__init__(f"{name}_{top_k}", **names)
        self.top_k = top_k

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """How many are among them."""
        best = npx.topk(pred, min(self.top_k, pred.shape[-1]))
        wanted = _sized("TopKAccuracy", label, best[..., 0]).astype("int64")
        return [(best == wanted[..., None]).sum()], label.size


class _Confusion(EvalMetric):
    """Metrics of right and wrong positives and negatives. pred: class numbers, or scores of classes 0 and 1."""

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """True positives, false positives, false negatives, true negatives."""
        label, pred = _classes(type(self).__name__, label, pred)
        is_one, said_one = label == 1, pred == 1
        kinds = [is_one & said_one, ~is_one & said_one, is_one & ~said_one, ~is_one & ~said_one]
        return [kind.sum() for kind in kinds], label.size


class F1(_Confusion):
    """2 p r / (p + r), with precision p and recall r over all batches, of classes 0 and 1; 0 where neither is.

    average: "micro" only, which is over all examples; NotImplementedError for a mean over batches.

    >>> from forerun import np
    >>> f1 = F1()
    >>> f1.update(np.array([1, 1, 0, 0]), np.array([1, 1, 1, 0]))
    >>> f1.get()
    ('f1', 0.8)
    """

    def __init__(self, name: str = "f1", average: str = "micro", **names: Any) -> None:
        if average != "micro":
            raise NotImplementedError(f'F1: average must be "micro", got {average!r}')
        super().__init__(name, **names)

    def value(self, sums: list[float], n: float) -> float:
        """Of the four counts."""
        tp, fp, fn, _ = sums
        return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


class MCC(_Confusion):
    """Matthews' correlation of labels and predictions of two classes; 0 where it is not defined."""

    def __init__(self, name: str = "mcc", **names: Any) -> None:
        super().__init__(name, **names)

    def value(self, sums: list[float], n: float) -> float:
        """Of the four counts."""
        tp, fp, fn, tn = sums
        below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return (tp * tn - fp * fn) / math.sqrt(below) if below else 0.0


class MAE(EvalMetric):
    """The mean absolute error."""

    def __init__(self, name: str = "mae", **names: Any) -> None:
        super().__init__(name, **names)

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """The sum of absolute errors."""
        return [np.abs(_sized("MAE", label, pred) - pred).astype("float64").sum()], pred.size


class MSE(EvalMetric):
    """The mean squared error."""

    def __init__(self, name: str = "mse", **names: Any) -> None:
        super().__init__(name, **names)

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """The sum of squared errors."""
        return [np.square((_sized("MSE", label, pred) - pred).astype("float64")).sum()], pred.size


class RMSE(MSE):
    """The root of the mean squared error over all examples.

    >>> from forerun import np
    >>> rmse = RMSE()
    >>> rmse.update(np.zeros(2), np.array([3.0, -3.0]))
    >>> rmse.get()
    ('rmse', 3.0)
    """

    def __init__(self, name: str = "rmse", **names: Any) -> None:
        super().__init__(name, **names)

    def value(self, sums: list[float], n: float) -> float:
        """The root."""
        return math.sqrt(sums[0] / n)


class CrossEntropy(EvalMetric):
    """The mean of -log(pred + eps) at the labels, where pred (..., classes) holds probabilities.

    ignore_label: examples with this label do not count. IndexError, when the metric is read, for a label out of range.
    """

    def __init__(
        self, eps: float = 1e-12, ignore_label: int | None = None, axis: int = -1, name: str = "cross-entropy",
        **names: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, **names)
        self.eps, self.ignore_label, self.axis = eps, ignore_label, axis

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """The sum over the examples, and their number."""
        pred = np.moveaxis(pred, self.axis, -1).astype("float64")
        wanted = _sized(type(self).__name__, label, pred[..., 0]).astype("int64")
        if self.ignore_label is None:
            return [-np.log(npx.pick(pred, wanted) + self.eps).sum()], wanted.size
        counts = wanted != self.ignore_label
        p = npx.pick(pred, np.where(counts, wanted, 0))
        return [-np.where(counts, np.log(p + self.eps), 0.0).sum()], counts.sum()


class NegativeLogLikelihood(CrossEntropy):
    """The mean of -log(pred + eps) at the labels: CrossEntropy under its other name.

    >>> from forerun import np
    >>> nll = NegativeLogLikelihood()
    >>> nll.update(np.array([0, 2]), np.array([[0.3, 0.6, 0.1], [0.2, 0.3, 0.5]]))
    >>> name, value = nll.get()
    >>> name, round(value, 4)
    ('nll-loss', 0.9486)
    """

    def __init__(self, eps: float = 1e-12, name: str = "nll-loss", **names: Any) -> None:
        super().__init__(eps, name=name, **names)


class Perplexity(CrossEntropy):
    """exp of the cross entropy: as many classes as would be equally likely."""

    def __init__(
        self, ignore_label: int | None = None, axis: int = -1, name: str = "perplexity", **names: Any
    ) -> None:
        super().__init__(1e-10, ignore_label, axis, name, **names)

    def value(self, sums: list[float], n: float) -> float:
        """The exponential."""
        return math.exp(sums[0] / n)


class PearsonCorrelation(EvalMetric):
    """The linear correlation of labels and predictions over all batches; NaN where either does not vary."""

    def __init__(self, name: str = "pearsonr", **names: Any) -> None:
        super().__init__(name, **names)

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """The sums of both, their squares, and their product."""
        x, y = _sized("PearsonCorrelation", label, pred).astype("float64"), pred.astype("float64")
        return [x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()], pred.size

    def value(self, sums: list[float], n: float) -> float:
        """The covariance over the root of the variances."""
        x, y, xx, yy, xy = (s / n for s in sums)
        below = math.sqrt(max(xx - x * x, 0.0) * max(yy - y * y, 0.0))
        return (xy - x * y) / below if below else math.nan


class Loss(EvalMetric):
    """The mean of the predictions themselves, which are losses; labels do not matter.

    >>> from forerun import np
    >>> loss = Loss()
    >>> loss.update(None, np.array([1.0, 2.0]))
    >>> loss.get()
    ('loss', 1.5)
    """

    def __init__(self, name: str = "loss", **names: Any) -> None:
        super().__init__(name, **names)

    def update(self, labels: Any, preds: Any) -> None:
        """Takes a batch into account. Does not wait."""
        super().update(preds, preds)

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """The sum."""
        return [pred.astype("float64").sum()], pred.size


class CustomMetric(EvalMetric):
    """The mean over batches of `feval(label, pred)`, which gets NumPy arrays: `update` waits here.

    feval may return (sum, number) instead.

    >>> from forerun import np
    >>> most = CustomMetric(lambda label, pred: abs(label - pred).max(), name="most")
    >>> most.update(np.zeros(2), np.array([1.0, -3.0]))
    >>> most.get()
    ('most', 3.0)
    """

    def __init__(self, feval: Callable[[Any, Any], Any], name: str | None = None, **names: Any) -> None:
        super().__init__(name if name is not None else f"custom({feval.__name__})", **names)
        self._feval = feval

    def batch(self, label: Any, pred: Any) -> tuple[list[Any], Any]:
        """What the function returned."""
        found = self._feval(label.asnumpy(), pred.asnumpy())
        total, n = found if isinstance(found, tuple) else (found, 1)
        return [numpy.float64(total)], n


class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same labels and predictions.

    >>> from forerun import np
    >>> both = CompositeEvalMetric(["mae", "rmse"])
    >>> both.update(np.zeros(2), np.array([3.0, -3.0]))
    >>> both.get()
    (['mae', 'rmse'], [3.0, 3.0])
    """

    def __init__(self, metrics: Sequence[Any] = (), name: str = "composite", **names: Any) -> None:
        self.metrics = [create(metric) for metric in metrics]
        super().__init__(name, **names)

    def add(self, metric: Any) -> None:
        """One more metric, or its name."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """The metric of that number. IndexError if there is none."""
        return self.metrics[index]

    def reset(self) -> None:
        """Forgets all batches."""
        for metric in self.metrics:
            metric.reset()

    def update(self, labels: Any, preds: Any) -> None:
        """Takes a batch into account. Does not wait."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def get(self) -> tuple[Any, Any]:
        """The names and the values. Waits."""
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        return [name for name, _ in pairs], [value for _, value in pairs]


_by_name: dict[str, Callable[..., EvalMetric]] = {
    "acc": Accuracy, "accuracy": Accuracy, "binary_accuracy": BinaryAccuracy, "top_k_accuracy": TopKAccuracy,
    "topkaccuracy": TopKAccuracy, "f1": F1, "mcc": MCC, "mae": MAE, "mse": MSE, "rmse": RMSE,
    "ce": CrossEntropy, "cross-entropy": CrossEntropy, "crossentropy": CrossEntropy,
    "nll_loss": NegativeLogLikelihood, "negativeloglikelihood": NegativeLogLikelihood, "perplexity": Perplexity,
    "pearsonr": PearsonCorrelation, "pearsoncorrelation": PearsonCorrelation, "loss": Loss,
}  # fmt: skip


def create(metric: Any, *args: Any, **settings: Any) -> EvalMetric:
    """The metric meant by a name, an object, a function of NumPy arrays, or a list of them.

    Raises ValueError for an unknown name, TypeError for anything else.

    >>> create("rmse")
    RMSE({'rmse': nan})
    """
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric(metric)
    if isinstance(metric, str):
        if metric.lower() not in _by_name:
            raise ValueError(f"metric: name must be one of {', '.join(_by_name)}, got {metric!r}")
        return _by_name[metric.lower()](*args, **settings)
    if callable(metric):
        return CustomMetric(metric, *args, **settings)
    raise TypeError(f"metric: must be a name, a metric, a function or a list, got {type(metric).__name__}")
