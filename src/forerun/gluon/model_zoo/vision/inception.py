"""Inception v3: Szegedy et al. 2015."""

from __future__ import annotations

from typing import Unpack

from ... import nn
from ...block.block import Block
from ...parameter.parameter import Devices
from ..store import NetSettings, Pretrained, Root, finished
from .parts import Classifier, conv_norm, row

__all__ = ["Inception3", "inception_v3"]

Kernel = int | tuple[int, int]


def _conv(channels: int, kernel: Kernel, stride: int = 1, padded: bool = True) -> Block:
    """Convolution, norm and relu; padded: the extents stay, at stride 1."""
    each = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = (each[0] // 2, each[1] // 2) if padded else 0
    return row(*conv_norm(channels, kernel, stride, padding, epsilon=0.001))


def _side(*blocks: Block) -> Block:
    """Return a block that concatenates the results of blocks for the same data along the channels."""
    made = nn.HybridConcatenate(axis=1)
    made.add(*blocks)
    return made


def _shrink(channels: int) -> Block:
    return _conv(channels, 3, 2, padded=False)


def _mean(channels: int) -> Block:
    return row(nn.AvgPool2D(3, 1, 1), _conv(channels, 1))


def _a(pooled: int) -> Block:
    return _side(
        row(_conv(64, 1)),
        row(_conv(48, 1), _conv(64, 5)),
        row(_conv(64, 1), _conv(96, 3), _conv(96, 3)),
        _mean(pooled),
    )


def _b() -> Block:
    return _side(row(_shrink(384)), row(_conv(64, 1), _conv(96, 3), _shrink(96)), row(nn.MaxPool2D(3, 2)))


def _c(n: int) -> Block:
    wide, high = (1, 7), (7, 1)
    return _side(
        row(_conv(192, 1)),
        row(_conv(n, 1), _conv(n, wide), _conv(192, high)),
        row(_conv(n, 1), _conv(n, high), _conv(n, wide), _conv(n, high), _conv(192, wide)),
        _mean(192),
    )


def _d() -> Block:
    return _side(
        row(_conv(192, 1), _shrink(320)),
        row(_conv(192, 1), _conv(192, (1, 7)), _conv(192, (7, 1)), _shrink(192)),
        row(nn.MaxPool2D(3, 2)),
    )


def _e() -> Block:
    def both() -> Block:
        return _side(row(_conv(384, (1, 3))), row(_conv(384, (3, 1))))

    first, second = row(_conv(384, 1)), row(_conv(448, 1), _conv(384, 3))
    return _side(row(_conv(320, 1)), row(first, both()), row(second, both()), _mean(192))


class Inception3(Classifier):
    """Inception v3: branches of convolutions side by side, for images of 299 x 299 (Szegedy et al. 2015).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    classes : int, optional
        The number of scores.

    Examples
    --------
    >>> len(Inception3(classes=10).features)
    20
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.features.add(_shrink(32), _conv(32, 3, padded=False), _conv(64, 3), nn.MaxPool2D(3, 2))
        self.features.add(_conv(80, 1), _conv(192, 3, padded=False), nn.MaxPool2D(3, 2))
        self.features.add(_a(32), _a(64), _a(64), _b(), _c(128), _c(160), _c(160), _c(192), _d(), _e(), _e())
        self.features.add(nn.AvgPool2D(8), nn.Dropout(0.5))
        self.output = nn.Dense(classes)


def inception_v3(
    pretrained: Pretrained = False,
    ctx: Devices = None,
    root: Root = None,
    device: Devices = None,
    **settings: Unpack[NetSettings],
) -> Inception3:
    """Return Inception v3.

    Parameters
    ----------
    pretrained : bool, str or path, optional
        Whether parameters come from a file, or from which one, as for `get_model`.
    ctx : device or list of devices, optional
        Where parameters are, in the words of MXNet 1.x.
    root : path, optional
        The folder of the file; by default `models` in `$MXNET_HOME`, or `~/.mxnet/models`.
    device : device or list of devices, optional
        Where parameters are; the current device by default.
    classes : int, optional
        The number of scores; 1000 by default.

    Returns
    -------
    Inception3
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> inception_v3(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return finished(Inception3(**settings), "inceptionv3", pretrained, ctx, root, device)
