"""Residual networks: He et al. 2015 (v1), and with the norms before the convolutions, He et al. 2016 (v2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from .... import npx
from ... import nn
from ...block.block import Block
from ...block.hybrid import HybridBlock
from ...parameter.parameter import Devices
from ..store import NetSettings as _NetSettings
from ..store import Root, finished
from ..store import Settings as _Settings
from .parts import Classifier, conv_norm, row

if TYPE_CHECKING:
    from ....typing import Array


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


class _BlockV1(HybridBlock):
    """relu(body(x) + x), where x is convolved too if its shape changes. Subclasses make the body."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0) -> None:
        super().__init__()
        self.body = row(*self.convolutions(channels, stride, in_channels))
        through = conv_norm(channels, 1, stride, act=None, in_channels=in_channels) if downsample else None
        self.downsample = row(*through) if through else None

    @staticmethod
    def convolutions(channels: int, stride: int, in_channels: int) -> list[Block]:
        """Return the layers of the body."""
        raise NotImplementedError

    def forward(self, x: Array) -> Any:
        """Return images to images."""
        return npx.relu(self.body(x) + (self.downsample(x) if self.downsample is not None else x))


class BasicBlockV1(_BlockV1):
    """Two convolutions of 3 x 3, the first with the stride."""

    @staticmethod
    def convolutions(channels: int, stride: int, in_channels: int) -> list[Block]:
        """Return the layers of the body."""
        return conv_norm(channels, 3, stride, 1, in_channels=in_channels) + conv_norm(channels, 3, 1, 1, act=None)


class BottleneckV1(_BlockV1):
    """Convolutions of 1 x 1 to a quarter of the channels, with the stride, of 3 x 3, and of 1 x 1 back."""

    @staticmethod
    def convolutions(channels: int, stride: int, in_channels: int) -> list[Block]:
        """Return the layers of the body."""
        few = channels // 4
        first = conv_norm(few, 1, stride, use_bias=True, in_channels=in_channels)
        return first + conv_norm(few, 3, 1, 1) + conv_norm(channels, 1, act=None, use_bias=True)


class _BlockV2(HybridBlock):
    """x plus convolutions, with norm and relu before each; subclasses say which: (channels, kernel, stride)."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0) -> None:
        super().__init__()
        kinds = self.convolutions(channels, stride)
        width = in_channels
        for i, (n, kernel, step) in enumerate(kinds, 1):
            setattr(self, f"bn{i}", nn.BatchNorm(in_channels=width))
            conv = nn.Conv2D(n, kernel, step, kernel // 2, use_bias=False, in_channels=width)
            setattr(self, f"conv{i}", conv)
            width = n if in_channels else 0
        self._pairs = [(getattr(self, f"bn{i}"), getattr(self, f"conv{i}")) for i in range(1, len(kinds) + 1)]
        through = nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels) if downsample else None
        self.downsample = through

    @staticmethod
    def convolutions(channels: int, stride: int) -> list[tuple[int, int, int]]:
        """Channels, kernel and stride of each convolution."""
        raise NotImplementedError

    def forward(self, x: Array) -> Any:
        """Return images to images."""
        short = x
        for i, (norm, conv) in enumerate(self._pairs):
            x = npx.relu(norm(x))
            if i == 0 and self.downsample is not None:
                short = self.downsample(x)
            x = conv(x)
        return x + short


class BasicBlockV2(_BlockV2):
    """Two convolutions of 3 x 3, the first with the stride."""

    @staticmethod
    def convolutions(channels: int, stride: int) -> list[tuple[int, int, int]]:
        """Channels, kernel and stride of each convolution."""
        return [(channels, 3, stride), (channels, 3, 1)]


class BottleneckV2(_BlockV2):
    """Convolutions of 1 x 1 to a quarter of the channels, of 3 x 3 with the stride, and of 1 x 1 back."""

    @staticmethod
    def convolutions(channels: int, stride: int) -> list[tuple[int, int, int]]:
        """Channels, kernel and stride of each convolution."""
        return [(channels // 4, 1, 1), (channels // 4, 3, stride), (channels, 1, 1)]


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
    """Stages of residual blocks, then a mean over places, and a dense layer.

    block: `BasicBlockV1` or `BottleneckV1`. layers: how many blocks each stage has. channels: those of the first
    layer, and of each stage (ValueError if not one more). thumbnail: for small images, of about 32 x 32.

    >>> from forerun import np
    >>> net = ResNetV1(BasicBlockV1, [1, 1], [8, 8, 16], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(np.ones((2, 3, 32, 32))).shape
    (2, 10)
    """

    def __init__(
        self, block: Any, layers: Sequence[int], channels: Sequence[int], classes: int = 1000, thumbnail: bool = False
    ) -> None:  # fmt: skip
        super().__init__()
        self.features.add(*_stem(channels[0], thumbnail), *_stages(block, layers, channels), nn.GlobalAvgPool2D())
        self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(Classifier):
    """As `ResNetV1`, of `BasicBlockV2` or `BottleneckV2`; norms before the first and after the last stage."""

    def __init__(
        self, block: Any, layers: Sequence[int], channels: Sequence[int], classes: int = 1000, thumbnail: bool = False
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
    version: int, num_layers: int, pretrained: bool = False, ctx: Devices = None, root: Root = None,
    device: Devices = None, **settings: Unpack[NetSettings],
) -> Any:  # fmt: skip
    """Return the residual network of version 1 or 2 with 18, 34, 50, 101 or 152 layers.

    pretrained, ctx, root: see `get_model`. settings: `classes` and `thumbnail` of `ResNetV1`. ValueError for other
    versions and numbers.

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
    """ResNet-18; settings are those of `get_resnet`."""
    net: ResNetV1 = get_resnet(1, 18, **settings)
    return net


def resnet34_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """ResNet-34; settings are those of `get_resnet`."""
    net: ResNetV1 = get_resnet(1, 34, **settings)
    return net


def resnet50_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """ResNet-50; settings are those of `get_resnet`."""
    net: ResNetV1 = get_resnet(1, 50, **settings)
    return net


def resnet101_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """ResNet-101; settings are those of `get_resnet`."""
    net: ResNetV1 = get_resnet(1, 101, **settings)
    return net


def resnet152_v1(**settings: Unpack[Settings]) -> ResNetV1:
    """ResNet-152; settings are those of `get_resnet`."""
    net: ResNetV1 = get_resnet(1, 152, **settings)
    return net


def resnet18_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """ResNet-18 of 2016; settings are those of `get_resnet`."""
    net: ResNetV2 = get_resnet(2, 18, **settings)
    return net


def resnet34_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """ResNet-34 of 2016; settings are those of `get_resnet`."""
    net: ResNetV2 = get_resnet(2, 34, **settings)
    return net


def resnet50_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """ResNet-50 of 2016; settings are those of `get_resnet`."""
    net: ResNetV2 = get_resnet(2, 50, **settings)
    return net


def resnet101_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """ResNet-101 of 2016; settings are those of `get_resnet`."""
    net: ResNetV2 = get_resnet(2, 101, **settings)
    return net


def resnet152_v2(**settings: Unpack[Settings]) -> ResNetV2:
    """ResNet-152 of 2016; settings are those of `get_resnet`."""
    net: ResNetV2 = get_resnet(2, 152, **settings)
    return net
