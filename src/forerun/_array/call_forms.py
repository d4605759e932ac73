"""Calls that NumPy's signature of a method refuses, and PyTorch's takes: `x.sum(dim=0)`, `x.view(2, -1)`.

`forerun.torch` registers its functions for them when it is imported; until then they are errors, as they are in NumPy.
The methods are the same objects before and after, with NumPy's signature, and every call that NumPy takes means what it
means there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy

__all__ = ["register", "takes_dim", "takes_extents"]

F = TypeVar("F", bound=Callable[..., Any])

_functions: dict[str, Callable[..., Any]] = {}  # by the name of the method


def register(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Says what the calls mean that methods of these names refuse."""
    _functions.update(functions)


def takes_dim(method: F) -> F:
    """Makes calls of a method with `dim=` or `keepdim=` calls of the function registered for it."""
    name = method.__name__

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        chosen = _functions.get(name, method) if "dim" in kwargs or "keepdim" in kwargs else method
        return chosen(*args, **kwargs)

    return cast(F, call)


def takes_extents(method: F) -> F:
    """Makes calls of a method with integers, or a tuple or list of them, calls of the function registered for it."""
    name = method.__name__

    @functools.wraps(method)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        extents = args and isinstance(args[0], (int, numpy.integer, tuple, list))
        return (_functions.get(name, method) if extents else method)(x, *args, **kwargs)

    return cast(F, call)
