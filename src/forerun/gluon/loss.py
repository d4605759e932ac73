"""Losses: one number per example, the mean over all its axes.

Every loss is called as `loss(pred, label)`, or with a third array, the examples' weights, which must broadcast with
the weighted values. The result has shape (batch,). The constant factor `weight` scales it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .. import np, npx
from ..ops._base.convert import asarrays
from .block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ..typing import Array

__all__ = [
    "Loss", "L1Loss", "L2Loss", "HuberLoss", "HingeLoss", "SquaredHingeLoss", "LogisticLoss",
    "SoftmaxCrossEntropyLoss", "SoftmaxCELoss", "SigmoidBinaryCrossEntropyLoss", "SigmoidBCELoss", "KLDivLoss",
    "CTCLoss", "PoissonNLLLoss", "TripletLoss", "CosineEmbeddingLoss", "SDMLLoss",
]  # fmt: skip


class Loss(HybridBlock):
    """The base class of losses: a constant weight, and the batch axis. Subclasses define `elements`.

    >>> from forerun import np
    >>> class Squares(Loss):
    ...     def elements(self, pred, label):
    ...         return (pred - label) ** 2
    >>> Squares(weight=0.5)(np.ones((2, 3)), np.zeros((2, 3))).tolist()
    [0.5, 0.5]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__()
        self._weight = 1.0 if weight is None else weight
        self._batch_axis = batch_axis

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the loss of each element, before weights and the mean."""
        raise NotImplementedError(f"{type(self).__name__}: elements must be defined, got none")

    def forward(self, pred: Array, label: Array, sample_weight: Array | None = None) -> Array:
        """Return the loss of each example, shape (batch,). Raises ValueError where shapes do not fit."""
        return self.averaged(self.elements(*asarrays(pred, label)), sample_weight)

    def averaged(self, loss: Array, sample_weight: Array | None = None) -> Array:
        """Return the losses of elements, weighted, as a mean per example."""
        if sample_weight is not None:
            loss = loss * sample_weight
        batch = self._batch_axis % loss.ndim
        if loss.size != loss.shape[batch]:
            loss = loss.mean(axis=tuple(i for i in range(loss.ndim) if i != batch))
        elif loss.ndim > 1:
            loss = loss.reshape(-1)
        return loss if self._weight == 1 else loss * self._weight

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"


def _like(name: str, label: Array, pred: Array) -> Array:
    """Return the label in pred's shape; ValueError if it has another number of elements."""
    if label.size != pred.size:
        raise ValueError(f"{name}: label must have as many elements as pred, got {label.shape} for {pred.shape}")
    return label if label.shape == pred.shape else label.reshape(pred.shape)


class L2Loss(Loss):
    """Half the squared error: (label - pred)**2 / 2.

    >>> from forerun import np
    >>> L2Loss()(np.array([[1.0], [2.0]]), np.array([3.0, 2.0])).tolist()
    [2.0, 0.0]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__((1.0 if weight is None else weight) / 2, batch_axis)

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the squared error; half of it is in the weight."""
        return np.square(_like("L2Loss", label, pred) - pred)


class L1Loss(Loss):
    """The absolute error: |label - pred|.

    >>> from forerun import np
    >>> L1Loss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.5, 3.0]
    """

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the absolute error."""
        return np.abs(_like("L1Loss", label, pred) - pred)


class HuberLoss(Loss):
    """The Huber loss: error**2 / (2 rho) where the absolute error is at most rho, and |error| - rho / 2 elsewhere.

    >>> from forerun import np
    >>> HuberLoss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.125, 2.5]
    """

    def __init__(self, rho: float = 1.0, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        if rho <= 0:
            raise ValueError(f"HuberLoss: rho must be positive, got {rho}")
        self._rho = rho

    def elements(self, pred: Array, label: Array) -> Array:
        """Quadratic near 0, linear further away."""
        error = np.abs(_like("HuberLoss", label, pred) - pred)
        return np.where(error > self._rho, error - self._rho / 2, np.square(error) * (0.5 / self._rho))


class HingeLoss(Loss):
    """The hinge loss: max(0, margin - pred * label), for labels -1 and 1.

    >>> from forerun import np
    >>> HingeLoss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.5, 3.0]
    """

    def __init__(self, margin: float = 1.0, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the distance of the prediction from the margin's right side."""
        return npx.relu(self._margin - pred * _like("HingeLoss", label, pred))


