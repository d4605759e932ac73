"""MobileNets: Howard et al. 2017, and with inverted residuals, Sandler et al. 2018 (v2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ... import nn
from ...block.hybrid import HybridBlock
from ...parameter.parameter import Devices
from ..store import NetSettings, Pretrained, Root, Settings, finished
from .parts import Classifier, ReLU6, conv_norm, row

if TYPE_CHECKING:
    from ....typing import Array


__all__ = [
    "MobileNet", "MobileNetV2", "get_mobilenet", "get_mobilenet_v2",
    "mobilenet1_0", "mobilenet0_75", "mobilenet0_5", "mobilenet0_25",
    "mobilenet_v2_1_0", "mobilenet_v2_0_75", "mobilenet_v2_0_5", "mobilenet_v2_0_25",
]  # fmt: skip

# Channels after each pair of convolutions, and the stride of the first of the pair.
_PAIRS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
# How many times wider inside, channels, how many blocks, and the stride of the first of these.
_BOTTLENECKS = [
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
]  # fmt: skip


class MobileNet(Classifier):
    """MobileNet: pairs of convolutions, 3 x 3 in each channel and 1 x 1 over channels (Howard et al. 2017).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    multiplier : float, optional
        The factor of all numbers of channels.
    classes : int, optional
        The number of scores.

    Examples
    --------
    >>> from forerun import np
    >>> net = MobileNet(0.25, classes=10)
    >>> net.initialize()
    >>> net(np.ones((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000) -> None:
        super().__init__()
        n = int(32 * multiplier)
        self.features.add(*conv_norm(n, 3, 2, 1))
        for channels, stride in _PAIRS:
            self.features.add(*conv_norm(n, 3, stride, 1, groups=n))
            n = int(channels * multiplier)
            self.features.add(*conv_norm(n, 1))
        self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.Dense(classes)


class _Bottleneck(HybridBlock):
    """Wider by 1 x 1, 3 x 3 in each channel, narrow again; plus x, where the shape stays."""

    def __init__(self, before: int, after: int, times: int, stride: int) -> None:
        super().__init__()
        wide = before * times
        first, last = conv_norm(wide, 1, act=ReLU6()), conv_norm(after, 1, act=None)
        self.out = row(*first, *conv_norm(wide, 3, stride, 1, ReLU6(), groups=wide), *last)
        self._is_residual = stride == 1 and before == after

    def forward(self, x: Array) -> Any:
        """Map images to images."""
        y = self.out(x)
        return y + x if self._is_residual else y


class MobileNetV2(Classifier):
    """MobileNetV2: inverted residuals with linear bottlenecks (Sandler et al. 2018).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    multiplier : float, optional
        The factor of all numbers of channels, and if it is above 1, of the last one, too.
    classes : int, optional
        The number of scores.

    Examples
    --------
    >>> from forerun import np
    >>> net = MobileNetV2(0.25, classes=10)
    >>> net.initialize()
    >>> net(np.ones((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000) -> None:
        super().__init__()
        n = int(32 * multiplier)
        self.features.add(*conv_norm(n, 3, 2, 1, ReLU6()))
        for times, channels, count, stride in _BOTTLENECKS:
            for i in range(count):
                after = int(channels * multiplier)
                self.features.add(_Bottleneck(n, after, times, 1 if i else stride))
                n = after
        last = int(1280 * max(multiplier, 1))
        self.features.add(*conv_norm(last, 1, act=ReLU6()), nn.GlobalAvgPool2D())
        self.output = row(nn.Conv2D(classes, 1, use_bias=False), nn.Flatten())


def _name(prefix: str, multiplier: float) -> str:
    return prefix + (f"{multiplier:.2f}".removesuffix("0") if multiplier != int(multiplier) else f"{multiplier:.1f}")


def get_mobilenet(
    multiplier: float, pretrained: Pretrained = False, ctx: Devices = None, root: Root = None, device: Devices = None,
    **settings: Unpack[NetSettings],
) -> MobileNet:  # fmt: skip
    """Return a `MobileNet`.

    Parameters
    ----------
    multiplier : float
        The factor of all numbers of channels.
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
    MobileNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> get_mobilenet(0.25, classes=10).output
    Dense(-1 -> 10, linear)
    """
    return finished(MobileNet(multiplier, **settings), _name("mobilenet", multiplier), pretrained, ctx, root, device)


def get_mobilenet_v2(
    multiplier: float, pretrained: Pretrained = False, ctx: Devices = None, root: Root = None, device: Devices = None,
    **settings: Unpack[NetSettings],
) -> MobileNetV2:  # fmt: skip
    """Return a `MobileNetV2`.

    Parameters
    ----------
    multiplier : float
        The factor of all numbers of channels.
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
    MobileNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> get_mobilenet_v2(0.25, classes=10).output[0].weight.shape[0]
    10
    """
    return finished(
        MobileNetV2(multiplier, **settings), _name("mobilenetv2_", multiplier), pretrained, ctx, root, device
    )


def mobilenet1_0(**settings: Unpack[Settings]) -> MobileNet:
    """Return a MobileNet with all channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet1_0(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_mobilenet(1.0, **settings)


def mobilenet0_75(**settings: Unpack[Settings]) -> MobileNet:
    """Return a MobileNet with 3/4 of the channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet0_75(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_mobilenet(0.75, **settings)


def mobilenet0_5(**settings: Unpack[Settings]) -> MobileNet:
    """Return a MobileNet with half of the channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet0_5(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_mobilenet(0.5, **settings)


def mobilenet0_25(**settings: Unpack[Settings]) -> MobileNet:
    """Return a MobileNet with a quarter of the channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNet
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet0_25(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_mobilenet(0.25, **settings)


def mobilenet_v2_1_0(**settings: Unpack[Settings]) -> MobileNetV2:
    """Return a MobileNetV2 with all channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet_v2`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet_v2_1_0(classes=10).output[0].weight.shape[0]
    10
    """
    return get_mobilenet_v2(1.0, **settings)


def mobilenet_v2_0_75(**settings: Unpack[Settings]) -> MobileNetV2:
    """Return a MobileNetV2 with 3/4 of the channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet_v2`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet_v2_0_75(classes=10).output[0].weight.shape[0]
    10
    """
    return get_mobilenet_v2(0.75, **settings)


def mobilenet_v2_0_5(**settings: Unpack[Settings]) -> MobileNetV2:
    """Return a MobileNetV2 with half of the channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet_v2`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet_v2_0_5(classes=10).output[0].weight.shape[0]
    10
    """
    return get_mobilenet_v2(0.5, **settings)


def mobilenet_v2_0_25(**settings: Unpack[Settings]) -> MobileNetV2:
    """Return a MobileNetV2 with a quarter of the channels.

    Parameters
    ----------
    **settings : optional
        The settings of `get_mobilenet_v2`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    MobileNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> mobilenet_v2_0_25(classes=10).output[0].weight.shape[0]
    10
    """
    return get_mobilenet_v2(0.25, **settings)
