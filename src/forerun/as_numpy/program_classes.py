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
from .conversion import WRITERS, aliased, back, each_inside, taken
from .derived import add_base

__all__ = ["converted"]


@contextmanager
def converted(
    is_program: Callable[[Mapping[str, Any] | None], bool], counterpart: Callable[[Any], Any]
) -> Iterator[None]:
    """Inside, class statements of the program make classes whose `__array__` returns NumPy's arrays, and whose
    `__array_function__` and `__array_ufunc__` get the functions that the program has by their names. Their
    `__array_finalize__` and `__array_wrap__` get forerun's arrays, and the latter the program's ufunc. Functions that
    are written in C in NumPy get no instance.

    is_program: whether globals are those of the program's code.
    counterpart: returns the program's function in place of NumPy's.
    """
    build = builtins.__build_class__
    adapting: dict[str, Callable[[FunctionType], Callable[..., Any]]] = {
        "__array__": _returning_numpys,
        "__array_finalize__": _finalizing,
        "__array_wrap__": functools.partial(_wrapping, counterpart),
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
                    add_base(method_name, made)
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


def _wrapping(counterpart: Callable[[Any], Any], method: FunctionType) -> Callable[..., Any]:
    """Return `__array_wrap__` that gets forerun's array on the same memory, which the program may view as its class,
    and in its context the ufunc that the program has."""

    @functools.wraps(method)
    def wrap(self: object, array: Any, *args: Any, **kwargs: object) -> object:
        if args and type(args[0]) is tuple:
            context = args[0]
            args = ((counterpart(context[0]), *context[1:]), *args[1:])
        shared = _core.shared_with_numpy(array) if type(array) is numpy.ndarray else None
        if shared is None:
            return method(self, array, *args, **kwargs)
        found = method(self, shared, *args, **kwargs)
        return array if found is shared else found

    return wrap


def _as_programs(x: object) -> object:
    """Return an array of NumPy's own class as a forerun array, where its dtype allows that."""
    if type(x) is not numpy.ndarray or not is_supported(x.dtype):
        return x
    try:
        return taken(x)
    except (BufferError, TypeError, ValueError):
        return x


def _dispatching(counterpart: Callable[[Any], Any], method: FunctionType) -> Callable[..., Any]:
    """Return `__array_function__` that gets the program's function, its class of arrays among the types, and copies of
    NumPy's arrays as forerun's."""

    @functools.wraps(method)
    def dispatch(self: object, function: object, types: Iterable[type], args: Any, kwargs: Any) -> object:
        known = tuple(np.ndarray if kind is numpy.ndarray else kind for kind in types)
        copies: dict[int, Any] = {}
        given = tuple(_copied(x, copies) for x in args), {name: _copied(x, copies) for name, x in kwargs.items()}
        if not copies:
            return method(self, counterpart(function), known, args, kwargs)
        found = method(self, counterpart(function), known, *given)
        changed = args[:1] if getattr(function, "__name__", None) in WRITERS else ()
        return _written((*changed, *_outs(kwargs)), copies, found)

    return dispatch


def _copied(x: object, copies: dict[int, Any]) -> object:
    """Return a copy of NumPy's array as forerun's, also in lists, tuples and dicts, and note it by the array's id."""
    if type(x) is not numpy.ndarray:
        return each_inside(x, functools.partial(_copied, copies=copies))
    if id(x) not in copies:
        copies[id(x)] = back(x)
    return copies[id(x)]


def _outs(kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arrays that a call is to write."""
    out = kwargs.get("out")
    return out if isinstance(out, tuple) else () if out is None else (out,)


def _written(outs: Iterable[Any], copies: Mapping[int, Any], found: object) -> object:
    """Copy the values that a method has written into copies to NumPy's arrays. Return its result, or the array."""
    for out in outs:
        copy = copies.get(id(out), out)
        if copy is not out:
            numpy.copyto(out, copy.numpy())
            found = out if found is copy else found
    return found


def _given(counterpart: Callable[[Any], Any], method: FunctionType) -> Callable[..., Any]:
    """Return `__array_ufunc__` that gets the program's function, and copies of NumPy's arrays as forerun's."""

    @functools.wraps(method)
    def given(self: object, function: object, how: str, *inputs: object, **kwargs: Any) -> object:
        copies: dict[int, Any] = {}
        taken = tuple(_copied(x, copies) if type(x) is numpy.ndarray else x for x in inputs)
        outs = _outs(kwargs)
        if outs:
            kwargs["out"] = tuple(_copied(x, copies) for x in outs)
        return _written(outs, copies, method(self, counterpart(function), how, *taken, **kwargs))

    return given