class SquaredHingeLoss(HingeLoss):
    """The squared hinge loss: max(0, margin - pred * label)**2, for labels -1 and 1.

    >>> from forerun import np
    >>> SquaredHingeLoss()(np.array([[0.5], [2.0]]), np.array([1.0, -1.0])).tolist()
    [0.25, 9.0]
    """

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the square of what the hinge loss is."""
        return np.square(super().elements(pred, label))


class LogisticLoss(Loss):
    """The logistic loss: log(1 + exp(-pred * label)), for labels -1 and 1.

    label_format: "binary" for labels 0 and 1.

    ValueError for another format.

    >>> from forerun import np
    >>> LogisticLoss(label_format="binary")(np.zeros((1, 1)), np.ones((1, 1))).round(3).tolist()
    [0.6930000185966492]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, label_format: str = "signed") -> None:
        super().__init__(weight, batch_axis)
        if label_format not in ("signed", "binary"):
            raise ValueError(f'LogisticLoss: label_format must be "signed" or "binary", got {label_format!r}')
        self._signed = label_format == "signed"

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the loss of each element."""
        label = _like("LogisticLoss", label, pred)
        return np.logaddexp(pred, 0) - pred * ((label + 1) / 2 if self._signed else label)


class SoftmaxCrossEntropyLoss(Loss):
    """-log(softmax(pred)) at the label; for labels that are distributions, its sum weighted by them.

    axis: the one of classes. sparse_label: labels are class numbers, in pred's shape without that axis; otherwise
    distributions in pred's shape. from_logits: pred holds log probabilities already.

    >>> from forerun import np
    >>> loss = SoftmaxCrossEntropyLoss()(np.zeros((2, 4)), np.array([0, 3]))
    >>> (loss * 1000).astype("int32").tolist()  # log 4 = 1.386
    [1386, 1386]
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = 1.0,
        batch_axis: int = 0,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the cross entropy, with extent 1 along the axis of classes."""
        if self._sparse_label:
            try:
                return self._of_classes(pred, label)
            except ValueError:
                wanted = f"label must have pred's shape without axis {self._axis}"
                raise ValueError(
                    f"{type(self).__name__}: {wanted}, got label {label.shape} for pred {pred.shape}; for labels that "
                    "are distributions, pass sparse_label=False"
                ) from None
        log_p = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        return -(log_p * _like("SoftmaxCrossEntropyLoss", label, pred)).sum(axis=self._axis, keepdims=True)

    def _of_classes(self, pred: Array, label: Array) -> Array:
        """Return the cross entropy for labels that are class numbers."""
        if self._from_logits:
            return -npx.pick(pred, label, axis=self._axis, keepdims=True)
        return npx.cross_entropy(pred, label, axis=self._axis, keepdims=True)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """-label * log(p) - (1 - label) * log(1 - p), where p = sigmoid(pred), computed without overflow.

    from_sigmoid: pred holds probabilities already. Called with a fourth array, pos_weight, the first term is multiplied
    by it: above 1 a false negative costs more than a false positive.

    >>> from forerun import np
    >>> x, label = np.zeros((1, 1)), np.ones((1, 1))
    >>> loss = SigmoidBinaryCrossEntropyLoss()
    >>> (loss(x, label, None, np.array([2.0])) / loss(x, label)).tolist()
    [2.0]
    """

    def __init__(self, from_sigmoid: bool = False, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._from_sigmoid = from_sigmoid

    def forward(
        self, pred: Array, label: Array, sample_weight: Array | None = None, pos_weight: Array | None = None
    ) -> Array:
        """Return the loss of each example, shape (batch,). Raises ValueError where shapes do not fit."""
        return self.averaged(self.elements(pred, label, pos_weight), sample_weight)

    def elements(self, pred: Array, label: Array, pos_weight: Array | None = None) -> Array:
        """Return the cross entropy of each element."""
        label = _like("SigmoidBinaryCrossEntropyLoss", label, pred)
        factor = 1 if pos_weight is None else pos_weight
        if self._from_sigmoid:
            return -(np.log(pred + 1e-12) * label * factor + np.log(1 - pred + 1e-12) * (1 - label))
        if pos_weight is None:
            return np.logaddexp(pred, 0) - pred * label
        return pred * (1 - label) + (1 + (pos_weight - 1) * label) * np.logaddexp(-pred, 0)


class KLDivLoss(Loss):
    """The divergence of pred from the distribution `label`: label * (log(label) - log(pred)), 0 where label is 0.

    from_logits: pred holds log probabilities already; otherwise their softmax along `axis` is taken first.

    >>> from forerun import np
    >>> KLDivLoss(from_logits=False)(np.zeros((1, 2)), np.array([[0.5, 0.5]])).tolist()
    [0.0]
    """

    def __init__(
        self, from_logits: bool = True, axis: int = -1, weight: float | None = 1.0, batch_axis: int = 0
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits = from_logits
        self._axis = axis

    def elements(self, pred: Array, label: Array) -> Array:
        """Return the divergence's terms."""
        log_p = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        return label * (np.log(label + 1e-12) - log_p)


