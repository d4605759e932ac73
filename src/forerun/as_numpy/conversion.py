"""NumPy's functions called with forerun arrays: conversion of operands, results and outputs."""

from __future__ import annotations

import functools
import inspect
import operator
import time
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from .._interop.dlpack import from_dlpack
from .._runtime.device import current_device
from ..ops._base import core as _core
from ..ops._base.convert import is_supported
from ..ops._base.ufunc_text import Signature
from .reports import Report

if TYPE_CHECKING:
    from ..typing import Array, DTypeLike, Out


__all__ = [
    "DICTS", "Numpy", "aliased", "as_forerun", "back", "by_name", "delivered", "each_inside", "first_line",
    "is_derived", "is_of_numpy", "named", "pickled_by_name", "same_dict", "unpickled", "values",
]  # fmt: skip

_PYTHONS = frozenset((bool, int, float, complex, str, bytes, type(None)))  # of which lists are passed as they are
DICTS = frozenset((dict, OrderedDict, defaultdict))  # of which the values are converted
_NUMPYS = "arguments have a dtype or a class that only NumPy has"
_LARGE = 4096  # elements from which an array is taken over instead of copied
# Functions that write into their first argument.
WRITERS = {
    "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle", "at", "resize", "byteswap",
}  # fmt: skip

_VIEWS = ("ma.array", "ma.asarray", "ma.asanyarray")  # they return views of their argument, without a copy


