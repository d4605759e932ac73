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
from typing import Any

from . import _blas as _blas  # before anything else imports NumPy
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

__version__ = "0.1.0"

_wiring.wire_engine()

_lazy = (
    "np", "autograd", "npx", "gluon", "init", "torch", "d2l", "profiler", "optimizer", "lr_scheduler", "metric",
    "image", "tour", "safetensors", "as_numpy",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    # Front ends are imported when they are first used, to keep `import forerun` short.
    if name in _lazy:
        module = importlib.import_module(f".{name}", __name__)
        globals()[name] = module
        return module
    if name in ("gather", "as_completed"):
        return getattr(importlib.import_module(".aio", __name__), name)
    if name == "progress":
        return importlib.import_module(".bars", __name__).progress
    if name == "graph":
        return importlib.import_module(".profiler", __name__).graph
    if name == "hybrid":
        return importlib.import_module(".recorded", __name__).hybrid
    if name == "install_as_numpy":
        return importlib.import_module(".as_numpy", __name__).install_as_numpy
    if name == "install_as_mxnet":
        return importlib.import_module(".compat", __name__).install_as_mxnet
    raise AttributeError(f"module 'forerun' has no attribute {name!r}")


if os.environ.get("FORERUN_PROFILE"):  # before anything is issued
    importlib.import_module(".profiler.environment", __name__)
