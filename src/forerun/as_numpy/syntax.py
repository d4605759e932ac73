"""Operators and indices with operands that forerun refuses, while NumPy is replaced: NumPy's arrays do them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .._array.numpy_methods import without_values
from .._array.scalar import scalar
from ..ops._base import core as _core
from ..ops._base.convert import is_array, is_supported
from .conversion import Numpy, first_line, is_derived, values

if TYPE_CHECKING:
    from ..typing import Out

__all__ = ["Syntax"]


def _getitem(x: Any, key: Any) -> Any:
    """Return the elements that NumPy's array picks. Its errors come without a wait."""
    if not is_array(x):
        return x[key]
    without_values(x)[key]
    return x.numpy()[key]


def _setitem(x: Any, key: Any, value: Any) -> None:
    """Write into an array by a copy, into which NumPy writes. Arrays of derived classes are written as plain ones."""
    if not is_array(x):
        operator.setitem(x, key, value)
        return
    if is_derived(value) and value.ndim and is_supported(value.dtype) and (value.size != 1 or _bare(x)[key].ndim):
        x[key] = value.view(numpy.ndarray)
        return
    written = x.asnumpy()
    written.flags.writeable = _core.is_writable(x)
    written[key] = value
    x[...] = written


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "left_shift": operator.lshift,
    "right_shift": operator.rshift, "less": operator.lt, "less_equal": operator.le, "equal": operator.eq,
    "not_equal": operator.ne, "greater": operator.gt, "greater_equal": operator.ge, "matmul": operator.matmul,
    "getitem": _getitem, "setitem": _setitem,
}  # fmt: skip
_KEEP_ARRAY = ("getitem", "setitem")  # whose first operand is not converted
_FEW = 4096  # elements for which memory is had in less time than a view that repeats one


def _bare(x: Any) -> Any:
    """Return NumPy's array or scalar with the dtype and shape of forerun's, and other values; others as they are."""
    if isinstance(x, scalar):
        return x.dtype.type()
    if not is_array(x):
        return x
    return numpy.empty(x.shape, x.dtype) if x.size <= _FEW else without_values(x)


class Syntax:
    """Apply the operator that the core names to NumPy's arrays; see `_core.set_fallback`."""

    def __init__(self, calls: Numpy) -> None:
        self._calls = calls

    def __call__(self, error: Exception | None, name: str, operands: tuple[Any, ...], out: Out) -> Any:
        if isinstance(error, IndexError) and name in _KEEP_ARRAY:
            _bare(operands[0])[values(operands[1])]  # raises NumPy's error: programs ask whether there is an element
        why = first_line(error) if error else f"{name}: operands must be numbers or arrays"
        given = tuple(x.numpy()[()] if isinstance(x, scalar) else x for x in operands)
        if name in _KEEP_ARRAY:
            x, *others = given
            return self._calls.call(name, lambda *args: _FUNCTIONS[name](x, *args), tuple(others), {}, why)
        if any(map(_decides, operands)):
            return NotImplemented
        if out is not None:
            return self._calls.call(name, getattr(numpy, name), given, {"out": out}, why)
        return self._calls.call(name, _FUNCTIONS[name], given, {}, why)


def _decides(x: Any) -> bool:
    """Return whether NumPy's arrays leave an operator to the other operand."""
    if isinstance(x, (_core.Array, numpy.ndarray)):
        return False
    kind: Any = type(x)
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    return bool(getattr(kind, "__array_priority__", 0) > 0)
