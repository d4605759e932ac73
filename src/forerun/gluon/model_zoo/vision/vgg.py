"""VGG: Simonyan and Zisserman 2014."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from ....init import Xavier
from ... import nn
from ...parameter.parameter import Devices
from ..store import NetSettings as _NetSettings
from ..store import Pretrained, Root, finished
from ..store import Settings as _Settings
from .parts import Classifier

__all__ = [
    "VGG", "get_vgg", "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn",
]  # fmt: skip

_FILTERS = [64, 128, 256, 512, 512]


class NetSettings(_NetSettings, total=False):
    """Settings of these networks."""

    batch_norm: bool


class Settings(_Settings, total=False):
    """Settings of the functions that make them; see `get_model`."""

    batch_norm: bool


_LAYERS = {11: [1, 1, 2, 2, 2], 13: [2, 2, 2, 2, 2], 16: [2, 2, 3, 3, 3], 19: [2, 2, 4, 4, 4]}


class VGG(Classifier):
    """VGG: stages of convolutions of 3 x 3, each with a pooling, and three dense layers (Simonyan and Zisserman 2014).

    Images (batch, channels, height, width) become scores (batch, classes).

    Parameters
    ----------
    layers : sequence of int
        The number of convolutions of each stage.
    filters : sequence of int
        The number of channels of each stage.
    classes : int, optional
        The number of scores.
    batch_norm : bool, optional
        Whether a batch norm follows each convolution.

    Raises
    ------
    ValueError
        Unless there are as many numbers of channels as stages.

    Examples
    --------
    >>> from forerun import np
    >>> net = VGG([1, 1], [4, 8], classes=10)
    >>> net.initialize()
    >>> net(np.ones((1, 3, 8, 8))).shape
    (1, 10)
    """

    def __init__(
        self, layers: Sequence[int], filters: Sequence[int], classes: int = 1000, batch_norm: bool = False
    ) -> None:
        super().__init__()
        rule = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
        for n, channels in zip(layers, filters, strict=True):
            for _ in range(n):
                self.features.add(nn.Conv2D(channels, 3, padding=1, weight_initializer=rule))
                self.features.add(*([nn.BatchNorm()] if batch_norm else []), nn.Activation("relu"))
            self.features.add(nn.MaxPool2D(strides=2))
        for _ in range(2):
            self.features.add(nn.Dense(4096, "relu", weight_initializer="normal"), nn.Dropout(0.5))
        self.output = nn.Dense(classes, weight_initializer="normal")


def get_vgg(
    num_layers: int, pretrained: Pretrained = False, ctx: Devices = None, root: Root = None, device: Devices = None,
    **settings: Unpack[NetSettings],
) -> VGG:  # fmt: skip
    """Return the VGG network of 11, 13, 16 or 19 layers.

    Parameters
    ----------
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
    batch_norm : bool, optional
        Whether a batch norm follows each convolution.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    ValueError
        For another number of layers.
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> len(get_vgg(11).features)
    25
    """
    if num_layers not in _LAYERS:
        raise ValueError(f"get_vgg: layers must be one of {list(_LAYERS)}, got {num_layers}")
    net = VGG(_LAYERS[num_layers], _FILTERS, **settings)
    return finished(net, f"vgg{num_layers}" + "_bn" * bool(settings.get("batch_norm")), pretrained, ctx, root, device)


def vgg11(**settings: Unpack[Settings]) -> VGG:
    """Return VGG-11.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg11(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(11, **settings)


def vgg13(**settings: Unpack[Settings]) -> VGG:
    """Return VGG-13.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg13(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(13, **settings)


def vgg16(**settings: Unpack[Settings]) -> VGG:
    """Return VGG-16.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg16(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(16, **settings)


def vgg19(**settings: Unpack[Settings]) -> VGG:
    """Return VGG-19.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg19(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(19, **settings)


def vgg11_bn(**settings: Unpack[_Settings]) -> VGG:
    """Return VGG-11 with batch norms.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg11_bn(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(11, batch_norm=True, **settings)


def vgg13_bn(**settings: Unpack[_Settings]) -> VGG:
    """Return VGG-13 with batch norms.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg13_bn(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(13, batch_norm=True, **settings)


def vgg16_bn(**settings: Unpack[_Settings]) -> VGG:
    """Return VGG-16 with batch norms.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg16_bn(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(16, batch_norm=True, **settings)


def vgg19_bn(**settings: Unpack[_Settings]) -> VGG:
    """Return VGG-19 with batch norms.

    Parameters
    ----------
    **settings : optional
        The settings of `get_vgg`: `classes`, `pretrained`, `root`, `device` and others.

    Returns
    -------
    VGG
        The network, not initialised unless it is pretrained.

    Raises
    ------
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> vgg19_bn(classes=10).output
    Dense(-1 -> 10, linear)
    """
    return get_vgg(19, batch_norm=True, **settings)
