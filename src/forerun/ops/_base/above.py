"""Functions of modules above this folder that modules in it call. `_wiring.arrays` sets them as `np` is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["call_ufunc", "stack"]

# Of `ops.shape.join`: the arrays of a list along a new axis, with the gradient of that.
stack: Callable[[list[Any]], Array]
# Of `_array.ufunc_protocol`: a method of a ufunc, such as `add.reduce`, which needs the operations of all folders.
call_ufunc: Callable[..., Any]
