"""pandas while NumPy is replaced: its functions get NumPy's arrays, scalars and functions in place of forerun's.

pandas looks at the types of masks, keys and numbers in C, where only NumPy's will do.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..ops._base import core as _core
from ..ops._base.primitive import direct

__all__ = ["Frames"]

# Special methods with arguments of the program, besides the operators.
_SPECIAL = ("__init__", "__new__", "__call__", "__getitem__", "__setitem__", "__delitem__", "__contains__")
# Classes that are no names of pandas itself, by module.
_MORE = {
    "pandas.core.indexing": ("_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer"),
    "pandas.core.groupby": ("DataFrameGroupBy", "SeriesGroupBy"),
    "pandas.core.window": ("Rolling", "Expanding", "ExponentialMovingWindow"),
}


class Frames:
    """The adapted functions and methods of pandas.

    is_program: whether globals are those of the program's code, whose functions return forerun's values.
    """

    def __init__(self, is_program: Callable[[Mapping[str, Any]], bool]) -> None:
        self._is_program = is_program
        self._before: list[tuple[Any, str, Any]] = []

    def adapt(self) -> None:
        """Adapt pandas if it has been imported."""
        pandas = sys.modules.get("pandas")
        if self._before or not hasattr(pandas, "DataFrame") or not hasattr(pandas, "__version__"):
            return  # done already, or not yet imported as a whole
        for owner, name, function in [*_functions(pandas), *_methods(pandas)]:
            self._before.append((owner, name, function))
            plain = function.__func__ if isinstance(function, staticmethod) else function
            adapted = self._adapted(plain)
            setattr(owner, name, staticmethod(adapted) if isinstance(function, staticmethod) else adapted)

    def restore(self) -> None:
        """Give pandas its own functions back."""
        for owner, name, function in self._before:
            setattr(owner, name, function)
        self._before.clear()

    def _adapted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls another one with NumPy's values in place of forerun's."""

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return function(*self.values(args), **self.values(kwargs))

        adapted: Callable[..., Any] = direct("adapted", call)(function)
        return adapted

    def values(self, x: Any) -> Any:
        """Return NumPy's counterpart of an argument, also in tuples, lists, dicts and slices. Waits."""
        if isinstance(x, _core.Array):
            return x.numpy()[()] if _core.is_scalar(x) else x.asnumpy()
        kind = type(x)
        if kind in (list, tuple):
            return kind(map(self.values, x))
        if kind is dict:
            return {self.values(k): self.values(v) for k, v in x.items()}
        if kind is slice:
            return slice(self.values(x.start), self.values(x.stop), self.values(x.step))
        if isinstance(x, _core.Ufunc):
            return x.ufunc
        if isinstance(x, _core.Fallback):
            return getattr(x, "numpys", x)
        if isinstance(x, types.FunctionType) and self._is_program(x.__globals__):
            return self._returning(x)
        return x

    def _returning(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the program's with NumPy's values as results."""

        @functools.wraps(function)
        def returning(*args: Any, **kwargs: Any) -> Any:
            return self.values(function(*args, **kwargs))

        return returning


def _functions(pandas: types.ModuleType) -> Iterator[tuple[Any, str, Any]]:
    """Yield the functions of pandas itself, with the module and their names."""
    for name, found in vars(pandas).items():
        if isinstance(found, types.FunctionType) and name[0] != "_":
            yield pandas, name, found


def _methods(pandas: types.ModuleType) -> Iterator[tuple[Any, str, Any]]:
    """Yield the methods of classes of pandas that programs call, with the class and their names."""
    kinds = [kind for kind in vars(pandas).values() if isinstance(kind, type)]
    for module, names in _MORE.items():
        kinds += [getattr(sys.modules[module], name) for name in names]
    for base in dict.fromkeys(base for kind in kinds for base in kind.__mro__):
        if base.__module__.partition(".")[0] != "pandas" or issubclass(base, BaseException):
            continue
        for name, found in list(vars(base).items()):
            operator = base.__name__ == "OpsMixin" and name != "__module__"
            if isinstance(found, (types.FunctionType, staticmethod)) and (name[0] != "_" or name in _SPECIAL or operator):
                yield base, name, found
