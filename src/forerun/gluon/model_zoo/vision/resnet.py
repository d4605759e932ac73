"""Residual networks: He et al. 2015 (v1), and with the norms before the convolutions, He et al. 2016 (v2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from ... import nn
from ...block.block import Block
from ...parameter.parameter import Devices
from ..store import NetSettings as _NetSettings
from ..store import Pretrained, Root, finished
from ..store import Settings as _Settings
from .parts import Classifier, conv_norm, row
from .resnet_blocks import BasicBlockV1, BasicBlockV2, BottleneckV1, BottleneckV2

__all__ = [
    "ResNetV1", "ResNetV2", "BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2", "get_resnet",
    "resnet18_v1", "resnet34_v1", "resnet50_v1", "resnet101_v1", "resnet152_v1",
    "resnet18_v2", "resnet34_v2", "resnet50_v2", "resnet101_v2", "resnet152_v2",
]  # fmt: skip


class NetSettings(_NetSettings, total=False):
    """Settings of these networks."""

    thumbnail: bool


class Settings(_Settings, total=False):
    """Settings of the functions that make them; see `get_model`."""

    thumbnail: bool


def _stages(block: Any, layers: Sequence[int], channels: Sequence[int]) -> list[Block]:
    """Return a row of blocks for each number of layers; all but the first halve the extents."""
    if len(channels) != len(layers) + 1:
        raise ValueError(f"ResNet: channels must be one more than layers, got {len(channels)} and {len(layers)}")
    made: list[Block] = []
    for i, n in enumerate(layers):
        before, after = channels[i], channels[i + 1]
        first = block(after, 2 if i else 1, before != after, in_channels=before)
        made.append(row(first, *[block(after, 1, False, in_channels=after) for _ in range(n - 1)]))
    return made


def _stem(channels: int, thumbnail: bool) -> list[Block]:
    """Return the layers that first see images; thumbnail: of about 32 x 32, which are not made smaller."""
    if thumbnail:
        return [nn.Conv2D(channels, 3, 1, 1, use_bias=False)]
    return [*conv_norm(channels, 7, 2, 3), nn.MaxPool2D(3, 2, 1)]


class ResNetV1(Classifier):
    """A residual network: stages of blocks, then a mean over places, and a dense layer (He et al. 2015).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    block : type
        The class of its blocks: `BasicBlockV1` or `BottleneckV1`.
    layers : sequence of int
        The number of blocks of each stage.
    channels : sequence of int
        The numbers of channels of the first layer, and of each stage.
    classes : int, optional
        The number of scores.
    thumbnail : bool, optional
        Whether it is for small images, of about 32 x 32: the first layers do not make them smaller.

    Raises
    ------
    ValueError
        Unless there is one number of channels more than stages.

    Examples
    --------
    >>> from forerun import np
    >>> net = ResNetV1(BasicBlockV1, [1, 1], [8, 8, 16], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(np.ones((2, 3, 32, 32))).shape
    (2, 10)
    """

    def __init__(
        self, block: Callable[..., Block], layers: Sequence[int], channels: Sequence[int], classes: int = 1000,
        thumbnail: bool = False
    ) -> None:  # fmt: skip
        super().__init__()
        self.features.add(*_stem(channels[0], thumbnail), *_stages(block, layers, channels), nn.GlobalAvgPool2D())
        self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(Classifier):
    """A residual network with norms before the convolutions, and before the first and after the last stage (He et al.
    2016).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    block : type
        The class of its blocks: `BasicBlockV2` or `BottleneckV2`.
    layers : sequence of int
        The number of blocks of each stage.
    channels : sequence of int
        The numbers of channels of the first layer, and of each stage.
    classes : int, optional
        The number of scores.
    thumbnail : bool, optional
        Whether it is for small images, of about 32 x 32: the first layers do not make them smaller.

    Raises
    ------
    ValueError
        Unless there is one number of channels more than stages.

    Examples
    --------
    >>> from forerun import np
    >>> net = ResNetV2(BasicBlockV2, [1, 1], [8, 8, 16], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(np.ones((2, 3, 32, 32))).shape
    (2, 10)
    """

    def __init__(
        self, block: Callable[..., Block], layers: Sequence[int], channels: Sequence[int], classes: int = 1000,
        thumbnail: bool = False
    ) -> None:  # fmt: skip
        super().__init__()
        self.features.add(nn.BatchNorm(scale=False, center=False), *_stem(channels[0], thumbnail))
        self.features.add(*_stages(block, layers, channels), nn.BatchNorm(), nn.Activation("relu"))
        self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.Dense(classes, in_units=channels[-1])


_NETS = {1: ResNetV1, 2: ResNetV2}
_BLOCKS = {
    (1, False): BasicBlockV1,
    (1, True): BottleneckV1,
    (2, False): BasicBlockV2,
    (2, True): BottleneckV2,
}
_BASIC, _BOTTLENECK = [64, 64, 128, 256, 512], [64, 256, 512, 1024, 2048]
_LAYERS = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}


def get_resnet(
    version: int, num_layers: int, pretrained: Pretrained = False, ctx: Devices = None, root: Root = None,
    device: Devices = None, **settings: Unpack[NetSettings],
) -> Any:  # fmt: skip
    """Return a residual network of 18, 34, 50, 101 or 152 layers.

    Parameters
    ----------
    version : {1, 2}
        The version: `ResNetV1` or `ResNetV2`.
    num_layers : int
        The number of layers.
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
    thumbnail : bool, optional
        Whether it is for small images, as for `ResNetV1`.

    Returns
    -------
    ResNetV1 or ResNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    ValueError
        For other versions and numbers.
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> len(get_resnet(1, 18).features)
    9
    """
    if num_layers not in _LAYERS or version not in _NETS:
        raise ValueError(
            f"get_resnet: version must be 1 or 2, and layers one of {list(_LAYERS)}, got {version} and {num_layers}"
        )
    deep = num_layers >= 50
    block, channels = _BLOCKS[version, deep], _BOTTLENECK if deep else _BASIC
    net = _NETS[version](block, _LAYERS[num_layers], channels, **settings)
    return finished(net, f"resnet{num_layers}_v{version}", pretrained, ctx, root, device)


def resnet18_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """Return ResNet-18 of He et al. 2015.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV1
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet18_v1(classes=10).output
    Dense(512 -> 10, linear)
    """
    net: ResNetV1 = get_resnet(1, 18, **settings)
    return net


def resnet34_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """Return ResNet-34 of He et al. 2015.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV1
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet34_v1(classes=10).output
    Dense(512 -> 10, linear)
    """
    net: ResNetV1 = get_resnet(1, 34, **settings)
    return net


def resnet50_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """Return ResNet-50 of He et al. 2015.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV1
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet50_v1(classes=10).output
    Dense(2048 -> 10, linear)
    """
    net: ResNetV1 = get_resnet(1, 50, **settings)
    return net


def resnet101_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """Return ResNet-101 of He et al. 2015.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV1
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet101_v1(classes=10).output
    Dense(2048 -> 10, linear)
    """
    net: ResNetV1 = get_resnet(1, 101, **settings)
    return net


def resnet152_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """Return ResNet-152 of He et al. 2015.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV1
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet152_v1(classes=10).output
    Dense(2048 -> 10, linear)
    """
    net: ResNetV1 = get_resnet(1, 152, **settings)
    return net


def resnet18_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """Return ResNet-18 of He et al. 2016.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet18_v2(classes=10).output
    Dense(512 -> 10, linear)
    """
    net: ResNetV2 = get_resnet(2, 18, **settings)
    return net


def resnet34_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """Return ResNet-34 of He et al. 2016.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet34_v2(classes=10).output
    Dense(512 -> 10, linear)
    """
    net: ResNetV2 = get_resnet(2, 34, **settings)
    return net


def resnet50_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """Return ResNet-50 of He et al. 2016.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet50_v2(classes=10).output
    Dense(2048 -> 10, linear)
    """
    net: ResNetV2 = get_resnet(2, 50, **settings)
    return net


def resnet101_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """Return ResNet-101 of He et al. 2016.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet101_v2(classes=10).output
    Dense(2048 -> 10, linear)
    """
    net: ResNetV2 = get_resnet(2, 101, **settings)
    return net


def resnet152_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """Return ResNet-152 of He et al. 2016.

    Parameters
    ----------
    **settings : optional
        The settings of `get_resnet`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    ResNetV2
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> resnet152_v2(classes=10).output
    Dense(2048 -> 10, linear)
    """
    net: ResNetV2 = get_resnet(2, 152, **settings)
    return net
