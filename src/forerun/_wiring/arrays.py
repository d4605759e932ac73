"""The classes and functions that arrays call."""

from __future__ import annotations

import importlib.util
from typing import Any

from .. import _core
from .._array.ndarray import ndarray
from .._array.numpy_index import no_index
from .._array.scalar import scalar
from .._array.ufunc_protocol import call_with_an_array
from .._codegen.compiler import compile_loop
from ..ops._base import above, convert
from ..ops._base.promotion import promotion_table
from ..ops.elementwise.table import OPERATIONS
from ..ops.index.flatiter import flatiter
from ..ops.index.getitem import getitem
from ..ops.index.setitem import setitem
from ..ops.linalg.matmul import matmul
from ..ops.shape.axis_order import transpose
from ..ops.shape.fit import fitted
from ..ops.shape.join import stack

__all__ = ["table", "wire"]


def table() -> dict[str, Any]:
    """Return the functions and classes by the names that the core gives them."""
    operators = {op.operator: op for op in OPERATIONS.values() if op.operator}
    return {
        "array": ndarray,
        "scalar": scalar,
        "flat": flatiter,
        "promotion": promotion_table(),
        "compile_loop": compile_loop,
        "getitem": getitem,
        "setitem": setitem,
        "matmul": matmul,
        "fit": fitted,
        "asarray": convert.asarray,
        "array_of_list": convert.array_of_list,
        "transpose": transpose,
        "no_index": no_index,
        **operators,
    }


def wire() -> None:
    """Register the classes and functions of arrays. RuntimeError, which names it, if one is missing."""
    _core.wire("arrays", table())
    above.stack = stack
    above.call_ufunc = call_with_an_array
    if importlib.util.find_spec("llvmlite"):
        _core.open_loop_compiler()
