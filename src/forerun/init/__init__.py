"""How parameters start: callables that fill an array in place, with draws made on the array's device.

>>> from forerun import init, np
>>> w = np.zeros((2, 3))
>>> init.create("ones")(w)
>>> w.tolist()
[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]

A new way to start is a subclass that overrides `_init_weight(name, data)`. Nothing here waits for values.
"""

from __future__ import annotations

from .._display.namespaces import dir_of
from .base import InitDesc, Initializer, alias, create, register
from .by_parameter import Load, Mixed
from .drawn import He, MSRAPrelu, Normal, Orthogonal, TruncNorm, Uniform, Xavier
from .fixed import Bilinear, Constant, LSTMBias, One, Zero

__all__ = [
    "Initializer", "Zero", "One", "Constant", "Uniform", "Normal", "TruncNorm", "Xavier", "MSRAPrelu", "He",
    "Orthogonal", "Bilinear", "LSTMBias", "Mixed", "Load", "InitDesc", "alias", "create", "register",
]  # fmt: skip
__dir__ = dir_of(__name__)
