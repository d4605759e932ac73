"""The element-wise operations that are ufuncs of NumPy's, by name."""

from __future__ import annotations

from .._base.primitive import Elementwise
from . import arithmetic, bitwise, exponential

__all__ = ["OPERATIONS"]

OPERATIONS: dict[str, Elementwise] = {
    op.name: op
    for module in (arithmetic, bitwise, exponential)
    for op in vars(module).values()
    if isinstance(op, Elementwise)
}
