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

from . import device, npx

__all__ = ["install_as_mxnet", "uninstall_as_mxnet"]

_MODULES = (
    "np", "np.random", "np.linalg", "npx", "autograd", "init", "optimizer", "gluon", "gluon.nn", "gluon.loss",
    "gluon.data", "gluon.utils",
)  # fmt: skip
_ALIASES = {
    "numpy": "np",
    "numpy_extension": "npx",
    "initializer": "init",
    "gluon.parameter": "gluon.parameter",
}
_MARK = "__forerun__"


def install_as_mxnet() -> None:
    """Makes `import mxnet` and `from mxnet import ...` give forerun's modules, in this process.

    `mxnet.np`, `npx`, `autograd`, `gluon`, `init`, and `optimizer` are forerun's own modules, so both names may be
    used side by side; what forerun does not have, `mxnet` does not have either. Call it before the program is
    imported. Raises RuntimeError if the real MXNet has been imported already.
    """
    present = sys.modules.get("mxnet")
    if present is not None:
        if hasattr(present, _MARK):
            return
        raise RuntimeError("install_as_mxnet: mxnet must not be imported yet, got one from elsewhere")
    sys.modules["mxnet"] = root = _root()
    for name, source in [*zip(_MODULES, _MODULES), *_ALIASES.items()]:
        module = importlib.import_module(f"forerun.{source}")
        sys.modules[f"mxnet.{name}"] = module
        if "." not in name:
            setattr(root, name, module)


def uninstall_as_mxnet() -> None:
    """Undoes `install_as_mxnet`: `import mxnet` finds what is installed, if anything."""
    if hasattr(sys.modules.get("mxnet"), _MARK):
        for name in [n for n in sys.modules if n == "mxnet" or n.startswith("mxnet.")]:
            del sys.modules[name]


def _root() -> types.ModuleType:
    """The package itself, with what MXNet keeps at the top."""
    root = types.ModuleType("mxnet", "forerun under the name of MXNet.")
    root.__spec__ = importlib.machinery.ModuleSpec("mxnet", None, is_package=True)
    root.__path__ = []
    root.__version__ = "2.0.0"  # type: ignore[attr-defined]
    named = {
        _MARK: True,
        "waitall": npx.waitall,
        "Context": device.Device,
        "Device": device.Device,
        "cpu": device.cpu,
        "gpu": device.gpu,
        "num_gpus": device.num_gpus,
        "current_context": device.current_device,
        "current_device": device.current_device,
    }
    for name, value in named.items():
        setattr(root, name, value)
    return root
