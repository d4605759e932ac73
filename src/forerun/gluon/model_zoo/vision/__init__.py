"""Networks for images (batch, channels, height, width), with the layers and parameter names of MXNet's.

So files of parameters that MXNet wrote fit. Most want images of 224 x 224, Inception v3 of 299 x 299.

>>> from forerun import np
>>> net = get_model("mobilenet0.25", classes=10)
>>> net.initialize()
>>> net(np.ones((2, 3, 64, 64))).shape
(2, 10)
"""

# ruff: noqa: F403, F405  # the modules below list their names themselves

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...._display.namespaces import dir_of
from . import alexnet as _alexnet
from . import densenet as _densenet
from . import inception as _inception
from . import mobilenet as _mobilenet
from . import resnet as _resnet
from . import squeezenet as _squeezenet
from . import vgg as _vgg
from .alexnet import *
from .densenet import *
from .inception import *
from .mobilenet import *
from .resnet import *
from .squeezenet import *
from .vgg import *

if TYPE_CHECKING:
    from ...block.hybrid import HybridBlock

__all__ = [
    "AlexNet", "alexnet", "BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2", "DenseNet",
    "densenet121", "densenet161", "densenet169", "densenet201", "get_mobilenet", "get_mobilenet_v2", "get_model",
    "get_resnet", "get_vgg", "Inception3", "inception_v3", "MobileNet", "mobilenet0_25", "mobilenet0_5",
    "mobilenet0_75", "mobilenet1_0", "mobilenet_v2_0_25", "mobilenet_v2_0_5", "mobilenet_v2_0_75",
    "mobilenet_v2_1_0", "MobileNetV2", "resnet101_v1", "resnet101_v2", "resnet152_v1", "resnet152_v2",
    "resnet18_v1", "resnet18_v2", "resnet34_v1", "resnet34_v2", "resnet50_v1", "resnet50_v2", "ResNetV1",
    "ResNetV2", "SqueezeNet", "squeezenet1_0", "squeezenet1_1", "VGG", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn",
    "vgg16", "vgg16_bn", "vgg19", "vgg19_bn",
]  # fmt: skip
__dir__ = dir_of(__name__)

_MODULES: tuple[Any, ...] = (_alexnet, _densenet, _inception, _mobilenet, _resnet, _squeezenet, _vgg)
_SPELLED = {"inception_v3": "inceptionv3"}  # names for get_model that are not the function's


def _name_of(function: str) -> str:
    """MXNet's name of a model for the function that makes it."""
    name = function.replace("mobilenet_v2_", "mobilenetv2_")
    if name.startswith(("mobilenet", "squeezenet")):
        head, tail = name.rsplit("_", 1)
        name = f"{head}.{tail}"
    return _SPELLED.get(name, name)


_MODELS: dict[str, Callable[..., Any]] = {
    _name_of(name): getattr(module, name)
    for module in _MODULES
    for name in module.__all__
    if name.islower() and not name.startswith("get_")
}


def get_model(name: str, **settings: Any) -> HybridBlock:
    """Return the network of that name, such as "resnet18_v1", "vgg16_bn" or "mobilenetv2_0.5".

    Weights are not part of forerun. `pretrained` is a file, or a repository of the Hugging Face Hub with a file
    `model.safetensors`; True stands for a file in the folder `root`: `<name>.params`, `<name>.safetensors`, or one
    whose name begins with `<name>-`. Parameters have the names of MXNet, or those of torchvision in the networks that
    are the same there: AlexNet, VGG, ResNet-18 and -34 (v1), SqueezeNet and DenseNet.

    Parameters
    ----------
    name : str
        The name of the network, in capital or small letters.
    classes : int, optional
        The number of scores; 1000 by default.
    pretrained : bool, str or path, optional
        Whether parameters come from a file; or the file, or a repository such as "timm/resnet18.tv_in1k".
    root : path, optional
        The folder of the file; by default `models` in `$MXNET_HOME`, or `~/.mxnet/models`.
    device, ctx : device or list of devices, optional
        Where parameters are; the current device by default. `ctx` is the word of MXNet 1.x.
    **settings : optional
        Other settings of its class, such as `thumbnail` of `ResNetV1`.

    Returns
    -------
    Block
        The network, not initialised unless it is pretrained.

    Raises
    ------
    ValueError
        For another name; the message lists all. If a file is of another network, or its SHA-256 does not begin with the
        digits in its name, as in "resnet18-f37072fd.safetensors".
    FileNotFoundError
        With `pretrained`, if there is no such file.
    ImportError
        For a repository, without `huggingface_hub`.

    Examples
    --------
    >>> get_model("vgg11").output
    Dense(-1 -> 1000, linear)
    """
    if name.lower() not in _MODELS:
        raise ValueError(f"get_model: name must be one of {', '.join(sorted(_MODELS))}, got {name!r}")
    net: HybridBlock = _MODELS[name.lower()](**settings)
    return net
