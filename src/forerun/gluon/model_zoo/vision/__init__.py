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
from typing import Any

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


def get_model(name: str, **settings: Any) -> Any:
    """Return the network of that name, such as "resnet18_v1", "vgg16_bn" or "mobilenetv2_0.5", not initialised.

    settings: `classes`, the number of scores (1000), and others of its class. `pretrained`: with the parameters of
    `<name>.params`, or of a file whose name begins with `<name>-`, in the folder `root` (by default models in
    $MXNET_HOME or ~/.mxnet), on the `device`(s), or `ctx` in 1.x's words; none are served, FileNotFoundError without
    the file. ValueError, which lists the names, for another name.

    >>> get_model("vgg11").output
    Dense(-1 -> 1000, linear)
    """
    if name.lower() not in _MODELS:
        raise ValueError(f"get_model: name must be one of {', '.join(sorted(_MODELS))}, got {name!r}")
    return _MODELS[name.lower()](**settings)
