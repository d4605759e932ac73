"""Classes of the program: their `__array__` returns NumPy's arrays, as NumPy itself accepts nothing else."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from .conversion import values

__all__ = ["converted"]


@contextmanager
def converted(is_program: Callable[[Mapping[str, Any] | None], bool]) -> Iterator[None]:
    """Inside, class statements of the program make classes whose `__array__` returns NumPy's arrays.

    is_program: whether globals are those of the program's code.
    """
    build = builtins.__build_class__

    def build_class(body: Callable[..., Any], name: str, /, *bases: Any, **options: Any) -> Any:
        made = build(body, name, *bases, **options)
        method = vars(made).get("__array__") if isinstance(made, type) else None
        if isinstance(method, FunctionType) and is_program(method.__globals__):
            setattr(made, "__array__", _converting(method))  # noqa: B010
        return made

    builtins.__build_class__ = build_class
    try:
        yield
    finally:
        if builtins.__build_class__ is build_class:
            builtins.__build_class__ = build


def _converting(method: FunctionType) -> Callable[..., Any]:
    @functools.wraps(method)
    def array(*args: Any, **kwargs: Any) -> Any:
        return values(method(*args, **kwargs), writable=True)

    return array
