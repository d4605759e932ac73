"""Classes that programs derive from `numpy.ndarray`, and its methods that they call through the class."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .. import np
from ..ops._base import core as _core
from ..ops._base.convert import is_supported
from .conversion import aliased, delivered, each_inside, values

__all__ = ["BASES", "METHODS", "Base", "Overriding", "Unbound", "add_base", "attributes"]


def _view(kind: type) -> Callable[..., Any]:
    """Return the method `view` of a class, for which `np.ndarray` as the program knows it is NumPy's class.

    The view is forerun's array where that has the memory.
    """
    plain = getattr(kind, "view")  # noqa: B009

    @functools.wraps(plain)
    def view(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain(self, *map(_numpy_class, args), **{name: _numpy_class(x) for name, x in kwargs.items()})
        asked = any(x is np.ndarray for x in (*args, *kwargs.values()))  # which NumPy's own code does not know
        shared = _core.shared_with_numpy(found) if asked and is_supported(found.dtype) else None
        return found if shared is None else shared

    return view


def _new(kind: type, place: int, default: bool) -> Callable[..., Any]:
    """Return `__new__` of a class that shares the memory of its data if it is not to copy them, also a forerun array's.

    place, default: of its argument `copy`, among those behind the data.
    """
    plain: Any = kind.__new__

    @functools.wraps(plain)
    def new(cls: type, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        copies = kwargs.get("copy", args[place] if len(args) > place else default)
        if copies:
            return plain(cls, data, *args, **kwargs)
        return plain(cls, *map(aliased, (data, *args)), **{name: aliased(x) for name, x in kwargs.items()})

    return new


def attributes() -> Iterator[tuple[type, str, Any]]:
    """Yield methods that classes derived from `numpy.ndarray` by NumPy get, as classes, names and functions."""
    yield numpy.matrix, "__new__", _new(numpy.matrix, 1, default=True)
    yield numpy.ma.MaskedArray, "__new__", _new(numpy.ma.MaskedArray, 2, default=False)
    for kind in (numpy.matrix, numpy.memmap, numpy.recarray, numpy.ma.MaskedArray):
        yield kind, "view", _view(kind)


def _numpy_class(x: Any) -> Any:
    """Return NumPy's class of arrays for the program's."""
    return numpy.ndarray if x is np.ndarray else x


def _all_aliased(x: object) -> object:
    """Return NumPy's arrays on the memory of forerun's, in nested tuples, lists and dicts too."""
    return aliased(x) if isinstance(x, _core.Array) else each_inside(x, _all_aliased)


def _numpys(function: object) -> Any:
    """Return NumPy's function for forerun's."""
    return function.ufunc if isinstance(function, _core.Ufunc) else getattr(function, "numpy_function", function)


class Base(numpy.ndarray):
    """The class from which the program's classes are derived: NumPy's array, which takes forerun's arrays and class."""

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any = float, buffer: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Create an array, through either class. It shares the memory of a buffer, also of a forerun array."""
        if cls in (np.ndarray, numpy.ndarray):
            programs: Any = np.ndarray
            return programs(shape, dtype, buffer, *args, **kwargs)
        return numpy.ndarray.__new__(cls, values(shape), dtype, aliased(buffer), *args, **kwargs)

    view = _view(numpy.ndarray)


class Dispatching(Base):
    """The base of a class that has `__array_function__`, and may call NumPy's in it."""

    __slots__ = ()

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Call NumPy's, with its function, class and arrays in place of forerun's."""
        known = tuple(map(_numpy_class, types))
        if known != tuple(types):
            args, kwargs = _all_aliased(args), _all_aliased(kwargs)
        return numpy.ndarray.__array_function__(self, _numpys(func), known, args, kwargs)


class Wrapping(Base):
    """The base of a class that has `__array_wrap__`, and may call NumPy's in it with forerun's array."""

    __slots__ = ()

    def __array_wrap__(self, array: Any, *args: Any) -> Any:
        """Call NumPy's, with NumPy's array on the same memory."""
        return numpy.ndarray.__array_wrap__(self, aliased(array), *args)


class Overriding(Base):
    """The base of a class that has `__array_ufunc__`, and may call NumPy's in it."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Call NumPy's, which refuses operands that have such a method, as forerun's arrays do."""
        out = kwargs.get("out")
        named = {name: values(x, writable=name == "out") for name, x in kwargs.items()}
        found = numpy.ndarray.__array_ufunc__(self, _numpys(ufunc), method, *values(inputs), **named)
        return found if out is None or found is NotImplemented else delivered(out, named["out"], found)


# The bases of classes with such a method. Classes without it have `Base` alone: NumPy then finds at once that they
# leave ufuncs and functions to it.
BASES: dict[str, type] = {
    "__array_function__": Dispatching, "__array_ufunc__": Overriding, "__array_wrap__": Wrapping
}  # fmt: skip


def add_base(method: str, kind: type) -> None:
    """Let such a method of a program's class call the one of its base for forerun's arrays."""
    base = BASES.get(method)
    if base is not None and issubclass(kind, Base) and not issubclass(kind, base):
        kind.__bases__ = (*kind.__bases__, base)


for _base in (Base, *BASES.values()):
    _base.__name__ = _base.__qualname__ = "ndarray"
    _base.__module__ = "numpy"


# Methods that the class has for itself, or that libraries look up.
_OF_THE_CLASS = {
    "__array_function__", "__array_ufunc__", "__class__", "__class_getitem__", "__delattr__", "__dir__",
    "__getattribute__", "__init__", "__init_subclass__", "__setattr__", "__subclasshook__",
}  # fmt: skip
METHODS = {name for name in dir(numpy.ndarray) if callable(getattr(numpy.ndarray, name))} - _OF_THE_CLASS


class Unbound:
    """A method of the class of arrays as the program gets it, `np.ndarray.sum`: for arrays of both kinds.

    own: forerun's method, or None.
    """

    def __init__(self, name: str, own: Callable[..., Any] | None) -> None:
        self._own = own
        self._numpy = getattr(Base, name)
        self.__name__, self.__doc__ = name, self._numpy.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._own is None or (args and isinstance(args[0], numpy.ndarray)):
            convert = aliased if self.__name__ == "__array_wrap__" else values  # whose result is a view
            return self._numpy(args[0], *map(convert, args[1:]), **values(kwargs))
        return self._own(*args, **kwargs)
