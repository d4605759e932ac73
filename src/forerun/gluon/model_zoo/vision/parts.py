"""Parts of networks for images: convolutions with norms, and rows of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .... import np
from ... import nn
from ...block.block import Block
from ...block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ....typing import Array

__all__ = ["Classifier", "ReLU6", "conv_norm", "row"]


class Classifier(HybridBlock):
    """`features`, and `output` of them. Subclasses fill both.

    >>> from forerun import np
    >>> net = Classifier()
    >>> net.features.add(nn.Flatten())
    >>> net.output = nn.Dense(2)
    >>> net.initialize()
    >>> net(np.ones((1, 3, 4, 4))).shape
    (1, 2)
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.HybridSequential()
        self.output: Block

    def forward(self, x: Array) -> Array:
        """Map images (batch, channels, height, width) to scores (batch, classes)."""
        scores: Array = self.output(self.features(x))
        return scores


class ReLU6(HybridBlock):
    """min(max(x, 0), 6)."""

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return np.clip(x, 0, 6)


def row(*blocks: Block) -> nn.HybridSequential:
    """Return blocks one after another."""
    made = nn.HybridSequential()
    made.add(*blocks)
    return made


def conv_norm(
    channels: int, kernel: int | tuple[int, ...] | list[int], stride: int = 1,
    padding: int | tuple[int, ...] | list[int] = 0, act: Block | str | None = "relu", epsilon: float = 1e-5,
    **settings: Any,
) -> list[Block]:  # fmt: skip
    """Return a convolution without bias, its batch norm, and an activation unless None."""
    settings.setdefault("use_bias", False)
    after: list[Block] = [nn.Activation(act) if isinstance(act, str) else act] if act is not None else []
    return [nn.Conv2D(channels, kernel, stride, padding, **settings), nn.BatchNorm(epsilon=epsilon), *after]
