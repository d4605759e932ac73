"""Networks for images (batch, channels, height, width), with the layers and parameter names of MXNet's.

So files of parameters that MXNet wrote fit. Most want images of 224 x 224, Inception v3 of 299 x 299.

>>> from forerun import np
>>> net = get_model("mobilenet0.25", classes=10)
>>> net.initialize()
>>> net(np.ones((2, 3, 64, 64))).shape
(2, 10)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import alexnet as _alexnet
from . import densenet as _densenet
from . import inception as _inception
from . import mobilenet as _mobilenet
from . import resnet as _resnet
from . import squeezenet as _squeezenet
from . import vgg as _vgg
from .alexnet import *  # noqa: F403
from .densenet import *  # noqa: F403
from .inception import *  # noqa: F403
from .mobilenet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .squeezenet import *  # noqa: F403
from .vgg import *  # noqa: F403

if TYPE_CHECKING:
    from ...block.hybrid import HybridBlock

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

    Pretrained parameters come from a file in a folder: `<name>.params`, or one whose name begins with `<name>-`. None
    are served: put a file there that MXNet or `save_parameters` has written.

    Parameters
    ----------
    name : str
        The name of the network, in capital or small letters.
    classes : int, optional
        The number of scores; 1000 by default.
    pretrained : bool, optional
        Whether parameters come from the file.
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
        For another name; the message lists all.
    FileNotFoundError
        With `pretrained`, if there is no such file.

    Examples
    --------
    >>> get_model("vgg11").output
    Dense(-1 -> 1000, linear)
    """
    if name.lower() not in _MODELS:
        raise ValueError(f"get_model: name must be one of {', '.join(sorted(_MODELS))}, got {name!r}")
    net: HybridBlock = _MODELS[name.lower()](**settings)
    return net