class CTCLoss(Loss):
    """Connectionist temporal classification: see `npx.ctc_loss`; the blank class is the last one.

    Called as loss(pred, label), with pred (batch, steps, classes), before the softmax, and label (batch, labels) filled
    up with -1; layout "TNC" and label_layout "TN" for steps first. After these may come pred_lengths and label_lengths,
    of shape (batch,), and weights. ValueError for other layouts and shapes.

    >>> from forerun import np
    >>> CTCLoss()(np.zeros((1, 2, 2)), np.array([[0, -1]])).round(3)  # of four equal ways, three say 0
    array([0.288])
    """

    def __init__(self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None) -> None:
        super().__init__(weight)
        if layout not in ("NTC", "TNC") or label_layout not in ("NT", "TN"):
            wanted = '"NTC" or "TNC", and "NT" or "TN"'
            raise ValueError(f"CTCLoss: layouts must be {wanted}, got {layout!r} and {label_layout!r}")
        self._layout, self._label_layout = layout, label_layout

    def forward(  # type: ignore[override]
        self, pred: Array, label: Array, pred_lengths: Array | None = None, label_lengths: Array | None = None,
        sample_weight: Array | None = None,
    ) -> Array:  # fmt: skip
        """Return the loss of each example, shape (batch,)."""
        loss = npx.ctc_loss(
            np.swapaxes(pred, 0, 1) if self._layout == "NTC" and pred.ndim == 3 else pred,
            np.swapaxes(label, 0, 1) if self._label_layout == "TN" else label,
            pred_lengths, label_lengths, pred_lengths is not None, label_lengths is not None, "last",
        )  # fmt: skip
        return self.averaged(loss, sample_weight)


