"""The classes `numpy.ndarray` and `numpy.ufunc` for programs, and attributes that only NumPy's arrays have."""

from __future__ import annotations

import copyreg
import functools
import json
import pickle
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy

from .. import np
from .._array.array_class import ArrayClass
from .._array.numpy_protocols import has_override
from .._array.scalar import scalar
from .._array.ufunc_calls import FOREIGN, OPS
from .._io.npz import Archive
from ..ops._base import core as _core
from ..ops._base.primitive import Elementwise, direct
from . import derived, scalars
from .conversion import Numpy, aliased, back, by_name, is_derived, is_of_numpy, unpickled, values
from .derived import BASES, METHODS, Base, Overriding, Unbound
from .flags import flags, setflags
from .nditer import Nditer, nditer
from .streams import Kind
from .syntax import Syntax

__all__ = ["classes", "extended"]


_FEW = 4096  # elements that NumPy's ufuncs write faster than a copy of an operation's result


class _Ndarray(ArrayClass):
    """The class of the class of arrays while NumPy is replaced: arrays of both kinds are instances of it."""

    __instancecheck__ = staticmethod(_core.is_ndarray)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (_core.Array, numpy.ndarray)) and not issubclass(kind, scalar)

    def __call__(cls, shape: Any, dtype: Any = float, buffer: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A new array, or a view of a buffer, which is NumPy's array."""
        made = numpy.ndarray(values(shape), dtype, aliased(buffer), *args, **kwargs)
        return back(made) if buffer is None else made

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], **more: Any) -> Any:
        """A class derived from it is one of NumPy's arrays."""
        if not bases:
            return super().__new__(mcs, name, bases, body)
        given = [kind for name, kind in BASES.items() if name in body] or [Base]
        plain = [kind for base in bases for kind in (given if isinstance(base, _Ndarray) else [base])]
        return types.new_class(name, tuple(plain), more, lambda space: space.update(body))

    def __getattribute__(cls, name: str) -> Any:
        """Return an attribute of the class; its methods take arrays of both kinds."""
        if name not in METHODS:
            return type.__getattribute__(cls, name)
        if name == "__new__":
            return Base.__new__
        try:
            return Unbound(name, type.__getattribute__(cls, name))
        except AttributeError:
            return Unbound(name, None)

    def __getitem__(cls, parameters: Any) -> Any:
        return numpy.ndarray[parameters]

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is numpy.ndarray

    def __hash__(cls) -> int:
        return hash(numpy.ndarray)


class _Ufunc(type):
    """The class of `numpy.ufunc` as programs see it."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(getattr(x, "numpy_function", x), (_core.Ufunc, numpy.ufunc))

    def __getattr__(cls, name: str) -> Any:
        """Return a method as libraries ask for its name and docstring."""
        return getattr(numpy.ufunc, name)


class ufunc(metaclass=_Ufunc):
    """A function of elements."""


class _Flatiter(type):
    """The class of `numpy.flatiter` as programs see it: `x.flat` of arrays of both kinds is an instance."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, (np.flatiter, numpy.flatiter))


class flatiter(metaclass=_Flatiter):
    """The elements of an array in C order."""


def isscalar(element: object) -> bool:
    """Return whether element is a number: forerun's scalars are, and arrays without axes are not."""
    return _core.is_scalar(element) if isinstance(element, _core.Array) else numpy.isscalar(element)


def _of_dtypes(function: Callable[..., numpy.dtype]) -> Callable[..., numpy.dtype]:
    """Return `result_type` that reads of forerun's arrays their dtypes alone, which need no values."""

    @functools.wraps(function)
    def result_type(*arrays_and_dtypes: Any) -> numpy.dtype:
        return function(*[x.dtype if isinstance(x, _core.Array) else x for x in arrays_and_dtypes])

    return result_type


def _result_type() -> Callable[..., numpy.dtype]:
    """Return it with the attributes that classes with `__array_function__` ask for."""
    found = _of_dtypes(numpy.result_type)
    undispatched = getattr(numpy.result_type, "_implementation", numpy.result_type)
    vars(found).update(numpy_function=numpy.result_type, _implementation=_of_dtypes(undispatched))
    return found


