"""Programs written for MXNet, run as they are: `import mxnet` finds forerun.

>>> import forerun
>>> from forerun.compat import install_as_mxnet, uninstall_as_mxnet
>>> install_as_mxnet()
>>> from mxnet import autograd, np, npx
>>> from mxnet.gluon import nn
>>> np.ones(2).tolist(), nn is forerun.gluon.nn
([1.0, 1.0], True)
>>> uninstall_as_mxnet()
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from collections.abc import Mapping
from typing import Any

from . import device, np, npx

__all__ = ["install_as_mxnet", "uninstall_as_mxnet"]

_MODULES = (
    "np", "np.random", "np.linalg", "npx", "autograd", "init", "optimizer", "lr_scheduler", "metric", "image", "gluon",
    "gluon.nn", "gluon.rnn", "gluon.loss", "gluon.data", "gluon.data.vision", "gluon.data.vision.transforms",
    "gluon.data.vision.datasets", "gluon.data.batchify", "gluon.data.dataset", "gluon.data.sampler",
    "gluon.utils", "gluon.model_zoo", "gluon.model_zoo.vision",
    "gluon.contrib", "gluon.contrib.cnn", "gluon.contrib.nn", "gluon.contrib.rnn",
    "gluon.parameter", "gluon.block", "gluon.trainer",
)  # fmt: skip
_ALIASES = {
    "numpy": "np",
    "numpy_extension": "npx",
    "initializer": "init",
    "device": "device",
    "gluon.metric": "metric",
    "gluon.data.dataloader": "gluon.data.loader",
}
_LEGACY = {
    "NDArray": np.ndarray, "array": np.array, "nansum": np.nansum, "save": npx.save, "load": npx.load,
    "waitall": npx.waitall,
}  # fmt: skip
_PLACES = {
    "Context": device.Device, "Device": device.Device, "cpu": device.cpu, "gpu": device.gpu,
    "num_gpus": device.num_gpus, "current_context": device.current_device, "current_device": device.current_device,
}  # fmt: skip
_MARK = "__forerun__"


def install_as_mxnet() -> None:
    """Makes `import mxnet` and `from mxnet import ...` give forerun's modules, in this process.

    `mxnet.np`, `npx`, `autograd`, `gluon`, `init`, `optimizer`, `lr_scheduler` and `metric` are forerun's own modules,
    so both names may be used side by side; what forerun does not have, `mxnet` does not have either. `mxnet.nd` has no
    more than what programs over `np` take from it. Once more, it does nothing. Call it before the program is imported.
    Raises RuntimeError if the real MXNet has been imported already.
    """
    present = sys.modules.get("mxnet")
    if present is not None:
        if hasattr(present, _MARK):
            return
        raise RuntimeError(f"install_as_mxnet: mxnet must not be imported yet, got {present!r}")
    root = _root()
    pairs = [*zip(_MODULES, _MODULES), *_ALIASES.items()]
    modules = {name: importlib.import_module(f"forerun.{source}") for name, source in pairs}
    modules["ndarray"] = modules["nd"] = _module("ndarray", _LEGACY)
    modules["context"] = _module("context", _PLACES)
    sys.modules["mxnet"] = root
    for name, module in modules.items():
        sys.modules[f"mxnet.{name}"] = module
        if "." not in name:
            setattr(root, name, module)


def uninstall_as_mxnet() -> None:
    """Undoes `install_as_mxnet`: `import mxnet` finds what is installed, if anything."""
    if hasattr(sys.modules.get("mxnet"), _MARK):
        for name in [n for n in sys.modules if n == "mxnet" or n.startswith("mxnet.")]:
            del sys.modules[name]


def _module(name: str, values: Mapping[str, Any]) -> types.ModuleType:
    module = types.ModuleType(f"mxnet.{name}", f"What programs take from mxnet.{name}, of forerun's.")
    vars(module).update(values)
    return module


def _root() -> types.ModuleType:
    """The package itself, with what MXNet keeps at the top."""
    root = types.ModuleType("mxnet", "forerun under the name of MXNet.")
    root.__spec__ = importlib.machinery.ModuleSpec("mxnet", None, is_package=True)
    root.__path__ = []
    root.__version__ = "2.0.0"  # type: ignore[attr-defined]
    vars(root).update({_MARK: True, "waitall": npx.waitall}, **_PLACES)
    return root
