"""AlexNet, in the form of Krizhevsky 2014 ("one weird trick")."""

from __future__ import annotations

from typing import Unpack

from ... import nn
from ...parameter.parameter import Devices
from ..store import NetSettings, Pretrained, Root, finished
from .parts import Classifier

__all__ = ["AlexNet", "alexnet"]

# Channels, kernel, stride and padding of each convolution, and whether a pooling follows.
_CONVOLUTIONS = [
    (64, 11, 4, 2, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False), (256, 3, 1, 1, False), (256, 3, 1, 1, True),
]  # fmt: skip


class AlexNet(Classifier):
    """AlexNet: five convolutions and three dense layers, in the form of Krizhevsky 2014.

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    classes : int, optional
        The number of scores.

    Examples
    --------
    >>> AlexNet(classes=10).output
    Dense(-1 -> 10, linear)
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        for channels, kernel, stride, padding, pooled in _CONVOLUTIONS:
            self.features.add(nn.Conv2D(channels, kernel, stride, padding, activation="relu"))
            if pooled:
                self.features.add(nn.MaxPool2D(3, 2))
        self.features.add(nn.Flatten())
        for _ in range(2):
            self.features.add(nn.Dense(4096, "relu"), nn.Dropout(0.5))
        self.output = nn.Dense(classes)


def alexnet(
    pretrained: Pretrained = False,
    ctx: Devices = None,
    root: Root = None,
    device: Devices = None,
    **settings: Unpack[NetSettings],
) -> AlexNet:
    """Return AlexNet.

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
    AlexNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> alexnet(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return finished(AlexNet(**settings), "alexnet", pretrained, ctx, root, device)
