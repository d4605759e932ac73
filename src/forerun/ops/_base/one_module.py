"""Functions whose operations are one module on a GPU, where each operation costs the host tens of microseconds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ... import _core

__all__ = ["one_module"]

F = TypeVar("F", bound=Callable[..., Any])

_MOST_KINDS, _MOST = 32, 32  # kinds of arguments of one function, and programs of one kind


def one_module(function: F) -> F:
    """Let a function issue its operations as one program where its first argument is on a GPU.

    Its arguments are arrays and values that can be compared; it returns a new array, or a tuple of them.

    >>> from forerun import np
    >>> one_module(lambda x, n: x * n + 1)(np.arange(3.0), 2).tolist()
    [1.0, 3.0, 5.0]
    """
    known: dict[Any, list[Any] | None] = {}  # programs, by the arguments besides arrays; None: there can be none

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if args[0].device.device_type == "cpu" or _core.recording() or _core.capturing():
            return function(*args)
        arrays = tuple(x for x in args if isinstance(x, _core.Array))
        kind = tuple(None if isinstance(x, _core.Array) else (x,) for x in args)
        programs = known.get(kind, [])
        if programs is None:
            return function(*args)
        for program in programs:
            if (found := program(arrays)) is not None:
                return found[0] if len(found) == 1 else found
        return _record(function, known, kind, args)

    return cast("F", call)


def _record(function: Callable[..., Any], known: dict[Any, list[Any] | None], kind: Any, args: Any) -> Any:
    """Call the function, and keep the operations that it issues as a program."""
    given = tuple(_core.as_base_array(x) if isinstance(x, _core.Array) else x for x in args)
    arrays = tuple(x for x in given if isinstance(x, _core.Array))
    _core.capture(arrays)
    try:
        result = function(*given)
        results = result if isinstance(result, tuple) else (result,)
        while len(known) >= _MOST_KINDS and kind not in known:
            del known[next(iter(known))]
        if _core.capture_refused():
            known[kind] = None
        else:
            name = function.__name__.lstrip("_")
            program = _core.capture_end(arrays, len(arrays), results, (), None, [], (), name)
            known[kind] = [program, *(known.get(kind) or ())][:_MOST]
        return result
    finally:
        _core.capture_drop()
