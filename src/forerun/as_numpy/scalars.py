"""Scalars while NumPy is replaced: their classes, their text, and attributes that NumPy's have or lack."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Reversible, Sized
from typing import Any

import numpy

from .._array.array_class import ArrayClass
from .._array.scalar import scalar
from ..ops._base import core as _core
from ..ops._base.convert import warn_of_lost_parts

__all__ = ["PLAIN", "attributes", "classes", "clear_isinstance_caches", "encoder"]

# Packages that see the type itself. The encoder of json calls methods of Python's float with each instance of it.
PLAIN = ("forerun", "numpy", "json")


class _Class(ArrayClass):
    """The class of scalars of one dtype, as programs see it: it is equal to NumPy's, and makes NumPy's scalars."""

    dtype: numpy.dtype

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.dtype.type

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __call__(cls, *args: Any) -> Any:
        return cls.dtype.type(*args)

    def __instancecheck__(cls, x: Any) -> bool:
        return numpy_class(type(x)) is cls.dtype.type

    def __subclasscheck__(cls, kind: type) -> bool:
        return numpy_class(kind) is cls.dtype.type


def numpy_class(kind: type) -> type:
    """Return NumPy's class of scalars in place of forerun's of the same dtype; others as they are."""
    return kind.dtype.type if isinstance(kind, _Class) else kind


@functools.cache
def classes() -> dict[numpy.dtype, type]:
    """Return the class of the scalars of each of NumPy's dtypes."""
    dtypes = [numpy.dtype(kind) for kind in "?bhilBHILefdFD"]
    return {dtype: _class(dtype) for dtype in dtypes}


def _class(dtype: numpy.dtype) -> type:
    body = {"__slots__": (), "__module__": "numpy", "dtype": dtype}
    if dtype.kind == "c":
        body.update(__float__=_of_real_part(float), __int__=_of_real_part(int))
    return _Class(dtype.type.__name__, (scalar,), body)


def _of_real_part(number: type) -> Callable[[scalar], object]:
    """Return a conversion of complex scalars to a real number, which NumPy warns of. Waits."""

    def converted(x: scalar) -> object:
        value = x.numpy()
        warn_of_lost_parts(value.dtype, value.real.dtype)
        return number(value.real)

    return converted


def attributes() -> Iterator[tuple[str, Any]]:
    """Yield attributes that the class of scalars gets. None: it is not a container, as the class of arrays is."""
    yield "__repr__", lambda x: repr(x.numpy()[()])
    for name in ("__iter__", "__len__", "__contains__"):
        yield name, None
    for name in ("__float__", "__int__", "__complex__"):  # the core's, which ask for no axes as those of arrays do
        yield name, getattr(_core.Array, name)
    for name in sorted({*dir(numpy.float64), *dir(numpy.int64)} - {*dir(scalar)}):
        if not name.startswith("_"):
            yield name, _of_value(name)


def _of_value(name: str) -> property:
    """Return an attribute of NumPy's scalar of the value. Waits."""
    return property(lambda x: getattr(x.numpy()[()], name))


def clear_isinstance_caches() -> None:
    """Clear the cached results of `isinstance` with the classes of containers for the class of scalars."""
    kinds: tuple[Any, ...] = (Collection, Container, Iterable, Reversible, Sized)
    for kind in kinds:
        kind._abc_caches_clear()


def encoder(default: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the method `default` of JSON's encoder that writes the scalars whose NumPy counterparts are floats."""

    def written(self: Any, o: Any) -> Any:
        return o.item() if isinstance(o, scalar) and issubclass(o.dtype.type, float) else default(self, o)

    return written
