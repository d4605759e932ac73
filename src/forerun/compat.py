"""Programs written for MXNet, run as they are: `import mxnet` finds forerun.

>>> import forerun
>>> from forerun.compat import install_as_mxnet, uninstall_as_mxnet
>>> install_as_mxnet()
>>> from mxnet import autograd, np, npx
>>> from mxnet.gluon import nn
>>> from mxnet.numpy.random import multinomial
>>> np.ones(2).tolist(), nn is forerun.gluon.nn, multinomial is np.random.multinomial
([1.0, 1.0], True, True)
>>> uninstall_as_mxnet()
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

from . import nd, npx
from ._display.namespaces import dir_of
from ._interop.mxnet_modules import ABSENT, MODULES
from ._runtime import device

__all__ = ["install_as_mxnet", "uninstall_as_mxnet"]
__dir__ = dir_of(__name__)

_PLACES = {
    "Context": device.Device, "Device": device.Device, "cpu": device.cpu, "gpu": device.gpu,
    "cpu_pinned": device.cpu_pinned, "num_gpus": device.num_gpus, "current_context": device.current_device,
    "current_device": device.current_device,
}  # fmt: skip
_UTIL = {
    name: getattr(npx, name)
    for name in ("set_np", "reset_np", "is_np_array", "is_np_shape", "use_np") if hasattr(npx, name)
}  # fmt: skip
_MADE: dict[str, Mapping[str, Any]] = {  # modules that are not modules of forerun
    "context": _PLACES,
    "device": {**_PLACES, **{name: getattr(device, name) for name in device.__all__}},
    "util": _UTIL,
    "random": {name: getattr(nd.random, name) for name in nd.random.__all__},
}
_MARK = "__forerun__"


def install_as_mxnet() -> None:
    """Make `import mxnet` and `from mxnet import ...` give forerun's modules, in this process.

    Call it before the program is imported; a second call does nothing. `mxnet.np`, `npx`, `autograd`, `gluon` and the
    others are forerun's own modules, imported once, so that both names may be used side by side; so are modules
    inside, such as `mxnet.numpy.random` and `mxnet.gluon.nn.basic_layers`. Modules that forerun lacks are missing in
    `mxnet`, too: ModuleNotFoundError names the replacement. `mxnet.nd` has the names that programs over `np` use
    (see `forerun.nd`).

    Raises
    ------
    RuntimeError
        If the real MXNet has been imported already.

    Examples
    --------
    >>> from forerun.compat import install_as_mxnet, uninstall_as_mxnet
    >>> install_as_mxnet()
    >>> from mxnet import np
    >>> np.ones(2).tolist()
    [1.0, 1.0]
    >>> uninstall_as_mxnet()
    """
    present = sys.modules.get("mxnet")
    if present is not None:
        if hasattr(present, _MARK):
            return
        raise RuntimeError(f"install_as_mxnet: mxnet must not be imported yet, got {present!r}")
    root = _root()
    sys.modules["mxnet"] = root
    sys.meta_path.insert(0, _finder)
    for name in sorted([*MODULES, *_MADE]):  # packages come before their modules
        outer, _, last = f"mxnet.{name}".rpartition(".")
        owner, module = sys.modules[outer], _module_of(name)
        sys.modules[f"mxnet.{name}"] = module
        if not hasattr(owner, last):  # `gluon.model_zoo.vision.alexnet` is a function, and a module of that name exists
            setattr(owner, last, module)
            _set.append((owner, last))


def uninstall_as_mxnet() -> None:
    """Undo `install_as_mxnet`: `import mxnet` finds the installed package of that name, if there is one.

    Examples
    --------
    >>> import sys
    >>> install_as_mxnet()
    >>> import mxnet
    >>> uninstall_as_mxnet()
    >>> "mxnet" in sys.modules
    False
    """
    if hasattr(sys.modules.get("mxnet"), _MARK):
        sys.meta_path.remove(_finder)
        for name in [n for n in sys.modules if n.partition(".")[0] == "mxnet"]:
            del sys.modules[name]
        while _set:
            delattr(*_set.pop())


class _Finder(importlib.abc.MetaPathFinder):
    """Says why a module `mxnet.x.y` is absent: those that there are have been imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        name = fullname.removeprefix("mxnet.")
        if name == fullname:
            return None
        # The error has no name, or `from mxnet import` would drop it.
        raise ModuleNotFoundError(f"import: {_why_absent(name)}")


_finder = _Finder()
_set: list[tuple[types.ModuleType, str]] = []  # attributes that install_as_mxnet has given to forerun's modules


def _why_absent(name: str) -> str:
    parts = name.split(".")
    outer = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    known = "is not a module that forerun provides under MXNet's name; see docs/howto/frameworks.md"
    return f"mxnet.{name} {next((ABSENT[part] for part in outer if part in ABSENT), known)}"


def _no_attribute(name: str) -> Any:
    raise AttributeError(_why_absent(name) if name in ABSENT else f"module 'mxnet' has no attribute {name!r}")


def _module_of(name: str) -> types.ModuleType:
    if name in MODULES:
        return importlib.import_module(f"forerun.{MODULES[name]}")
    module = types.ModuleType(f"mxnet.{name}", f"The names of mxnet.{name} that forerun provides.")
    vars(module).update(_MADE[name])
    return module


def _root() -> types.ModuleType:
    """Return the package itself, with the names that MXNet has at the top."""
    root = types.ModuleType("mxnet", "forerun under the name of MXNet.")
    root.__spec__ = importlib.machinery.ModuleSpec("mxnet", None, is_package=True)
    root.__path__ = []
    root.__version__ = "2.0.0"  # type: ignore[attr-defined]
    vars(root).update({_MARK: True, "waitall": npx.waitall, "__getattr__": _no_attribute}, **_PLACES)
    return root