def each_inside(x: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a list, tuple, named tuple or dict with its values converted; other objects as they are.

    Of the classes derived from dict, this applies to those of `collections` that are made of items alone or with a
    factory: `OrderedDict` and `defaultdict`.

    >>> each_inside({"a": (1, 2)}, lambda pair: each_inside(pair, str))
    {'a': ('1', '2')}
    """
    if type(x) in (list, tuple):
        return type(x)([convert(v) for v in x])
    if type(x) in DICTS:
        return same_dict(x, {k: convert(v) for k, v in x.items()})
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        found = tuple(map(convert, x))
        if all(map(operator.is_, found, x)):
            return x
        return type(x)(*found) if hasattr(x, "_make") else found  # others need more than their fields
    return x


def same_dict(x: Any, items: dict[Any, Any]) -> Any:
    """Return the items as a dict of the class of x, one of `DICTS`; x itself if it is derived and has these items.

    >>> from collections import OrderedDict
    >>> same_dict(OrderedDict(a=1), {"a": 2})
    OrderedDict([('a', 2)])
    """
    if type(x) is dict:
        return items
    if len(items) == len(x) and all(k in items and items[k] is v for k, v in x.items()):
        return x
    return defaultdict(x.default_factory, items) if type(x) is defaultdict else OrderedDict(items)


def values(x: Any, writable: bool = False) -> Any:
    """Replace forerun arrays and scalars by NumPy's, in nested tuples, lists and dicts too. Waits."""
    kind = type(x)
    if kind in _PYTHONS:
        return x
    if isinstance(x, _core.Array):
        if _core.is_scalar(x):
            return x.numpy()[()]
        return x.asnumpy() if writable else x.numpy()
    if kind is tuple or kind is list:
        return x if _PYTHONS.issuperset(map(type, x)) else kind([values(v, writable) for v in x])
    return each_inside(x, functools.partial(values, writable=writable)) if issubclass(kind, (dict, tuple)) else x


def aliased(x: Any) -> Any:
    """Return NumPy's array on the memory of a forerun array, for a program that writes to either of them.

    Others are returned as they are. An array on an accelerator is copied.
    """
    array: Any = x
    if type(x) in _PYTHONS:
        return x
    if not isinstance(x, _core.Array) or _core.is_scalar(x) or x.device.device_type != "cpu":
        return values(x, writable=True)
    return _core.numpy_alias(array)


_modules: list[Callable[[str], Any]] = []  # while NumPy is replaced, the function that finds the program's modules


@contextmanager
def pickled_by_name(modules: Callable[[str], Any]) -> Iterator[None]:
    """Inside, pickles of functions and classes that are read give those of the program's modules.

    modules: returns the program's module of a dotted name.
    """
    _modules.append(modules)
    try:
        yield
    finally:
        _modules.remove(modules)


def by_name(cls: type) -> Any:
    """Return how a class in the place of NumPy's is pickled: by NumPy's name for it."""
    return unpickled, (f"{cls.__module__}.{cls.__qualname__}".removeprefix("numpy."),)


def unpickled(path: str) -> Any:
    """Return a function or class by its name, where a pickle is read: the program's if it replaces NumPy there.

    Elsewhere it is NumPy's.

    >>> from forerun.as_numpy.conversion import unpickled
    >>> unpickled("linalg.norm").__module__
    'numpy.linalg'
    """
    return functools.reduce(getattr, path.split("."), _modules[-1]("numpy") if _modules else numpy)


def named(path: str, function: Any, numpy_function: Any) -> Any:
    """Return a function of the program's that is pickled by its name; other objects are returned as they are."""
    if isinstance(function, types.FunctionType) and function is not numpy_function:
        found: Any = _core.Fallback(function, lambda *_: NotImplemented)
        told = {
            name: getattr(numpy_function, name, getattr(function, name))
            for name in ("__doc__", "__module__", "__name__", "__qualname__")
        }
        kept = {name: value for name, value in vars(function).items() if name != "__wrapped__"}
        vars(found).update(told | kept, numpy_function=numpy_function, __signature__=Signature(numpy_function))
        function = found
    if isinstance(function, (_core.Fallback, _core.Function)) and "__reduce_ex__" not in vars(function):
        vars(function)["__reduce_ex__"] = lambda protocol: (unpickled, (path,))
    return function


def back(x: Any) -> Any:
    """Replace NumPy arrays of numbers by forerun arrays, in tuples, lists and dicts too; scalars stay NumPy's."""
    if type(x) is numpy.ndarray:
        return np.array(x) if is_supported(x.dtype) and x.dtype.isnative else x
    return each_inside(x, back)


def taken(x: numpy.ndarray) -> Array:
    """Return a forerun array with the values of one without other references: large ones are not copied."""
    return from_dlpack(x) if x.size >= _LARGE else _core.from_numpy(x, current_device())


def as_forerun(found: Any) -> Any:
    """Return results of NumPy's, which nothing else refers to, as forerun arrays; scalars stay NumPy's."""
    if type(found) is numpy.ndarray:
        return taken(found) if is_supported(found.dtype) else found
    return each_inside(found, as_forerun) if isinstance(found, tuple) else found


class Numpy:
    """Call NumPy's functions in place of forerun's, and count the calls."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def call(
        self, name: str, numpy_function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], why: str
    ) -> Any:
        """Call NumPy's function with forerun arrays and return forerun arrays; its errors pass through."""
        begun = time.perf_counter()
        args, kwargs = _with_named_out(name, numpy_function, args, kwargs)
        try:
            result = self._called(name, numpy_function, args, kwargs)
            return back(result) if kwargs.get("out") is None else result
        finally:
            self.report.fell_back(name, why, time.perf_counter() - begun)

    def called(
        self, name: str, numpy_function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Call it in the same way, but return NumPy's arrays, except those given as `out`."""
        return self._called(name, numpy_function, *_with_named_out(name, numpy_function, args, kwargs))

    def _called(
        self, name: str, numpy_function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Call it with `out` among the arguments by name."""
        out, target = kwargs.get("out"), None
        if name.rpartition(".")[2] in WRITERS and args:
            target = args[0]
        if name in _VIEWS and len(args) == 1 and not (kwargs.get("copy") or "dtype" in kwargs):
            return numpy_function(aliased(args[0]), **{key: aliased(x) for key, x in kwargs.items()})
        plain = _scalars if _makes_objects(name, args, kwargs) else values
        given, named = plain(args), values(kwargs) if kwargs else {}
        if isinstance(target, _core.Array):
            given = (target.asnumpy(), *given[1:])
        if out is not None:
            named["out"] = values(out, writable=True)
        result = numpy_function(*given, **named)
        if is_derived(result) and _is_view(result, (*args, *kwargs.values()), (*given, *named.values())):
            result = numpy_function(*map(aliased, args), **{key: aliased(x) for key, x in kwargs.items()})
        if isinstance(target, _core.Array):
            target[...] = given[0]
        if out is not None:
            return delivered(out, named["out"], result)
        return result

    def instead(self, name: str, numpy_function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that `_core.Fallback` calls when forerun's has refused its arguments.

        It gets no error for arguments that forerun's would refuse, as their dtype or class is only NumPy's. An error
        with the attribute `of_numpy` was raised by NumPy's function itself, and is raised again.
        """

        def called(error: Exception | None, args: Any, kwargs: Any) -> Any:
            if getattr(error, "of_numpy", False):
                return NotImplemented
            return self.call(name, numpy_function, args, kwargs, first_line(error) if error else _NUMPYS)

        return called

    def always(self, name: str, numpy_function: Callable[..., Any], why: str) -> Callable[..., Any]:
        """Return NumPy's function, for forerun arrays."""

        def called(*args: Any, **kwargs: Any) -> Any:
            return self.call(name, numpy_function, args, kwargs, why)

        return functools.update_wrapper(called, numpy_function) if hasattr(numpy_function, "__name__") else called

    def of_derived(self, ufunc: numpy.ufunc, result: Any, seconds: float) -> Any:
        """Count a call of NumPy's ufunc with an operand of a derived class, and return its result; for the core."""
        self.report.fell_back(ufunc.__name__, "an operand's class is derived from numpy.ndarray", seconds)
        return result if is_derived(result) else back(result)

    def operation(self, error: Exception, op: Any, inputs: Sequence[Any], out: Out, dtype: DTypeLike) -> Any:
        """Run NumPy's ufunc for an operation that has refused its operands; called by the core."""
        ufunc = op.ufunc
        if op.name.startswith("_") or not isinstance(ufunc, numpy.ufunc):
            return NotImplemented
        kwargs = {k: v for k, v in (("out", out), ("dtype", dtype)) if v is not None}
        return self.call(ufunc.__name__, ufunc, inputs, kwargs, first_line(error))


def _with_named_out(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return arguments with `out` among those by name."""
    if isinstance(function, numpy.ufunc):
        if not function.nin < len(args) <= function.nargs:
            return args, kwargs
        outs = (*args[function.nin :], *[None] * (function.nargs - len(args)))
        return args[: function.nin], {**kwargs, "out": outs}
    place, names = _from_out_on(name)
    if not place < len(args) <= place + len(names):
        return args, kwargs
    return args[:place], {**dict(zip(names, args[place:])), **kwargs}


@functools.cache
def _from_out_on(name: str) -> tuple[int, list[str]]:
    """Return the position of `out` in a function of NumPy's, or in a method, and the names of the parameters from it.

    >>> _from_out_on("ndarray.take")  # the array is the first argument
    (3, ['out', 'mode'])
    """
    try:
        function: Any = functools.reduce(getattr, name.removeprefix("ndarray.").split("."), numpy)
        found = inspect.signature(function).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return 0, []
    names = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    place = names.index("out") if "out" in names else len(names)
    return place, names[place:]


def _makes_objects(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a call makes an array of objects: forerun arrays among them remain the objects that they are."""
    if name not in ("array", "asarray", "asanyarray"):
        return False
    dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    return dtype is object or (isinstance(dtype, (str, numpy.dtype)) and dtype == "O")


def _scalars(x: object) -> Any:
    """Replace forerun scalars by NumPy's, but no arrays, in nested tuples, lists and dicts too. Waits."""
    if isinstance(x, _core.Array):
        return values(x) if _core.is_scalar(x) else x
    return each_inside(x, _scalars)


def first_line(error: BaseException) -> str:
    """Return the first line of an error."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def is_derived(x: Any) -> bool:
    """Return whether it is an array of a class derived from NumPy's."""
    return type(x) is not numpy.ndarray and isinstance(x, numpy.ndarray)


def _is_view(result: numpy.ndarray, args: Sequence[Any], given: Sequence[Any]) -> bool:
    """Return whether an array, such as a matrix, is a view of a forerun array among the args.

    It is read-only then, and does not see later writes to the array.
    """
    return any(isinstance(a, _core.Array) and numpy.may_share_memory(result, g) for a, g in zip(args, given))


def delivered(out: Out, written: Any, result: Any) -> Any:
    """Copy results written to NumPy's arrays to the forerun arrays given as `out`.

    Return `out`, or another object that the class of an operand has returned in its place.
    """
    if isinstance(out, tuple):
        several = len(out) > 1
        found = result if several and isinstance(result, tuple) and len(result) == len(out) else (result,) * len(out)
        each = tuple(map(delivered, out, written, found))
        return each[0] if not several else each if found is result or result is None else back(result)
    if isinstance(out, _core.Array):
        out[...] = written
        same = result is None or (type(result) is numpy.ndarray and numpy.may_share_memory(result, written))
        return out if same else back(result)
    return result


def is_of_numpy(kind: Any) -> bool:
    """Return whether it is a class derived from NumPy's array, or a dtype of records or bytes."""
    if isinstance(kind, type) and issubclass(kind, numpy.ndarray):
        return kind is not numpy.ndarray
    try:
        return not is_supported(numpy.dtype(kind))
    except TypeError:
        return False
