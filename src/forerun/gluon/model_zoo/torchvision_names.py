"""Parameters under torchvision's names as those of the same networks here.

Both have the same layers in the same order, under other names. So convolutions, norms and dense layers are matched
kind by kind, in the order of the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["FITTING", "renamed"]

FITTING = re.compile(r"alexnet|vgg\d+(_bn)?|resnet(18|34)_v1|squeezenet1\.[01]|densenet\d+")
"""Networks that compute the same here and there. Others have other strides, biases or numbers of layers."""

_OF_LAYERS = {"weight": "weight", "bias": "bias"}
_OF_NORMS = {"weight": "gamma", "bias": "beta", "running_mean": "running_mean", "running_var": "running_var"}
_UNUSED = "num_batches_tracked"
# Parts whose names are not in the order of the network, and a name that is.
_PLACES = (
    (r"features\.norm0", "features.a"),
    (r"transition(\d+)", r"denseblock\1.z"),
    ("squeeze", "a"),
    ("classifier", "z"),
)

Layers = dict[str, dict[str, Any]]
"""The parameters of each layer, or their numbers of axes, by the layer's name."""


def renamed(name: str, values: Mapping[str, Any], axes: Mapping[str, int]) -> dict[str, Any]:
    """Return values under the names of the network.

    Parameters
    ----------
    name : str
        The name of the network, for messages.
    values : mapping of str to array
        Parameters under torchvision's names.
    axes : mapping of str to int
        The number of axes of each parameter of the network, by its name, in the network's order.

    Returns
    -------
    dict of str to array
        The values by the names of `axes`.

    Raises
    ------
    ValueError
        If the network is built differently in torchvision, or the values are of another network.
    """
    if not FITTING.fullmatch(name):
        raise ValueError(
            f"{name}: parameters must have MXNet's names, got {min(values, default='no names')!r}; torchvision's are "
            "read for AlexNet, VGG, ResNet-18 and -34 (v1), SqueezeNet and DenseNet, whose networks are the same there"
        )
    given = _layers({key: value for key, value in values.items() if not key.endswith(_UNUSED)})
    found: dict[str, Any] = {}
    for kind, layers in _by_kind(_layers(axes)).items():
        others = sorted((layer for layer in given if _kind(given[layer]) == kind), key=_place)
        if len(others) != len(layers):
            raise ValueError(f"{name}: file must have {len(layers)} layers of kind {kind!r}, got {len(others)}")
        table = _OF_NORMS if kind == "norm" else _OF_LAYERS
        for layer, other in zip(layers, others):
            found |= {f"{layer}.{table.get(part, part)}": value for part, value in given[other].items()}
    return found


def _layers(values: Mapping[str, Any]) -> Layers:
    found: Layers = {}
    for name, value in values.items():
        layer, _, part = name.rpartition(".")
        found.setdefault(layer, {})[part] = value
    return found


def _by_kind(layers: Layers) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for layer, parts in layers.items():
        found.setdefault(_kind(parts), []).append(layer)
    return found


def _kind(parts: Mapping[str, Any]) -> str:
    if "running_var" in parts:
        return "norm"
    weight = parts.get("weight")
    axes = weight if isinstance(weight, int) else getattr(weight, "ndim", 0)
    return "convolution" if axes == 4 else "dense"


def _place(layer: str) -> list[int | str]:
    """Return a key that sorts torchvision's layers of one kind in the order of the network."""
    for pattern, name in _PLACES:
        layer = re.sub(pattern, name, layer)
    parts: Iterable[str] = re.split(r"(\d+)", layer)
    return [int(part) if part.isdecimal() else part for part in parts]
