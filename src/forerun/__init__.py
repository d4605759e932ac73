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
import sys
from typing import TYPE_CHECKING, Any

from ._runtime import blas as blas  # before anything else imports the core, or NumPy
from . import _core as _core
from ._wiring.engine import wire as _wire
from ._runtime import lifecycle as lifecycle
from ._runtime.settings import config as config
from ._runtime.settings import configure as configure
from ._runtime.settings import problem as _problem
from ._runtime.device import Device as Device
from ._runtime.device import cpu as cpu
from ._runtime.device import current_device as current_device
from ._runtime.device import devices as devices
from ._runtime.device import gpu as gpu
from ._runtime.device import num_gpus as num_gpus
from ._runtime.engine import empty_cache as empty_cache
from ._runtime.engine import memory as memory
from ._runtime.engine import stats as stats
from ._runtime.engine import wait as wait
from ._runtime.engine import waitall as waitall
from ._runtime.pacing import pace as pace
from ._runtime.pending import Pending as Pending
from ._runtime.pending import pending as pending

if TYPE_CHECKING:  # imported on first use
    from . import as_numpy as as_numpy
    from . import autograd as autograd
    from . import d2l as d2l
    from . import distributed as distributed
    from . import extend as extend
    from . import gluon as gluon
    from . import image as image
    from . import init as init
    from . import kvstore as kvstore
    from . import lr_scheduler as lr_scheduler
    from . import metric as metric
    from . import np as np
    from . import npx as npx
    from . import onnx as onnx
    from . import optimizer as optimizer
    from . import profiler as profiler
    from . import safetensors as safetensors
    from . import sklearn as sklearn
    from . import testing as testing
    from . import torch as torch
    from . import tour as tour
    from . import typing as typing
    from ._runtime.asyncio import as_completed as as_completed
    from ._runtime.asyncio import gather as gather
    from .as_numpy import install_as_numpy as install_as_numpy
    from ._display.progress import progress as progress
    from .compat import install_as_mxnet as install_as_mxnet
    from .profiler import graph as graph
    from ._capture.captured import hybrid as hybrid

__version__ = "0.1.0"

if _problem is not None:  # a variable of the environment has a wrong value
    raise _problem

_wire()

# Front ends are imported when they are first used, to keep `import forerun` short; functions, with the module of each.
_MODULES = (
    "as_numpy", "autograd", "d2l", "distributed", "extend", "gluon", "image", "init", "kvstore", "lr_scheduler",
    "metric", "np", "npx", "onnx", "optimizer", "profiler", "safetensors", "sklearn", "testing", "torch",
    "tour", "typing",
)  # fmt: skip
_FUNCTIONS = {
    "as_completed": "_runtime.asyncio", "gather": "_runtime.asyncio", "graph": "profiler",
    "hybrid": "_capture.captured",
    "install_as_mxnet": "compat", "install_as_numpy": "as_numpy", "progress": "_display.progress",
}  # fmt: skip

__all__ = [
    "Device", "Pending", "config", "configure", "cpu", "current_device", "devices", "empty_cache", "gpu", "memory",
    "num_gpus", "pace", "pending", "stats", "wait", "waitall", *_MODULES, *_FUNCTIONS,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "load_ipython_extension":  # IPython asks for it by `%load_ext forerun`
        return importlib.import_module(".profiler._hooks.magic", __name__).load_ipython_extension
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f".{_FUNCTIONS[name]}", __name__), name)
    raise AttributeError(f"module 'forerun' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__name__", "__version__"])


if os.environ.get("FORERUN_PROFILE"):  # before anything is issued
    importlib.import_module(".profiler.environment", __name__)
if os.environ.get("FORERUN_TOP") == "1":
    importlib.import_module("._live.server", __name__)
