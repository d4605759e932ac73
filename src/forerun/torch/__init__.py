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

# ruff: noqa: F403, F405  # the modules below list their names themselves

from __future__ import annotations

import builtins
import math as _math
import sys as _sys
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .. import np as _np
from .._display.namespaces import dir_of
from .._runtime.device import Device as Device
from ..np import ndarray
from ..npx import load as load
from ..npx import save as _write
from . import cuda as cuda
from . import distributed as distributed
from . import methods as _methods
from .creation import *
from .drawing import *
from .dtypes import *
from .functions import *
from .grad import autograd as autograd
from .grad import enable_grad as enable_grad
from .grad import inference_mode as inference_mode
from .grad import is_grad_enabled as is_grad_enabled
from .grad import no_grad as no_grad
from .grad import set_grad_enabled as set_grad_enabled
from .orders import *
from .places import device as device
from .reductions import *
from .shapes import *

if _TYPE_CHECKING:
    from ..typing import FileLike as _FileLike

_methods.install()

from . import nn as nn  # noqa: E402
from . import optim as optim  # noqa: E402
from . import utils as utils  # noqa: E402

__all__ = [
    "abs", "acos", "add", "all", "allclose", "amax", "amin", "any", "arange", "argmax", "argmin", "argsort",
    "as_tensor", "asin", "atan", "atan2", "autograd", "bernoulli", "bmm", "bool", "broadcast_to", "cat", "ceil",
    "chunk", "clamp", "clone", "complex128", "complex64", "concat", "cos", "cosh", "cuda", "cumprod", "cumsum",
    "Device", "device", "diag", "distributed", "div", "dot", "double", "dtype", "e", "einsum", "empty",
    "empty_like", "enable_grad", "eq", "equal", "exp", "expm1", "eye", "finfo", "flatten", "flip", "float",
    "float16", "float32", "float64", "floor", "from_numpy", "full", "full_like", "gather", "ge", "gt", "half",
    "iinfo", "index_select", "inf", "inference_mode", "int", "int16", "int32", "int64", "int8", "is_grad_enabled",
    "is_tensor", "isclose", "isfinite", "isinf", "isnan", "le", "linspace", "load", "log", "log10", "log1p",
    "log2", "log_softmax", "logical_and", "logical_not", "logical_or", "logsumexp", "long", "lt", "manual_seed",
    "masked_fill", "matmul", "max", "maximum", "mean", "meshgrid", "min", "minimum", "mm", "mul", "mv", "nan",
    "ne", "neg", "nn", "no_grad", "nonzero", "norm", "normal", "numel", "ones", "ones_like", "optim", "outer",
    "permute", "pi", "pow", "prod", "rand", "rand_like", "randint", "randn", "randn_like", "randperm",
    "reciprocal", "relu", "remainder", "repeat_interleave", "reshape", "roll", "round", "rsqrt", "save", "seed",
    "set_grad_enabled", "short", "sigmoid", "sign", "sin", "sinh", "Size", "softmax", "sort", "split", "sqrt",
    "square", "squeeze", "stack", "std", "sub", "sum", "t", "tan", "tanh", "Tensor", "tensor", "tensordot", "tile",
    "topk", "trace", "transpose", "tril", "triu", "trunc", "uint8", "unique", "unsqueeze", "utils", "var", "where",
    "zeros", "zeros_like",
]  # fmt: skip
__dir__ = dir_of(__name__)

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
        message += f": {_INSTEAD[name]} (docs/howto/frameworks.md)"
    elif not name.startswith("_") and hasattr(_np, name):
        message += f"; forerun.np.{name} exists"
    raise AttributeError(message, name=name, obj=_sys.modules[__name__])


del annotations
