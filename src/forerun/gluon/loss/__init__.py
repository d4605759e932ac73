"""Losses: one number per example, the mean over all its axes.

Every loss is called as `loss(pred, label)`, or with a third array, the examples' weights, which must broadcast with
the weighted values. The result has shape (batch,). The constant factor `weight` scales it.
"""

from __future__ import annotations

from ..._display.namespaces import dir_of
from .base import Loss
from .classification import CTCLoss, KLDivLoss, SigmoidBinaryCrossEntropyLoss, SoftmaxCrossEntropyLoss
from .margins import HingeLoss, LogisticLoss, SquaredHingeLoss
from .pairs import CosineEmbeddingLoss, SDMLLoss, TripletLoss
from .regression import HuberLoss, L1Loss, L2Loss, PoissonNLLLoss

__all__ = [
    "Loss", "L1Loss", "L2Loss", "HuberLoss", "HingeLoss", "SquaredHingeLoss", "LogisticLoss",
    "SoftmaxCrossEntropyLoss", "SoftmaxCELoss", "SigmoidBinaryCrossEntropyLoss", "SigmoidBCELoss", "KLDivLoss",
    "CTCLoss", "PoissonNLLLoss", "TripletLoss", "CosineEmbeddingLoss", "SDMLLoss",
]  # fmt: skip
__dir__ = dir_of(__name__)

SoftmaxCELoss = SoftmaxCrossEntropyLoss
SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