class _Indexed:
    """`np.r_` and others that are called by an index: forerun's, or NumPy's where it refuses the entries."""

    def __init__(self, name: str, calls: Numpy) -> None:
        own, replaced = getattr(np, name), getattr(numpy, name)
        self._found = _core.Fallback(own.__getitem__, calls.instead(name, replaced.__getitem__))
        self.name, self._numpy = name, replaced

    def __getitem__(self, key: Any) -> Any:
        return self._found(key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)

    def __len__(self) -> int:
        return 0


class _Vectorize(type):
    """The class of `numpy.vectorize` as programs see it."""


def classes(calls: Numpy) -> dict[str, Any]:
    """Return classes and objects that `numpy` has for the program, and the functions that distinguish them."""

    class vectorize(numpy.vectorize, metaclass=_Vectorize):
        """NumPy's, with forerun arrays: it calls a function of Python's for each element."""

        __qualname__ = "vectorize"

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return calls.call("vectorize", super().__call__, args, kwargs, "calls Python for each element")

    for found in (vectorize, ufunc, isscalar, nditer, flatiter):
        found.__module__ = "numpy"
    indexed = {name: _Indexed(name, calls) for name in ("r_", "c_", "mgrid", "ogrid")}
    return {
        "ndarray": np.ndarray, "ufunc": ufunc, "vectorize": vectorize, "isscalar": isscalar, "nditer": nditer,
        "flatiter": flatiter, "result_type": _result_type(), **indexed,
    }  # fmt: skip


# --- the array's class while NumPy is replaced ---------------------------------------------------------


def _set(x: Any, name: str, value: Any) -> None:
    """Set attributes; `x.dtype = ...` gives the same memory another layout."""
    if name != "dtype":
        return object.__setattr__(x, name, value)
    seen = x.view(value)
    if not np.may_share_memory(x, seen) and x.size:
        raise AttributeError(f"dtype: must be set without a copy, got {value!r} for an array that is not in one piece")
    _core.see_as(x, seen)
    return None


def _imatmul(calls: Numpy) -> Callable[..., Any]:
    """Return the method of `@=`: other operands may have a product of their own, which NumPy calls."""
    syntax = Syntax(calls)
    own = _core.Fallback(np.ndarray.__imatmul__, lambda error, args, _: syntax(error, "matmul", args, args[0]))

    def imatmul(self: np.ndarray, other: object) -> object:
        plain = isinstance(other, _core.Array) or type(other) is numpy.ndarray
        return own(self, other) if plain else syntax(None, "matmul", (self, other), self)

    return imatmul


def _read(name: str) -> property:
    """Return an attribute of NumPy's arrays, of one that has the values. Waits."""
    return property(lambda x: getattr(x.numpy(), name))


def _lacks_html(x: object) -> None:
    """A notebook shows NumPy's arrays as text, and libraries ask for the attribute to choose how they show a value."""
    raise AttributeError("'numpy.ndarray' object has no attribute '_repr_html_'")


def _number(kind: type) -> Callable[[Any], Any]:
    """Return the conversion to a number of Python's: NumPy's where an array has axes, which it refuses by now."""
    own = getattr(_core.Array, f"__{kind.__name__}__")
    return lambda x: kind(x.numpy()) if x.ndim else own(x)


def _not_rounded(x: object, decimals: object = None) -> None:
    """Refuse `round(x)`, which NumPy has of its scalars alone."""
    raise TypeError("type numpy.ndarray doesn't define __round__ method")


def _tofile(x: Any, *args: Any, _own: Callable[..., object] = np.ndarray.tofile, **kwargs: Any) -> None:
    """Write the values to a file; forerun's method returns the size of the file."""
    _own(x, *args, **kwargs)


_INDEX: Any = _core.Array.index


def _index(x: object) -> object:
    """Return which output of its node an array is, to forerun's own code. Others ask whether it is pandas' table."""
    if sys._getframe(1).f_globals.get("__name__", "").startswith("forerun."):
        return _INDEX.__get__(x)
    raise AttributeError("'numpy.ndarray' object has no attribute 'index'")


