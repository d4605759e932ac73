"""Losses: one number per example, the mean over all its axes.

Every loss is called as `loss(pred, label)`, or with a third array, the examples' weights, which must broadcast
with what is weighed. The result has shape (batch,). The constant factor `weight` scales it.
"""

from __future__ import annotations

from typing import Any

from .. import np, npx
from .hybrid import HybridBlock

__all__ = [
    "Loss", "L1Loss", "L2Loss", "HuberLoss", "HingeLoss", "SoftmaxCrossEntropyLoss", "SoftmaxCELoss",
    "SigmoidBinaryCrossEntropyLoss", "SigmoidBCELoss", "KLDivLoss",
]  # fmt: skip


class Loss(HybridBlock):
    """What losses have in common: a constant weight, and the batch axis. Subclasses define `elements`.

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

    def elements(self, pred: Any, label: Any) -> Any:
        """The loss of each element, before weights and the mean."""
        raise NotImplementedError(f"{type(self).__name__}: elements must be defined, got none")

    def forward(self, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """The loss of each example, shape (batch,). Raises ValueError where shapes do not fit."""
        loss = self.elements(pred, label)
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


def _like(name: str, label: Any, pred: Any) -> Any:
    """The label in pred's shape; ValueError if it has another number of elements."""
    if label.size != pred.size:
        raise ValueError(
            f"{name}: label must have as many elements as pred, got {label.shape} for {pred.shape}"
        )
    return label if label.shape == pred.shape else label.reshape(pred.shape)


class L2Loss(Loss):
    """Half the squared error: (label - pred)**2 / 2.

    >>> from forerun import np
    >>> L2Loss()(np.array([[1.0], [2.0]]), np.array([3.0, 2.0])).tolist()
    [2.0, 0.0]
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__((1.0 if weight is None else weight) / 2, batch_axis)

    def elements(self, pred: Any, label: Any) -> Any:
        """The squared error; half of it is in the weight."""
        return np.square(_like("L2Loss", label, pred) - pred)


class L1Loss(Loss):
    """The absolute error: |label - pred|."""

    def elements(self, pred: Any, label: Any) -> Any:
        """The absolute error."""
        return np.abs(_like("L1Loss", label, pred) - pred)


class HuberLoss(Loss):
    """error**2 / (2 rho) where the absolute error is at most rho, and |error| - rho / 2 elsewhere."""

    def __init__(self, rho: float = 1.0, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        if rho <= 0:
            raise ValueError(f"HuberLoss: rho must be positive, got {rho}")
        self._rho = rho

    def elements(self, pred: Any, label: Any) -> Any:
        """Quadratic near 0, linear further away."""
        error = np.abs(_like("HuberLoss", label, pred) - pred)
        return np.where(error > self._rho, error - self._rho / 2, np.square(error) * (0.5 / self._rho))


class HingeLoss(Loss):
    """max(0, margin - pred * label), for labels -1 and 1."""

    def __init__(self, margin: float = 1.0, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def elements(self, pred: Any, label: Any) -> Any:
        """How far the prediction is from the margin's right side."""
        return npx.relu(self._margin - pred * _like("HingeLoss", label, pred))


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

    def elements(self, pred: Any, label: Any) -> Any:
        """The cross entropy, with extent 1 along the axis of classes."""
        if self._sparse_label and not self._from_logits:
            return npx.cross_entropy(pred, label, axis=self._axis, keepdims=True)
        log_p = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            return -npx.pick(log_p, label, axis=self._axis, keepdims=True)
        return -(log_p * _like("SoftmaxCrossEntropyLoss", label, pred)).sum(axis=self._axis, keepdims=True)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """-label * log(p) - (1 - label) * log(1 - p), where p = sigmoid(pred), computed without overflow.

    from_sigmoid: pred holds probabilities already.
    """

    def __init__(self, from_sigmoid: bool = False, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._from_sigmoid = from_sigmoid

    def elements(self, pred: Any, label: Any) -> Any:
        """The cross entropy of each element."""
        label = _like("SigmoidBinaryCrossEntropyLoss", label, pred)
        if self._from_sigmoid:
            return -(np.log(pred + 1e-12) * label + np.log(1 - pred + 1e-12) * (1 - label))
        return np.logaddexp(pred, 0) - pred * label


class KLDivLoss(Loss):
    """label * (log(label) - log(pred)): the divergence of pred from the distribution `label`, 0 where label is 0.

    from_logits: pred holds log probabilities already; otherwise their softmax along `axis` is taken first.
    """

    def __init__(
        self, from_logits: bool = True, axis: int = -1, weight: float | None = 1.0, batch_axis: int = 0
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits = from_logits
        self._axis = axis

    def elements(self, pred: Any, label: Any) -> Any:
        """The divergence's terms."""
        log_p = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        return label * (np.log(label + 1e-12) - log_p)


SoftmaxCELoss = SoftmaxCrossEntropyLoss
SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
