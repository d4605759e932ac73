"""Losses as modules. reduction: "mean" (the default), "sum" or "none"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import functional
from .module import Module

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["CrossEntropyLoss", "NLLLoss", "MSELoss", "L1Loss", "SmoothL1Loss", "BCEWithLogitsLoss"]


class _Loss(Module):
    _function: Callable[..., Any]

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, x: Array, target: Array) -> Any:
        """Return the loss of predictions x: a number, or one per element for "none"."""
        return self._function(x, target, self.reduction)


class CrossEntropyLoss(_Loss):
    """`-log(softmax(x))` at the target class, or its sum weighted with a target distribution.

    Predictions are scores (batch, classes, ...); targets are class numbers (batch, ...), or distributions in the shape
    of the predictions.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        Whether the loss is the mean or the sum of those of the elements, or a tensor of them.

    Raises
    ------
    ValueError
        When called, for another reduction.

    Examples
    --------
    >>> from forerun import torch
    >>> loss = CrossEntropyLoss()
    >>> round(loss(torch.zeros(2, 4), torch.tensor([1, 2])).item(), 4)
    1.3863
    """

    _function = staticmethod(functional.cross_entropy)


class NLLLoss(_Loss):
    """Minus the log probability of the target class.

    Predictions are log probabilities (batch, classes, ...), and targets class numbers (batch, ...).

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        Whether the loss is the mean or the sum of those of the elements, or a tensor of them.

    Raises
    ------
    ValueError
        When called, for another reduction.

    Examples
    --------
    >>> from forerun import torch
    >>> log_probabilities = torch.log(torch.tensor([[0.25, 0.75], [0.5, 0.5]]))
    >>> NLLLoss(reduction="sum")(log_probabilities, torch.tensor([0, 1])).exp().item()  # 1 / (0.25 * 0.5)
    8.0
    """

    _function = staticmethod(functional.nll_loss)


class MSELoss(_Loss):
    """The square of the difference between predictions and targets of the same shape.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        Whether the loss is the mean or the sum of those of the elements, or a tensor of them.

    Raises
    ------
    ValueError
        When called, for another reduction, and for targets of another shape than the predictions.

    Examples
    --------
    >>> from forerun import torch
    >>> MSELoss(reduction="sum")(torch.zeros(3), torch.ones(3)).item()
    3.0
    """

    _function = staticmethod(functional.mse_loss)


class L1Loss(_Loss):
    """The absolute difference between predictions and targets of the same shape.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        Whether the loss is the mean or the sum of those of the elements, or a tensor of them.

    Raises
    ------
    ValueError
        When called, for another reduction, and for targets of another shape than the predictions.

    Examples
    --------
    >>> from forerun import torch
    >>> L1Loss()(torch.zeros(2), torch.tensor([1.0, -3.0])).item()
    2.0
    """

    _function = staticmethod(functional.l1_loss)


class SmoothL1Loss(_Loss):
    """Half the squared difference where that is below 1, the absolute difference less a half elsewhere.

    Predictions and targets have the same shape.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        Whether the loss is the mean or the sum of those of the elements, or a tensor of them.

    Raises
    ------
    ValueError
        When called, for another reduction, and for targets of another shape than the predictions.

    Examples
    --------
    >>> from forerun import torch
    >>> SmoothL1Loss(reduction="none")(torch.zeros(2), torch.tensor([0.5, -3.0])).tolist()
    [0.125, 2.5]
    """

    _function = staticmethod(functional.smooth_l1_loss)


class BCEWithLogitsLoss(_Loss):
    """The cross entropy of two classes: -target * log(p) - (1 - target) * log(1 - p), where p = sigmoid(x).

    Predictions are logarithms of the odds, and targets probabilities of the same shape.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        Whether the loss is the mean or the sum of those of the elements, or a tensor of them.

    Raises
    ------
    ValueError
        When called, for another reduction, and for targets of another shape than the predictions.

    Examples
    --------
    >>> from forerun import torch
    >>> round(BCEWithLogitsLoss()(torch.zeros(2), torch.tensor([0.0, 1.0])).item(), 4)
    0.6931
    """

    _function = staticmethod(functional.binary_cross_entropy_with_logits)
