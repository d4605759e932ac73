"""Functions whose operations are one module on a GPU, where each operation costs the host tens of microseconds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ... import _core
from .programs import Program, ProgramCache, ProgramCapture

__all__ = ["one_module"]

F = TypeVar("F", bound=Callable[..., Any])


def one_module(function: F) -> F:
    """Let a function issue its operations as one program where its first argument is on a GPU.

    Its arguments are arrays and values that can be compared; it returns a new array, or a tuple of them.

    >>> from forerun import np
    >>> one_module(lambda x, n: x * n + 1)(np.arange(3.0), 2).tolist()
    [1.0, 3.0, 5.0]
    """
    cache: ProgramCache[Program] = ProgramCache()

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if args[0].device.device_type == "cpu" or _core.recording() or _core.capturing():
            return function(*args)
        arrays = tuple(x for x in args if isinstance(x, _core.Array))
        signature = tuple(None if isinstance(x, _core.Array) else (x,) for x in args)
        found = cache.issue(signature, arrays)
        if found is not None:
            return found[0] if len(found) == 1 else found
        return function(*args) if cache.refuses(signature) else _capture(function, cache, signature, args)

    return cast("F", call)


def _capture(function: Callable[..., Any], cache: ProgramCache[Program], signature: Any, args: Any) -> Any:
    """Call the function, and keep the operations that it issues as a program."""
    given = tuple(_core.as_base_array(x) if isinstance(x, _core.Array) else x for x in args)
    arrays = tuple(x for x in given if isinstance(x, _core.Array))
    with ProgramCapture(arrays) as capture:
        result = function(*given)
        results = result if isinstance(result, tuple) else (result,)
        if capture.refused:
            cache.refuse(signature)
        else:
            name = function.__name__.lstrip("_")
            cache.add(signature, capture.program(arrays, results, name, free=len(arrays)))
    return result
