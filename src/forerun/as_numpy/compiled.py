"""Compiled functions and forerun arrays: those that Numba compiles, with NumPy's functions in place of forerun's in
them, and those of the program's own extension modules."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from typing import Any, cast

import numpy

from ..ops._base import core as _core
from .conversion import aliased, as_forerun, back, each_inside, values

__all__ = ["calling", "extension_modules", "named", "passing", "written"]

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


# --- extension modules of the program ------------------------------------------------------------------

_Given = dict[int, tuple[object, object]]  # arguments that are forerun arrays, by NumPy's in their place
_FUNCTIONS = ("builtin_function_or_method", "cython_function_or_method", "nb_func")  # of C, Cython and nanobind


@contextmanager
def extension_modules(is_program: Callable[[str], bool]) -> Iterator[None]:
    """Inside, functions of the program's own extension modules get NumPy's arrays on the memory of forerun's.

    is_program: whether a file is the program's.
    """
    before = ExtensionFileLoader.exec_module

    def exec_module(self: ExtensionFileLoader, module: types.ModuleType) -> None:
        before(self, module)
        if type(module) is types.ModuleType and is_program(self.path):
            module.__class__ = _Extension

    setattr(ExtensionFileLoader, "exec_module", exec_module)  # noqa: B010
    try:
        yield
    finally:
        if ExtensionFileLoader.exec_module is exec_module:
            setattr(ExtensionFileLoader, "exec_module", before)  # noqa: B010


class _Extension(types.ModuleType):
    """An extension module as others see it. Its own code finds its functions as they are."""

    def __getattribute__(self, name: str) -> object:
        found: object = super().__getattribute__(name)
        if type(found).__name__ not in _FUNCTIONS:
            return found
        function = cast("Callable[..., object]", found)
        within, here = (str(v).rpartition(".")[2] for v in (function.__module__, super().__getattribute__("__name__")))
        return passing(function) if within == here else function


@functools.cache
def passing(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function in C for forerun arrays: it reads and writes their memory. New arrays are forerun's then."""

    @functools.wraps(function)
    def called(*args: object, **kwargs: object) -> object:
        given: _Given = {}
        result = function(*[_passed(x, given) for x in args], **{name: _passed(x, given) for name, x in kwargs.items()})
        return _returned(result, given) if given else result

    return called


def _passed(x: object, given: _Given) -> object:
    """Return NumPy's counterpart of an argument, also in lists, and note each of them with its array."""
    if not isinstance(x, _core.Array):
        return x if type(x) in _PASSED else each_inside(x, lambda v: _passed(v, given))
    seen = aliased(x)
    given[id(seen)] = x, seen
    return seen


def _returned(x: object, given: _Given) -> object:
    """Return the array for an argument among results, and a new array as forerun's; views remain NumPy's."""
    if id(x) in given:
        return given[id(x)][0]
    if type(x) is numpy.ndarray:
        return back(x) if x.base is None else x
    return each_inside(x, lambda v: _returned(v, given))
