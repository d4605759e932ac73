"""NumPy's protocols: its functions, called with forerun arrays, run in forerun if it has them."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy

from ..ops._base import core as _core
from ..ops._base.convert import asarray, is_supported
from ..ops._base.primitive import direct
from . import ufunc_protocol as ufuncs
from .ufunc_calls import FOREIGN, OPS

if TYPE_CHECKING:
    from types import ModuleType

    from ..typing import Array, DeviceLike, Out

# NumPy's array classes that have nothing but values; other classes implement the protocol themselves.
_PLAIN = (numpy.ndarray, numpy.memmap, numpy.generic)

# Functions that write into their first argument.
_WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))
_FILES = frozenset((numpy.save, numpy.savez, numpy.savez_compressed, numpy.savetxt))


@direct("array_ufunc", OPS, numpy.matmul, FOREIGN)
def array_ufunc(
    self: Any, ufunc: numpy.ufunc, method: str, *inputs: Array | numpy.ndarray, out: Out = None, **kwargs: Any
) -> Any:
    """`__array_ufunc__`: a NumPy ufunc, or one of its methods, called with a forerun array."""
    outs = out if isinstance(out, tuple) else (out,)
    if any(has_override(type(x), "__array_ufunc__") for x in (*inputs, *outs)):
        return NotImplemented
    return ufuncs.call(ufunc, method, inputs, out, **kwargs)


def has_override(kind: type, protocol: str) -> bool:
    """Return whether a class has its own implementation of a protocol, which goes first."""
    if issubclass(kind, _core.Array) or kind in _PLAIN or issubclass(kind, numpy.generic):
        return False
    return hasattr(kind, protocol)


def namespace() -> ModuleType:
    """Return `forerun.np`, which imports this module."""
    return importlib.import_module("forerun.np")


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def array_namespace(self: Any, /, *, api_version: str | None = None) -> ModuleType:
    """`__array_namespace__`: where libraries find the functions of the Python array API standard, `forerun.np`.

    ValueError for a version of the standard that it does not hold.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(f"__array_namespace__: api_version must be one of {', '.join(_VERSIONS)}, got {api_version!r}")
    return namespace()


def array_function(
    self: Any, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`__array_function__`: any other NumPy function called with a forerun array.

    Runs forerun's function of that name if it takes the arguments, and none is an array of strings or objects. Else it
    waits, runs NumPy's with the values, and makes forerun arrays of the results.
    """
    if any(has_override(kind, "__array_function__") for kind in types):
        return NotImplemented
    function = _own_function(func)
    foreign = _is_foreign((args, [*kwargs.values()])) or (func is numpy.broadcast_arrays and _has_none(args))
    if function is not None and not foreign and _takes(function, args, kwargs):
        found = function(*args, **kwargs)
        return found.wait() if func in _FILES else found  # who calls NumPy's expects the file to be there
    if func.__name__ in _WRITERS:
        return _written(func, args, kwargs)
    out = kwargs.get("out")
    if isinstance(out, _core.Array):
        out[...] = func(*_values(args), **_values({**kwargs, "out": out.asnumpy()}))
        return out
    return _wrapped(func(*_values(args), **_values(kwargs)), self.device)


@functools.cache
def _own_function(func: Any) -> Callable[..., Any] | None:
    attribute: Any = namespace()
    for part in func.__module__.split(".")[1:]:
        attribute = attribute if part.startswith("_") else getattr(attribute, part, None)
    attribute = getattr(attribute, func.__name__, None)
    return attribute if callable(attribute) else None


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except ValueError:  # compiled
        return None


def _takes(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    signature = _signature(function)
    try:
        if signature is not None:
            signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _is_foreign(x: object) -> bool:
    """Return whether arrays of dtypes that forerun lacks are among arguments."""
    if isinstance(x, numpy.ndarray):
        return not is_supported(x.dtype)
    return isinstance(x, (list, tuple)) and any(map(_is_foreign, x))


def _has_none(args: Any) -> bool:
    """Return whether None is among arguments that all are arrays, where NumPy makes an array of objects of it."""
    return any(a is None for a in args)


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    to = args[0]
    values = to.asnumpy() if isinstance(to, _core.Array) else to
    result = func(values, *_values(args[1:]), **_values(kwargs))
    if isinstance(to, _core.Array):
        to[...] = values
    return result


def _values(x: object) -> Any:
    """Replace forerun arrays by NumPy arrays, in nested sequences too."""
    if isinstance(x, _core.Array):
        return x.numpy()
    if isinstance(x, (list, tuple)):
        kept = [_values(v) for v in x]
        return type(x)(*kept) if hasattr(x, "_fields") else type(x)(kept)
    return {k: _values(v) for k, v in x.items()} if type(x) is dict else x


def _wrapped(x: object, device: DeviceLike) -> Any:
    """Replace NumPy arrays and scalars of numbers by forerun arrays, in tuples and lists too."""
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        plain = type(x) in _PLAIN or isinstance(x, numpy.generic)
        if not plain or not is_supported(x.dtype):
            return x
        made = asarray(x, x.dtype, device)
        return _core.as_scalar(made) if isinstance(x, numpy.generic) else made
    if isinstance(x, (list, tuple)):
        kept = [_wrapped(v, device) for v in x]
        return type(x)(*kept) if hasattr(x, "_fields") else type(x)(kept)
    return x
