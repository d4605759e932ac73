"""Libraries while NumPy is replaced: their functions get NumPy's arrays, scalars and functions in place of forerun's.

Most libraries convert what they are given. Those below look at the types of masks, keys, numbers and images in C, which
takes NumPy's alone.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from ..ops._base import core as _core
from ..ops._base.primitive import direct

__all__ = ["ADAPTED", "Libraries"]

# Modules whose public functions and classes are adapted, and further classes in them.
ADAPTED: dict[str, tuple[str, ...]] = {
    "pandas": (),
    "pandas.core.indexing": ("_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer"),
    "pandas.core.groupby": (),
    "pandas.core.window": (),
    "scipy.sparse": (),
    "h5py": (),
    "cv2": (),
}
_WRITERS = ("cv2",)  # modules with functions that write into arguments
_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"
)  # fmt: skip
# Special methods that get arguments of the program.
_SPECIAL = frozenset(
    [f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in _BINARY]
    + [f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")]
    + [f"__{name}__" for name in ("init", "new", "call", "getitem", "setitem", "delitem", "contains")]
)


class Libraries:
    """The adapted functions and methods.

    is_program: whether globals are those of the program's code, whose functions return forerun's values.
    """

    def __init__(self, is_program: Callable[[Mapping[str, Any]], bool]) -> None:
        self._is_program = is_program
        self._before: dict[str, list[tuple[Any, str, Any]]] = {}

    def adapt(self) -> None:
        """Adapt the modules that have been imported since the last call."""
        for name in ADAPTED.keys() - self._before:
            module = sys.modules.get(name)
            if module is not None and not getattr(module.__spec__, "_initializing", False):
                self._before[name] = list(
                    {(id(owner), key): (owner, key, f) for owner, key, f in _found(module)}.values()
                )
                for owner, key, function in self._before[name]:
                    self._replace(owner, key, function, name in _WRITERS)

    def restore(self) -> None:
        """Give the libraries their own functions back."""
        while self._before:
            _, functions = self._before.popitem()
            for owner, name, function in functions:
                setattr(owner, name, function)

    def _replace(self, owner: Any, name: str, function: Any, writes: bool) -> None:
        static = isinstance(function, staticmethod)
        adapted = self._adapted(function.__func__ if static else function, writes)
        setattr(owner, name, staticmethod(adapted) if static else adapted)

    def _adapted(self, function: Callable[..., Any], writes: bool) -> Callable[..., Any]:
        """Return a function that calls another one with NumPy's values in place of forerun's."""

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return function(*self.values(args), **self.values(kwargs))

        def call_and_write(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given: list[tuple[Any, numpy.ndarray]] = []
            result = function(*self.values(args, given), **self.values(kwargs, given))
            return _written(result, given)

        adapted: Callable[..., Any] = direct("adapted", call_and_write if writes else call)(function)
        return adapted

    def values(self, x: Any, given: list[tuple[Any, numpy.ndarray]] | None = None) -> Any:
        """Return NumPy's counterpart of an argument, also in tuples, lists, dicts and slices. Waits.

        given: gets the arrays, each with its copy.
        """
        if isinstance(x, _core.Array):
            if _core.is_scalar(x):
                return x.numpy()[()]
            copy = x.asnumpy()
            if given is not None:
                given.append((x, copy))
            return copy
        kind = type(x)
        if kind in (list, tuple):
            return kind([self.values(v, given) for v in x])
        if kind is dict:
            return {self.values(k): self.values(v, given) for k, v in x.items()}
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


def _written(result: Any, given: list[tuple[Any, numpy.ndarray]]) -> Any:
    """Copy what a function has written into the copies of arrays to the arrays, and return them for the copies."""
    for x, copy in given:
        if not numpy.array_equal(x.numpy(), copy):
            x[...] = copy
    own = {id(copy): x for x, copy in given}
    if isinstance(result, tuple):
        return tuple(own.get(id(v), v) for v in result)
    return own.get(id(result), result)


def _found(module: types.ModuleType) -> Iterator[tuple[Any, str, Any]]:
    """Yield public functions of a module, and methods of its public classes, with their owners and names."""
    library = module.__name__.partition(".")[0]
    for name, found in list(vars(module).items()):
        if not isinstance(found, type):
            if name[0] != "_" and inspect.isroutine(found):
                yield module, name, found
        elif name[0] != "_" or name in ADAPTED[module.__name__]:
            for base in found.__mro__:
                if base.__module__.partition(".")[0] == library and not issubclass(base, BaseException):
                    yield from _methods(base)


def _methods(kind: type) -> Iterator[tuple[Any, str, Any]]:
    """Yield the public methods of a class, but not those that C gives it."""
    for name, found in list(vars(kind).items()):
        if (name[0] != "_" or name in _SPECIAL) and inspect.isroutine(found) and not isinstance(found, _NOT_ADAPTED):
            yield kind, name, found


_NOT_ADAPTED = (
    classmethod, types.BuiltinFunctionType, types.ClassMethodDescriptorType, types.MethodDescriptorType,
    types.WrapperDescriptorType,
)  # fmt: skip
