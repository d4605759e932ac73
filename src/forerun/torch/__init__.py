"""PyTorch's spelling for the same arrays and the same engine, as far as programs of neural networks use it.

A tensor is the array of `forerun.np`; importing this module gives the class PyTorch's methods where it has no method of
that name (`methods` says which mean NumPy's). Functions return at once, on CPUs too.

>>> from forerun import torch
>>> x = torch.randn(size=(4, 3))
>>> w = torch.ones(3, 1, requires_grad=True)
>>> (x.mm(w) ** 2).mean().backward()
>>> w.grad.shape
(3, 1)
"""

from __future__ import annotations

import builtins
import math as _math
import sys as _sys
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .. import np as _np
from .._runtime.device import Device as Device
from ..np import ndarray
from ..npx import load as load
from ..npx import save as _write
from . import cuda as cuda
from . import distributed as distributed
from . import methods as _methods
from .creation import *  # noqa: F403
from .drawing import *  # noqa: F403
from .dtypes import *  # noqa: F403
from .functions import *  # noqa: F403
from .grad import autograd as autograd
from .grad import enable_grad as enable_grad
from .grad import inference_mode as inference_mode
from .grad import is_grad_enabled as is_grad_enabled
from .grad import no_grad as no_grad
from .grad import set_grad_enabled as set_grad_enabled
from .orders import *  # noqa: F403
from .places import device as device
from .reductions import *  # noqa: F403
from .shapes import *  # noqa: F403

if _TYPE_CHECKING:
    from ..typing import FileLike as _FileLike

_methods.install()

from . import nn as nn  # noqa: E402
from . import optim as optim  # noqa: E402
from . import utils as utils  # noqa: E402

Tensor, Size = ndarray, tuple
pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan


def save(
    tensors: ndarray | _Sequence[ndarray] | _Mapping[str, ndarray], file: _FileLike, *, wait: builtins.bool = True
) -> ndarray:
    """Save a tensor, a list of tensors or a state dict to a file for `load`.

    Parameters
    ----------
    tensors : Tensor, sequence or dict of Tensor
        The tensors.
    file : path
        The file.
    wait : bool, default True
        Whether the file is written when the call returns; else the call returns at once.

    Returns
    -------
    Tensor
        The size of the file.

    Examples
    --------
    >>> from forerun import torch
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = torch.save(torch.ones(2), f"{folder}/x.npz")
    >>> size.item() > 0
    True
    """
    return _write(file, tensors, wait=wait)


_INSTEAD = {  # of PyTorch's names that programs often use
    "compile": "no call is needed: operations are fused as they are issued; `net.hybridize()` captures a network",
    "jit": "no call is needed: operations are fused as they are issued; `net.hybridize()` captures a network",
    "sparse": "arrays are dense",
    "fft": "use forerun.np.fft",
    "linalg": "use forerun.np.linalg",
}


def __getattr__(name: str) -> object:
    message = f"module {__name__!r} has no attribute {name!r}"
    if name in _INSTEAD:
        message += f": {_INSTEAD[name]} (docs/howto/pytorch.md)"
    elif not name.startswith("_") and hasattr(_np, name):
        message += f"; forerun.np.{name} exists"
    raise AttributeError(message, name=name, obj=_sys.modules[__name__])


del annotations
