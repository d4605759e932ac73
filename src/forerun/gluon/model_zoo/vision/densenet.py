"""DenseNet: Huang et al. 2016."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from ... import nn
from ...block.block import Block
from ...parameter.parameter import Devices
from ..store import NetSettings, Pretrained, Root, Settings, finished
from .parts import Classifier, row

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]

# Channels of the first layer, how many each layer adds, and how many layers each stage has.
_SETTINGS = {
    121: (64, 32, [6, 12, 24, 16]), 161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]), 201: (64, 32, [6, 12, 48, 32]),
}  # fmt: skip


def _conv(channels: int, kernel: int) -> list[Block]:
    """Norm and relu come before the convolution."""
    conv = nn.Conv2D(channels, kernel, padding=kernel // 2, use_bias=False)
    return [nn.BatchNorm(), nn.Activation("relu"), conv]


def _layer(growth: int, bn_size: int, dropout: float) -> Block:
    """Return x, and beside it `growth` channels that are made of it."""
    after: list[Block] = [nn.Dropout(dropout)] if dropout else []
    both = nn.HybridConcatenate(axis=1)
    both.add(nn.Identity(), row(*_conv(bn_size * growth, 1), *_conv(growth, 3), *after))
    return both


class DenseNet(Classifier):
    """DenseNet: each layer sees the results of all layers before it in its stage (Huang et al. 2016).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    num_init_features : int
        The number of channels of the first layer.
    growth_rate : int
        The number of channels that each layer adds.
    block_config : sequence of int
        The number of layers of each stage.
    bn_size : int, optional
        How many times `growth_rate` the channels are inside a layer.
    dropout : float, optional
        The share of the channels that a layer adds that is dropped while training.
    classes : int, optional
        The number of scores.

    Examples
    --------
    >>> len(DenseNet(8, 4, [2, 2], classes=10).features)
    11
    """

    def __init__(
        self, num_init_features: int, growth_rate: int, block_config: Sequence[int], bn_size: int = 4,
        dropout: float = 0, classes: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__()
        n = num_init_features
        self.features.add(nn.Conv2D(n, 7, 2, 3, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
        self.features.add(nn.MaxPool2D(3, 2, 1))
        for i, count in enumerate(block_config):
            if i:
                n //= 2
                self.features.add(row(*_conv(n, 1), nn.AvgPool2D(2, 2)))
            self.features.add(row(*[_layer(growth_rate, bn_size, dropout) for _ in range(count)]))
            n += count * growth_rate
        self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(7), nn.Flatten())
        self.output = nn.Dense(classes)


def _densenet(
    layers: int, pretrained: Pretrained = False, ctx: Devices = None, root: Root = None, device: Devices = None,
    **settings: Unpack[NetSettings],
) -> DenseNet:  # fmt: skip
    return finished(DenseNet(*_SETTINGS[layers], **settings), f"densenet{layers}", pretrained, ctx, root, device)


def densenet121(**settings: Unpack[Settings]) -> DenseNet:
    """Return DenseNet-121.

    Parameters
    ----------
    **settings : optional
        `pretrained`, `ctx`, `root` and `device` of `get_model`; `bn_size`, `dropout` and `classes` of `DenseNet`.

    Returns
    -------
    DenseNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> densenet121(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return _densenet(121, **settings)


def densenet161(**settings: Unpack[Settings]) -> DenseNet:
    """Return DenseNet-161.

    Parameters
    ----------
    **settings : optional
        `pretrained`, `ctx`, `root` and `device` of `get_model`; `bn_size`, `dropout` and `classes` of `DenseNet`.

    Returns
    -------
    DenseNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> densenet161(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return _densenet(161, **settings)


def densenet169(**settings: Unpack[Settings]) -> DenseNet:
    """Return DenseNet-169.

    Parameters
    ----------
    **settings : optional
        `pretrained`, `ctx`, `root` and `device` of `get_model`; `bn_size`, `dropout` and `classes` of `DenseNet`.

    Returns
    -------
    DenseNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> densenet169(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return _densenet(169, **settings)


def densenet201(**settings: Unpack[Settings]) -> DenseNet:
    """Return DenseNet-201.

    Parameters
    ----------
    **settings : optional
        `pretrained`, `ctx`, `root` and `device` of `get_model`; `bn_size`, `dropout` and `classes` of `DenseNet`.

    Returns
    -------
    DenseNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> densenet201(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return _densenet(201, **settings)
