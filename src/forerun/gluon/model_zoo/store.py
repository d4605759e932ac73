"""Parameters of the model zoo from files in a folder, since none are served."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypedDict, TypeVar

from ..block.block import Block
from ..parameter.parameter import Devices

__all__ = ["finished", "folder"]

Net = TypeVar("Net", bound=Block)
Root = str | os.PathLike[str] | None
"""A folder of files of parameters."""


class NetSettings(TypedDict, total=False):
    """Settings of all networks."""

    classes: int


class Settings(NetSettings, total=False):
    """Settings of the functions that make networks; see `get_model`."""

    pretrained: bool
    ctx: Devices
    root: Root
    device: Devices


def folder(root: Root = None) -> Path:
    """Return the folder of files of parameters: `root`, else models in $MXNET_HOME, else ~/.mxnet/models."""
    if root is None:
        root = Path(os.environ.get("MXNET_HOME", "~/.mxnet"), "models")
    return Path(root).expanduser()


def finished(net: Net, name: str, pretrained: bool, ctx: Devices, root: Root, device: Devices) -> Net:
    """Return the network; with `pretrained`, with parameters from the file of that name, on `device` (1.x's `ctx`).

    The file is `<name>.params` or `<name>-<anything>.params` in `folder(root)`, with all the parameters. Raises
    FileNotFoundError if no such file exists.
    """
    if not pretrained:
        return net
    place = folder(root)
    files = sorted([*place.glob(f"{name}.params"), *place.glob(f"{name}-*.params")])
    if not files:
        raise FileNotFoundError(
            f"{name}: pretrained=True must find {name}.params in {place}, got no such file. No weights are served: put "
            f"a file of MXNet's or your own there (or give root=), or call {name}() and net.load_parameters(file)"
        )
    net.load_parameters(files[0], ctx=device if device is not None else ctx)
    return net