def _namespace(module_for: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    """Return `__array_namespace__`, whose result is the module that the calling code has as NumPy: it compares them."""

    def array_namespace(self: object, *, api_version: Any = None) -> object:
        numpy.empty(0).__array_namespace__(api_version=api_version)  # refuses versions
        return module_for(sys._getframe(1).f_globals)

    return array_namespace


# For pickles of functions and classes: other processes have NumPy, unless forerun replaces it there as well.
_PICKLED: dict[type, Callable[[Any], Any]] = {
    Elementwise: lambda op: (unpickled, (op.__name__,)) if hasattr(numpy, op.__name__) else op.__reduce__(),
    _Ndarray: lambda cls: (type, (numpy.empty(0),)) if cls is np.ndarray else cls.__qualname__,
    **dict.fromkeys((_Ufunc, _Flatiter, _Vectorize, Nditer, Kind), by_name),
    _Indexed: lambda indexed: (unpickled, (indexed.name,)),
}


@contextmanager
def _pickling() -> Iterator[None]:
    """Inside, these classes are pickled so, by picklers in Python too, which ask by class before they ask copyreg."""
    in_python: Any = pickle._Pickler.dispatch

    def save(pickler: Any, x: Any) -> None:
        reduced = _PICKLED[type(x)](x)
        if isinstance(reduced, str):
            pickler.save_global(x, reduced)
        else:
            pickler.save_reduce(*reduced, obj=x)

    copyreg.dispatch_table.update(_PICKLED)
    in_python.update(dict.fromkeys(_PICKLED, save))
    try:
        yield
    finally:
        for kind in _PICKLED:
            del copyreg.dispatch_table[kind], in_python[kind]


@contextmanager
def extended(calls: Numpy, module_for: Callable[[Mapping[str, Any]], Any]) -> Iterator[None]:
    """Inside, arrays have the attributes that only NumPy's have, and methods that refuse their arguments are
    NumPy's.

    module_for: returns the module that code with the given globals gets as NumPy.
    """
    added: list[tuple[type, str, Any]] = [(np.ndarray, *pair) for pair in _attributes(calls)]
    added.append((np.ndarray, "__array_namespace__", _namespace(module_for)))
    added += [(scalar, *pair) for pair in scalars.attributes()]
    added.append((scalar, "__reduce__", _reduced))
    added += derived.attributes()
    added.append((Elementwise, "__module__", "numpy"))
    added.append((json.JSONEncoder, "default", scalars.encoder(json.JSONEncoder.default)))
    before = [(kind, name, vars(kind).get(name)) for kind, name, _ in added]
    method = Elementwise._method
    for kind, name, value in added:
        setattr(kind, name, value)
    setattr(np.ndarray, "__class__", _Ndarray)  # noqa: B010
    Elementwise._method = _core.Fallback(method, _methods_of_ops(calls))  # type: ignore[method-assign]
    numpy.lib.npyio.NpzFile.register(Archive)  # a class that has NumPy's as an abstract base class
    _core.set_fallback(calls.operation, Syntax(calls), calls.of_derived)
    _core.imitate_numpy(scalars.PLAIN, scalars.classes())
    scalars.clear_isinstance_caches()
    try:
        with _pickling():
            yield
    finally:
        _core.set_fallback(None, None, None)
        setattr(np.ndarray, "__class__", ArrayClass)  # noqa: B010
        Elementwise._method = method  # type: ignore[method-assign]
        for kind, name, value in before:
            if value is None:
                delattr(kind, name)
            else:
                setattr(kind, name, value)
        _core.imitate_numpy((), {})
        scalars.clear_isinstance_caches()


def _reduced(x: Any) -> Any:
    """Return `x.__reduce__()`, which picklers in Python read as that of NumPy's arrays and scalars."""
    return values(x).__reduce__()


# Attributes that are given above, or that are forerun's and need nothing of NumPy's.
_OWN = ("base", "ctypes", "data", "dtype", "flags", "item", "resize", "setflags", "shape", "tolist", "view")


def _attributes(calls: Numpy) -> Iterator[tuple[str, Any]]:
    """Yield attributes that the class gets in addition, or in place of its own."""
    yield "__module__", "numpy"
    yield "__setattr__", _set
    yield "__array_ufunc__", _ufuncs(calls)
    yield "__array_function__", _functions(calls)
    yield "data", property(lambda x: aliased(x).data)  # a memoryview, which programs write to
    yield "base", property(lambda x: None)
    yield "_repr_html_", property(_lacks_html)
    yield "index", property(_index, _INDEX.__set__)
    yield "__imatmul__", _imatmul(calls)
    yield "__round__", _not_rounded
    for kind in (float, int, complex):
        yield f"__{kind.__name__}__", _number(kind)
    # Pickles have NumPy's arrays and scalars: processes and programs read them in which NumPy is not replaced.
    yield "__reduce_ex__", lambda x, protocol: values(x).__reduce_ex__(protocol)
    yield "__reduce__", _reduced
    yield "to_numpy", lambda x: x.numpy()  # Matplotlib's hist would read one element after the other
    yield "flags", flags
    yield "setflags", setflags
    yield "view", _view(calls)
    yield "resize", _resize
    yield "ctypes", property(lambda x: aliased(x).ctypes)  # functions in C write to its address
    for name in dir(numpy.ndarray):
        numpy_attribute = getattr(numpy.ndarray, name)
        if name.startswith("_") or name in _OWN:
            continue
        attribute = getattr(np.ndarray, name, None)
        if attribute is None:
            yield name, _method(calls, name) if callable(numpy_attribute) else _read(name)
        elif callable(attribute) and callable(numpy_attribute):
            own = _tofile if name == "tofile" else attribute
            method = _core.Fallback(own, calls.instead(f"ndarray.{name}", _by_name(name)))
            vars(method)["__doc__"] = numpy_attribute.__doc__
            yield name, method


def _resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
    """Change shape and size in place: elements are cut off, or zeros are appended. Views keep the old elements."""
    if new_shape and new_shape != (None,):
        shape = new_shape[0] if len(new_shape) == 1 else new_shape
        resized = np.zeros(shape, self.dtype)
        n = min(self.size, resized.size)
        resized.reshape(-1)[:n] = self.reshape(-1)[:n]
        _core.see_as(self, resized)


_OF_CLASSES: dict[Any, numpy.dtype] = {d.type: d for d in map(numpy.dtype, "?bhilBHILefdFD")}


def _view(calls: Numpy) -> Callable[..., Any]:
    """Return the method `view`: forerun's, or NumPy's on the array's memory for a class derived from NumPy's array."""
    numpy_view = _by_name("view")
    own = _core.Fallback(np.ndarray.view, calls.instead("ndarray.view", numpy_view))

    def view(self: np.ndarray, *args: object, **kwargs: object) -> Any:
        """Return a view: of the same elements, of the same bytes with another dtype, or of a derived class."""
        plain = len(args) == 1 and not kwargs and type(args[0]) is type and args[0] in _OF_CLASSES
        if plain and not (_core.is_scalar(self) or _core.recording()):
            return _core.reinterpret(self, _OF_CLASSES[args[0]])
        if len(args) == 1 and not kwargs and (args[0] is np.ndarray or args[0] is numpy.ndarray):
            return self[()] if _core.is_scalar(self) else self[...]  # derived classes ask for it with each operation
        if any(kind is np.ndarray or kind is numpy.ndarray for kind in (*args, *kwargs.values())):
            args = tuple(kind for kind in args if kind is not np.ndarray and kind is not numpy.ndarray)
            kwargs = {key: x for key, x in kwargs.items() if key != "type"}
        if any(map(is_of_numpy, (*args, *kwargs.values()))):
            why = "a class derived from numpy.ndarray, or a dtype that only NumPy has"
            return calls.call("ndarray.view", numpy_view, (aliased(self), *args), kwargs, why)
        found = own(self, *args, **kwargs)
        return _core.as_scalar(found) if _core.is_scalar(self) and isinstance(found, _core.Array) else found

    return view


def _by_name(name: str) -> Callable[..., Any]:
    """Return NumPy's method of that name, which its scalars have as well as its arrays."""

    of_arrays = getattr(numpy.ndarray, name)

    def method(*args: object, **kwargs: object) -> object:
        return getattr(args[0], name)(*args[1:], **kwargs) if args else of_arrays(**kwargs)

    return functools.update_wrapper(method, of_arrays)


def _method(calls: Numpy, name: str) -> Callable[..., Any]:
    return calls.always(f"ndarray.{name}", _by_name(name), "arrays of forerun's have no such method")


def _ufuncs(calls: Numpy) -> Callable[..., Any]:
    """Return `__array_ufunc__`, which calls NumPy's ufunc with the values in three cases.

    An operand is of a class derived from NumPy's array that leaves ufuncs to NumPy, the ufunc is one of `frompyfunc`,
    or forerun refuses the arguments.
    """
    forerun_ufuncs = np.ndarray.__array_ufunc__

    def otherwise(error: Exception | str, args: Any, kwargs: Any) -> Any:
        _, ufunc, method, *inputs = args
        if not isinstance(ufunc, numpy.ufunc):
            return NotImplemented
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return calls.call(name, getattr(ufunc, method), tuple(inputs), kwargs, str(error))

    tried = _core.Fallback(forerun_ufuncs, otherwise)

    @direct("array_ufunc", OPS, numpy.matmul, FOREIGN)
    def array_ufunc(self: Any, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not isinstance(self, _core.Array):  # called through the class
            return Overriding.__array_ufunc__(self, ufunc, method, *inputs, **kwargs)
        if method == "__call__" and _writes_few(kwargs) and not _core.recording():
            return ufunc(*[values(x) if isinstance(x, _core.Array) else x for x in inputs], **kwargs)
        if any(map(_leaves_it_to_numpy, inputs)):
            why = f"{ufunc.__name__}: an operand's class is derived from numpy.ndarray"
            return otherwise(why, (self, ufunc, method, *inputs), kwargs)
        if _takes_objects(ufunc):
            why = f"{ufunc.__name__}: its loop takes Python objects"
            return otherwise(why, (self, ufunc, method, *inputs), kwargs)
        return tried(self, ufunc, method, *inputs, **kwargs)

    return array_ufunc


def _writes_few(options: Mapping[str, Any]) -> bool:
    """Return whether a ufunc writes into small arrays of NumPy's, for which the values are waited for anyway."""
    few = "out" in options and all(type(out) is numpy.ndarray and out.size <= _FEW for out in options["out"])
    return few and len(options) == 1


def _functions(calls: Numpy) -> Callable[..., Any]:
    """Return `__array_function__`, which runs NumPy's function and returns NumPy's arrays.

    Libraries alone call it, as the program's functions are forerun's, and pass the results to functions in C, which
    take NumPy's arrays only.
    """

    def array_function(self: Any, func: Any, types: Iterable[type], args: Any, kwargs: Any) -> Any:
        if any(map(_overrides_functions, types)):
            return NotImplemented
        return calls.called(func.__name__, func, args, kwargs)

    return array_function


@functools.cache
def _overrides_functions(kind: type) -> bool:
    """Return whether a class has an `__array_function__` of its own, as classes derived from NumPy's mostly do not."""
    inherits = getattr(kind, "__array_function__", None) is numpy.ndarray.__array_function__
    return not inherits and has_override(kind, "__array_function__")


def _leaves_it_to_numpy(x: Any) -> bool:
    """Return whether x is of a class derived from NumPy's array that has no `__array_ufunc__` of its own."""
    return is_derived(x) and type(x).__array_ufunc__ is numpy.ndarray.__array_ufunc__


def _takes_objects(ufunc: Any) -> bool:
    """Return whether the ufunc has no loop but one of Python objects, as those of `frompyfunc`."""
    return isinstance(ufunc, numpy.ufunc) and ufunc.ntypes == 1 and set(ufunc.types[0]) <= set("O->")


def _methods_of_ops(calls: Numpy) -> Callable[..., Any]:
    """Return the function to call when an operation's method has refused its arguments: NumPy's method."""

    def otherwise(error: Exception, args: Any, kwargs: Any) -> Any:
        op, method, inputs, options = args
        if not isinstance(op.ufunc, numpy.ufunc):
            return NotImplemented
        name = op.name if method == "__call__" else f"{op.name}.{method}"
        given = {k: v for k, v in options.items() if v is not None or k == "axis"}  # None is all axes there
        return calls.instead(name, getattr(op.ufunc, method))(error, inputs, given)

    return otherwise
