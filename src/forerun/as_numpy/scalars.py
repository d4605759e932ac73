"""Scalars while NumPy is replaced: their classes, what they print, and attributes that NumPy's have or lack."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Reversible, Sized
from typing import Any

import numpy

from .._array.scalar import scalar

__all__ = ["PLAIN", "attributes", "clear_isinstance_caches", "encoder"]

# Packages that see the type itself. The encoder of json calls methods of Python's float with each instance of it.
PLAIN = ("forerun", "numpy", "json")


def attributes() -> Iterator[tuple[str, Any]]:
    """Yield attributes that the class of scalars gets. None: it is not a container, as the class of arrays is."""
    yield "__repr__", lambda x: repr(x.numpy()[()])
    for name in ("__iter__", "__len__", "__contains__"):
        yield name, None
    for name in sorted({*dir(numpy.float64), *dir(numpy.int64)} - {*dir(scalar)}):
        if not name.startswith("_"):
            yield name, _of_value(name)


def _of_value(name: str) -> property:
    """Return an attribute of NumPy's scalar of the value. Waits."""
    return property(lambda x: getattr(x.numpy()[()], name))


def clear_isinstance_caches() -> None:
    """Clear what `isinstance` with the classes of containers has cached about the class of scalars."""
    kinds: tuple[Any, ...] = (Collection, Container, Iterable, Reversible, Sized)
    for kind in kinds:
        kind._abc_caches_clear()


def encoder(default: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the method `default` of JSON's encoder that writes the scalars whose NumPy counterparts are floats."""

    def written(self: Any, o: Any) -> Any:
        return o.item() if isinstance(o, scalar) and issubclass(o.dtype.type, float) else default(self, o)

    return written
