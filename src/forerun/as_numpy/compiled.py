"""Functions that Numba compiles: calls with forerun arrays, and NumPy's functions in place of forerun's in them."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy

from ..ops._base import core as _core
from .conversion import as_forerun, values

__all__ = ["calling", "named", "written"]

_PASSED = frozenset((bool, int, float, complex, str, type(None)))
_FEW = 1024  # elements that are compared as bytes


def calling(
    function: Callable[..., Any], convert: Callable[[Any, Any], Any], is_program: Callable[[Any], bool]
) -> Callable[..., Any]:
    """Return the call of a compiled function for arguments of forerun's. The program gets its arrays as forerun's.

    convert: returns NumPy's counterpart of an argument, and adds arrays with their copies to a list. is_program:
    whether globals are those of the program's code.
    """

    @functools.wraps(function)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        given: list[tuple[Any, numpy.ndarray]] = []
        converted = [x if type(x) in _PASSED else convert(x, given) for x in args]
        named = {name: convert(x, given) for name, x in kwargs.items()} if kwargs else kwargs
        result = function(self, *converted, **named)
        if given:
            result = written(result, given)
        has_arrays = isinstance(result, (numpy.ndarray, tuple))
        return _made(result) if has_arrays and is_program(sys._getframe(1).f_globals) else result

    return called


def written(result: Any, given: list[tuple[Any, numpy.ndarray]]) -> Any:
    """Copy the values that a function has written into copies back to the arrays, and return these for the copies."""
    if not given:
        return result
    changed = [(x, copy) for x, copy in given if not _same(x.numpy(), copy)]  # before one is written: they may overlap
    for x, copy in changed:
        x[...] = copy
    own = {id(copy): x for x, copy in given}
    if isinstance(result, tuple):
        return tuple(own.get(id(v), v) for v in result)
    return own.get(id(result), result)


def _same(before: numpy.ndarray, after: numpy.ndarray) -> bool:
    return before.tobytes() == after.tobytes() if after.size < _FEW else numpy.array_equal(before, after)


def _made(result: Any) -> Any:
    """Return arrays that the compiled function has made, and nothing else refers to, as forerun arrays."""
    if type(result) is numpy.ndarray:
        return as_forerun(result) if getattr(result.base, "refcount", 2) == 1 else result
    return type(result)(map(_made, result)) if type(result) is tuple else result


def named(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that looks up a name for Numba, with NumPy's counterpart of forerun's values."""

    @functools.wraps(function)
    def found(*args: Any) -> Any:
        return _counterpart(function(*args))

    return found


def _counterpart(x: Any) -> Any:
    if isinstance(x, types.ModuleType):
        return sys.modules.get(x.__name__, x) if x.__name__.partition(".")[0] == "numpy" else x
    if isinstance(x, _core.Ufunc):
        return x.ufunc
    if isinstance(x, _core.Fallback):
        return getattr(x, "numpy_function", x)
    if isinstance(x, types.FunctionType) and x.__module__ == "numpy":
        return getattr(x, "__wrapped__", x)
    return values(x) if isinstance(x, (_core.Array, tuple)) else x
