"""SqueezeNet: Iandola et al. 2016."""

from __future__ import annotations

from typing import Unpack

from ... import nn
from ...block.block import Block
from ...parameter.parameter import Devices
from ..store import NetSettings, Pretrained, Root, finished
from .parts import Classifier, row

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

# Channels and kernel of the first convolution; then the narrow channels of each fire module, 0 for a pooling.
_VERSIONS = {
    "1.0": ((96, 7), [0, 16, 16, 32, 0, 32, 48, 48, 64, 0, 64]),
    "1.1": ((64, 3), [0, 16, 16, 0, 32, 32, 0, 48, 48, 64, 64]),
}


def _conv(channels: int, kernel: int, stride: int = 1, padding: int = 0) -> list[Block]:
    return [nn.Conv2D(channels, kernel, stride, padding), nn.Activation("relu")]


def _fire(narrow: int) -> Block:
    """Fewer channels, then four times as many by 1 x 1 and as many by 3 x 3."""
    wide = nn.HybridConcatenate(axis=1)
    wide.add(row(*_conv(4 * narrow, 1)), row(*_conv(4 * narrow, 3, 1, 1)))
    return row(row(*_conv(narrow, 1)), wide)


class SqueezeNet(Classifier):
    """SqueezeNet: fire modules, and a convolution whose mean over places is the score of a class (Iandola et al. 2016).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    version : {"1.0", "1.1"}
        The version; "1.1" computes less.
    classes : int, optional
        The number of scores.

    Raises
    ------
    ValueError
        For another version.

    Examples
    --------
    >>> len(SqueezeNet("1.1", classes=10).features)
    14
    """

    def __init__(self, version: str, classes: int = 1000) -> None:
        super().__init__()
        if version not in _VERSIONS:
            raise ValueError(f"SqueezeNet: version must be one of {list(_VERSIONS)}, got {version!r}")
        (channels, kernel), rest = _VERSIONS[version]
        self.features.add(*_conv(channels, kernel, 2))
        self.features.add(*[_fire(n) if n else nn.MaxPool2D(3, 2, ceil_mode=True) for n in rest])
        self.features.add(nn.Dropout(0.5))
        self.output = row(*_conv(classes, 1), nn.AvgPool2D(13), nn.Flatten())


def squeezenet1_0(
    pretrained: Pretrained = False,
    ctx: Devices = None,
    root: Root = None,
    device: Devices = None,
    **settings: Unpack[NetSettings],
) -> SqueezeNet:
    """Return SqueezeNet 1.0.

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
    SqueezeNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> squeezenet1_0(classes=10).output[0].weight.shape[0]
    10
    """
    return finished(SqueezeNet("1.0", **settings), "squeezenet1.0", pretrained, ctx, root, device)


def squeezenet1_1(
    pretrained: Pretrained = False,
    ctx: Devices = None,
    root: Root = None,
    device: Devices = None,
    **settings: Unpack[NetSettings],
) -> SqueezeNet:
    """Return SqueezeNet 1.1, which computes less than 1.0.

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
    SqueezeNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> squeezenet1_1(classes=10).output[0].weight.shape[0]
    10
    """
    return finished(SqueezeNet("1.1", **settings), "squeezenet1.1", pretrained, ctx, root, device)
