"""forerun: NumPy that runs ahead.

Array operations are issued and return at once; a native engine runs them asynchronously and in parallel, in bounded
memory. Reading a value waits for it.

>>> from forerun import np
>>> x = np.ones((1, 2))
>>> y = x * 2 + 1     # returns at once
>>> print(y)          # waits
[[3. 3.]]
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from . import _blas as _blas  # before anything else imports the core, or NumPy
from . import _core as _core
from . import _wiring as _wiring
from . import lifecycle as lifecycle
from .config import config as config
from .config import configure as configure
from .device import Device as Device
from .device import cpu as cpu
from .device import current_device as current_device
from .device import devices as devices
from .device import gpu as gpu
from .device import num_gpus as num_gpus
from .engine import empty_cache as empty_cache
from .engine import memory as memory
from .engine import stats as stats
from .engine import wait as wait
from .engine import waitall as waitall
from .pace import pace as pace
from .pending import Pending as Pending
from .pending import pending as pending

if TYPE_CHECKING:  # what is imported when it is first used
    from . import as_numpy as as_numpy
    from . import autograd as autograd
    from . import d2l as d2l
    from . import extend as extend
    from . import gluon as gluon
    from . import image as image
    from . import init as init
    from . import lr_scheduler as lr_scheduler
    from . import metric as metric
    from . import np as np
    from . import npx as npx
    from . import optimizer as optimizer
    from . import profiler as profiler
    from . import safetensors as safetensors
    from . import testing as testing
    from . import torch as torch
    from . import tour as tour
    from . import typing as typing
    from .aio import as_completed as as_completed
    from .aio import gather as gather
    from .as_numpy import install_as_numpy as install_as_numpy
    from .bars import progress as progress
    from .compat import install_as_mxnet as install_as_mxnet
    from .profiler import graph as graph  # type: ignore[no-redef]  # which has a module of that name
    from .recorded import hybrid as hybrid

__version__ = "0.1.0"

_wiring.wire_engine()

# Front ends are imported when they are first used, to keep `import forerun` short; functions, with the module of each.
_MODULES = (
    "as_numpy", "autograd", "d2l", "extend", "gluon", "image", "init", "lr_scheduler", "metric", "np", "npx",
    "optimizer", "profiler", "safetensors", "testing", "torch", "tour", "typing",
)  # fmt: skip
_FUNCTIONS = {
    "as_completed": "aio", "gather": "aio", "graph": "profiler", "hybrid": "recorded", "install_as_mxnet": "compat",
    "install_as_numpy": "as_numpy", "progress": "bars",
}  # fmt: skip

__all__ = [
    "Device", "Pending", "config", "configure", "cpu", "current_device", "devices", "empty_cache", "gpu", "memory",
    "num_gpus", "pace", "pending", "stats", "wait", "waitall", *_MODULES, *_FUNCTIONS,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f".{_FUNCTIONS[name]}", __name__), name)
    raise AttributeError(f"module 'forerun' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__name__", "__version__"])


if os.environ.get("FORERUN_PROFILE"):  # before anything is issued
    importlib.import_module(".profiler.environment", __name__)
