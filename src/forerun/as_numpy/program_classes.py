"""Classes of the program, and NumPy's protocols: NumPy calls their methods with its own functions, which the program
knows as forerun's, and accepts nothing from `__array__` but its own arrays. Its functions may be their attributes."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ..ops._base import core as _core
from .conversion import aliased

__all__ = ["converted"]


@contextmanager
def converted(
    is_program: Callable[[Mapping[str, Any] | None], bool], counterpart: Callable[[Any], Any]
) -> Iterator[None]:
    """Inside, class statements of the program make classes whose `__array__` returns NumPy's arrays, and whose
    `__array_function__` and `__array_ufunc__` get the functions that the program has by their names. Functions that are
    written in C in NumPy get no instance.

    is_program: whether globals are those of the program's code.
    counterpart: returns the program's function in place of NumPy's.
    """
    build = builtins.__build_class__
    adapting: dict[str, Callable[[FunctionType], Callable[..., Any]]] = {
        "__array__": _returning_numpys,
        "__array_function__": functools.partial(_given, counterpart),
        "__array_ufunc__": functools.partial(_given, counterpart),
    }

    def build_class(body: Callable[..., Any], name: str, /, *bases: Any, **options: Any) -> Any:
        made = build(body, name, *bases, **options)
        if isinstance(made, type):
            for method_name, adapt in adapting.items():
                method = vars(made).get(method_name)
                if isinstance(method, FunctionType) and is_program(method.__globals__):
                    setattr(made, method_name, adapt(method))
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


def _given(counterpart: Callable[[Any], Any], method: FunctionType) -> Callable[..., Any]:
    """Return a method of a protocol whose first argument is a function."""

    @functools.wraps(method)
    def given(self: object, function: object, *args: object, **kwargs: object) -> object:
        return method(self, counterpart(function), *args, **kwargs)

    return given
