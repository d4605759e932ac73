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
    function: Callable[..., Any]

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, x: Array, target: Array) -> Any:
        """Return the loss of predictions x: a number, or one per element for "none"."""
        return self.function(x, target, self.reduction)


class CrossEntropyLoss(_Loss):
    """-log(softmax(x)) at the target class, or its sum weighted with a target distribution.

    >>> from forerun import torch
    >>> loss = CrossEntropyLoss()
    >>> round(loss(torch.zeros(2, 4), torch.tensor([1, 2])).item(), 4)
    1.3863
    """

    function = staticmethod(functional.cross_entropy)


class NLLLoss(_Loss):
    """Minus the log probability of the target class."""

    function = staticmethod(functional.nll_loss)


class MSELoss(_Loss):
    """The squared error.

    >>> from forerun import torch
    >>> MSELoss(reduction="sum")(torch.zeros(3), torch.ones(3)).item()
    3.0
    """

    function = staticmethod(functional.mse_loss)


class L1Loss(_Loss):
    """The absolute error."""

    function = staticmethod(functional.l1_loss)


class SmoothL1Loss(_Loss):
    """Half the squared error where it is below 1, the absolute error less a half elsewhere."""

    function = staticmethod(functional.smooth_l1_loss)


class BCEWithLogitsLoss(_Loss):
    """The cross entropy of yes and no, where x is the logarithm of the odds."""

    function = staticmethod(functional.binary_cross_entropy_with_logits)
