"""Classes of the program, and NumPy's protocols: NumPy calls their methods with its own functions, which the program
knows as forerun's, and accepts nothing from `__array__` but its own arrays. Its functions may be their attributes."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy

from .. import np
from ..ops._base import core as _core
from ..ops._base.convert import is_supported
from .conversion import aliased, back, taken
from .derived import dispatch_functions

__all__ = ["converted"]


@contextmanager
def converted(
    is_program: Callable[[Mapping[str, Any] | None], bool], counterpart: Callable[[Any], Any]
) -> Iterator[None]:
    """Inside, class statements of the program make classes whose `__array__` returns NumPy's arrays, and whose
    `__array_function__` and `__array_ufunc__` get the functions that the program has by their names. Their
    `__array_finalize__` gets forerun's arrays. Functions that are written in C in NumPy get no instance.

    is_program: whether globals are those of the program's code.
    counterpart: returns the program's function in place of NumPy's.
    """
    build = builtins.__build_class__
    adapting: dict[str, Callable[[FunctionType], Callable[..., Any]]] = {
        "__array__": _returning_numpys,
        "__array_finalize__": _finalizing,
        "__array_function__": functools.partial(_dispatching, counterpart),
        "__array_ufunc__": functools.partial(_given, counterpart),
    }

    def build_class(body: Callable[..., Any], name: str, /, *bases: Any, **options: Any) -> Any:
        made = build(body, name, *bases, **options)
        if isinstance(made, type):
            for method_name, adapt in adapting.items():
                method = vars(made).get(method_name)
                if isinstance(method, FunctionType) and is_program(method.__globals__):
                    setattr(made, method_name, adapt(method))
                    if method_name == "__array_function__":
                        dispatch_functions()
            for key, value in list(vars(made).items()):
                if isinstance(value, _core.Fallback) and not _becomes_a_method(value):
                    setattr(made, key, staticmethod(value))
        return made

    builtins.__build_class__ = build_class
    try:
        yield
    finally:
        if builtins.__build_class__ is build_class:
            builtins.__build_class__ = build


def _becomes_a_method(function: object) -> bool:
    """Return whether NumPy's function gets the instance as an argument where it is an attribute of a class.

    One written in C does not: `make = np.array` in a class is called as `self.make([1, 2])`.
    """
    return hasattr(type(getattr(function, "numpy_function", function)), "__get__")


def _returning_numpys(method: FunctionType) -> Callable[..., Any]:
    """Return `__array__` whose result has the memory of the program's array: writes to either are seen by the other."""

    @functools.wraps(method)
    def array(*args: Any, **kwargs: Any) -> Any:
        return aliased(method(*args, **kwargs))

    vars(array)["unconverted"] = method  # which forerun's `asarray` calls
    return array


def _finalizing(method: FunctionType) -> Callable[..., Any]:
    """Return `__array_finalize__` for which an array of no derived class is of the class that the program knows."""

    @functools.wraps(method)
    def finalize(self: object, obj: object, *args: object) -> object:
        return method(self, _as_programs(obj), *args)

    return finalize


def _as_programs(x: object) -> object:
    """Return an array of NumPy's own class as a forerun array, where its dtype allows that."""
    if type(x) is not numpy.ndarray or not is_supported(x.dtype):
        return x
    try:
        return taken(x)
    except (BufferError, TypeError, ValueError):
        return x


def _dispatching(counterpart: Callable[[Any], Any], method: FunctionType) -> Callable[..., Any]:
    """Return `__array_function__` that gets the program's function, and its class of arrays among the types."""

    @functools.wraps(method)
    def dispatch(self: object, function: object, types: Iterable[type], *args: object, **kwargs: object) -> object:
        known = tuple(np.ndarray if kind is numpy.ndarray else kind for kind in types)
        return method(self, counterpart(function), known, *args, **kwargs)

    return dispatch


def _given(counterpart: Callable[[Any], Any], method: FunctionType) -> Callable[..., Any]:
    """Return `__array_ufunc__` that gets the program's function, and copies of NumPy's arrays as forerun's."""

    @functools.wraps(method)
    def given(self: object, function: object, how: str, *inputs: object, **kwargs: Any) -> object:
        outs = kwargs.get("out") or ()
        copies = {id(x): back(x) for x in (*inputs, *outs) if type(x) is numpy.ndarray}
        if not copies:
            return method(self, counterpart(function), how, *inputs, **kwargs)
        if outs:
            kwargs["out"] = tuple(copies.get(id(x), x) for x in outs)
        found = method(self, counterpart(function), how, *[copies.get(id(x), x) for x in inputs], **kwargs)
        for new, out in zip(kwargs.get("out") or (), outs):
            if new is not out:
                numpy.copyto(out, new.numpy())
                found = out if found is new else found
        return found

    return given