class PoissonNLLLoss(Loss):
    """-log p(label) of the Poisson distribution with mean exp(pred), without the terms that depend on the label alone.

    from_logits: otherwise pred is the mean itself. compute_full: adds log(label!) by Stirling's formula, for labels
    above 1. The result is the mean over all elements, of shape (), as in MXNet.

    >>> from forerun import np
    >>> PoissonNLLLoss()(np.zeros((2, 3)), np.ones((2, 3))).item()
    1.0
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits, self._full = from_logits, compute_full

    def forward(self, pred: Array, label: Array, sample_weight: Array | None = None, epsilon: float = 1e-8) -> Array:
        """Return the mean of all losses. epsilon: added to pred inside the logarithm.

        ValueError where shapes do not fit.
        """
        label = _like("PoissonNLLLoss", label, pred)
        loss = np.exp(pred) - label * pred if self._from_logits else pred - label * np.log(pred + epsilon)
        if self._full:
            above = np.maximum(label, 1)
            stirling = above * np.log(above) - above + 0.5 * np.log(2 * math.pi * above)
            loss = loss + np.where(label > 1, stirling, 0)
        return (loss if sample_weight is None else loss * sample_weight).mean() * self._weight


class TripletLoss(Loss):
    """The triplet loss of an example, one like it, and one unlike it.

    It is max(0, margin + |pred - positive|**2 - |pred - negative|**2).

    Called as loss(pred, positive, negative), three arrays of one shape (ValueError if not), or with weights of shape
    (batch,) (Schroff et al. 2015).

    >>> from forerun import np
    >>> TripletLoss()(np.zeros((1, 2)), np.ones((1, 2)), np.zeros((1, 2))).tolist()
    [3.0]
    """

    def __init__(self, margin: float = 1, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def forward(self, pred: Array, positive: Array, negative: Array, sample_weight: Array | None = None) -> Array:  # type: ignore[override]
        """Return the loss of each example, shape (batch,)."""
        near = np.square(_like("TripletLoss", positive, pred) - pred)
        far = np.square(_like("TripletLoss", negative, pred) - pred)
        others = tuple(i for i in range(pred.ndim) if i != self._batch_axis % pred.ndim)
        return self.averaged(npx.relu((near - far).sum(axis=others) + self._margin), sample_weight)


class CosineEmbeddingLoss(Loss):
    """The cosine loss: 1 - cos(a, b) for label 1, max(0, cos(a, b) - margin) for label -1.

    The cosine is that of vectors along the last axis.

    Called as loss(a, b, label), with label (batch,), or with weights too.

    >>> from forerun import np
    >>> a, b = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> CosineEmbeddingLoss()(a, b, np.array([1, -1])).tolist()
    [0.0, 1.0]
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def forward(self, pred: Array, other: Array, label: Array, sample_weight: Array | None = None) -> Array:  # type: ignore[override]
        """Return the loss of each example, shape (batch,). ValueError where shapes do not fit."""
        other = _like("CosineEmbeddingLoss", other, pred)
        norms = np.sqrt(np.square(pred).sum(-1)) * np.sqrt(np.square(other).sum(-1))
        cos = (pred * other).sum(-1) / np.maximum(norms, 1e-12)
        is_same = _like("CosineEmbeddingLoss", label, cos) == 1
        return self.averaged(np.where(is_same, 1 - cos, npx.relu(cos - self._margin)), sample_weight)


class SDMLLoss(Loss):
    """Batches of pairs: row i of a belongs to row i of b, and to no other (Bonadiman et al. 2019).

    The divergence of softmax(-|a_i - b_j|**2 over j) from a distribution with 1 - smoothing_parameter at i and equal
    probabilities elsewhere.
    Called as loss(a, b), of shape (batch, features) both, ValueError if not, or if there are fewer than two rows.

    >>> from forerun import np
    >>> loss = SDMLLoss(smoothing_parameter=0.5)
    >>> loss(np.zeros((2, 3)), np.zeros((2, 3))).round(6).tolist()
    [0.0, 0.0]
    """

    def __init__(self, smoothing_parameter: float = 0.3, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._smoothing = smoothing_parameter

    def forward(self, a: Array, b: Array) -> Array:  # type: ignore[override]
        """Return the loss of each pair, shape (batch,)."""
        if a.shape != b.shape or a.ndim != 2 or a.shape[0] < 2:
            raise ValueError(
                f"SDMLLoss: shapes must be the same, (batch, features), batch > 1, got {a.shape} and {b.shape}"
            )
        n = a.shape[0]
        distances = np.square(a[:, None] - b[None]).sum(-1)
        rest = self._smoothing / (n - 1)
        labels = np.eye(n, dtype=a.dtype, device=a.device) * (1 - self._smoothing - rest) + rest
        log_p = npx.log_softmax(-distances, axis=1)
        return (labels * (np.log(labels + 1e-12) - log_p)).sum(1) * self._weight


SoftmaxCELoss = SoftmaxCrossEntropyLoss
SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
