"""Settings of the networks, and their parameters from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, TypeVar

from ..block.block import Block
from ..parameter.dictionary import load
from ..parameter.loading import set_values
from ..parameter.parameter import Devices
from .files import Pretrained, Root, file_of
from .torchvision_names import renamed

__all__ = ["NetSettings", "Pretrained", "Root", "Settings", "finished"]

Net = TypeVar("Net", bound=Block)


class NetSettings(TypedDict, total=False):
    """Settings of all networks."""

    classes: int


class Settings(NetSettings, total=False):
    """Settings of the functions that make networks; see `get_model`."""

    pretrained: Pretrained
    ctx: Devices
    root: Root
    device: Devices


def finished(net: Net, name: str, pretrained: Pretrained, ctx: Devices, root: Root, device: Devices) -> Net:
    """Return the network; with `pretrained`, with parameters from a file, on `device` (1.x's `ctx`).

    See `files.file_of` for the file and the errors. It has all parameters, under MXNet's names or torchvision's.
    """
    if not pretrained:
        return net
    values: Mapping[str, Any] = load(file_of(name, pretrained, root))
    if not any("output." in key for key in values):  # as all networks here have
        values = renamed(name, values, {key: len(p.shape or ()) for key, p in net.collect_params().items()})
    set_values(net.collect_params(), values, device if device is not None else ctx, op=name)
    return net
