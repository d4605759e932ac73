"""`numpy.random` with NumPy's own streams: the same numbers for the same seed, as forerun arrays for the program."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy

from ..ops._base import core as _core
from ..ops._base.primitive import direct
from .conversion import as_forerun, named, values

__all__ = ["Kind", "streams"]

_OUT = {"random": 2, "standard_normal": 2, "standard_exponential": 3, "standard_gamma": 3}  # the place of `out`
_NO_DRAWS = ("seed", "spawn", "get_state", "set_state")
_DRAWS: dict[type, list[str]] = {
    kind: [n for n in dir(kind) if n[0] != "_" and n not in _NO_DRAWS and callable(getattr(kind, n))]
    for kind in (numpy.random.Generator, numpy.random.RandomState)
}
_KINDS = tuple(_DRAWS)


def streams(is_program: Callable[[Any], bool]) -> dict[str, Any]:
    """Return `numpy.random` for the program: classes, `default_rng`, and functions of the global stream.

    is_program: whether globals are those of the program's code. A library that the program hands a generator to draws
    NumPy's arrays from it.
    """
    makers = {kind: _class(kind, is_program) for kind in _DRAWS}
    Generator, RandomState = makers[numpy.random.Generator], makers[numpy.random.RandomState]

    @functools.wraps(numpy.random.default_rng)
    def default_rng(seed: Any = None) -> Any:
        """Return NumPy's generator, which draws forerun arrays."""
        if issubclass(type(seed), Generator):
            return seed
        return Generator(numpy.random.default_rng(values(seed)).bit_generator)

    found = {"Generator": Generator, "RandomState": RandomState, "default_rng": default_rng}
    for name in _DRAWS[numpy.random.RandomState]:
        function = getattr(numpy.random, name, None)
        if callable(function):
            found[name] = _direct(name, function, None)(_drawing(name, function))
    for name in ("seed", "get_state", "set_state"):
        found[name] = _drawing(name, getattr(numpy.random, name))
    found["_rand"] = _global_stream(RandomState, is_program)
    return found


class Kind(type):
    """The class of the program's classes of generators: those that libraries made are instances of them as well."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, cls.__base__ or object) if "of_numpy" in vars(cls) else type.__instancecheck__(cls, x)


def _global_stream(kind: type, is_program: Callable[[Any], bool]) -> Any:
    """Return `numpy.random.mtrand._rand`, which programs use in place of a generator that they were not given.

    kind: the program's `RandomState`. All draws are from NumPy's own object, as are those of `numpy.random.normal`.
    """
    stream = numpy.random.get_state.__self__  # type: ignore[attr-defined]

    def method(name: str) -> Callable[..., Any]:
        plain = getattr(stream, name)
        drawing = _drawing(name, plain)

        @functools.wraps(plain)
        def drawn(self: object, *args: object, **kwargs: object) -> Any:
            return (drawing if is_program(sys._getframe(1).f_globals) else plain)(*args, **kwargs)

        return drawn

    methods = {name: method(name) for name in (*_DRAWS[numpy.random.RandomState], "seed", "get_state", "set_state")}
    return type(kind.__name__, (kind,), {**methods, "__module__": "numpy.random"})(stream._bit_generator)


def _class(kind: type, is_program: Callable[[Any], bool]) -> type:
    """Return a class of NumPy's generators whose methods give forerun arrays, if the program calls them."""

    def method(name: str) -> Callable[..., Any]:
        plain = getattr(kind, name)
        drawing = _drawing(name, plain)

        @functools.wraps(plain)
        def drawn(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_program(sys._getframe(1).f_globals):
                return plain(self, *args, **kwargs)
            return drawing(self, *args, **kwargs)

        made: Callable[..., Any] = named(
            f"random.{kind.__name__}.{name}", _direct(name, plain, is_program)(drawn), plain
        )
        return made

    methods = {"__copy__": _copied, "__deepcopy__": _deepcopied, **{name: method(name) for name in _DRAWS[kind]}}
    return Kind(kind.__name__, (kind,), {**methods, "__module__": "numpy.random", "of_numpy": True})


def _copied(stream: Any) -> Any:
    """Return another generator of the same numbers: a draw from either of them moves on both."""
    return _on(stream._bit_generator, stream)


def _deepcopied(stream: Any, memo: dict[int, object]) -> Any:
    """Return a copy that goes on with the same numbers: a generator of the program's class, too."""
    return _on(copy.deepcopy(stream._bit_generator, memo), stream)


def _on(bit_generator: Any, stream: Any) -> Any:
    made = type(stream)(bit_generator)
    if isinstance(stream, numpy.random.RandomState):
        made.set_state(stream.get_state(legacy=False))  # which has the second number of the last pair of normals
    return made


def _direct(name: str, function: Callable[..., Any], is_program: Callable[[Any], bool] | None) -> Any:
    """Let the core draw where arguments are plain, but not with a function that writes into its argument."""
    return direct("draw", function, is_program) if name != "shuffle" else lambda drawn: drawn


def _drawing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that draws, so that it takes and returns forerun arrays."""

    @functools.wraps(function)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        if name == "shuffle":
            return _shuffled(function, args, kwargs)
        place = _OUT.get(name, len(args)) + (bool(args) and isinstance(args[0], numpy.random.Generator))
        if len(args) > place:
            args, kwargs = args[:place], {**kwargs, "out": args[place]}
        if kwargs.get("out") is not None:
            return _into(function, args, kwargs)
        return as_forerun(function(*map(values, args), **(values(kwargs) if kwargs else kwargs)))

    return drawn


def _into(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return a draw into an array that was given as `out`, which is returned."""
    out = kwargs["out"]
    written = values(out, writable=True)
    found = function(*map(values, args), **{**values(kwargs), "out": written})
    if not isinstance(out, _core.Array):
        return found
    out[...] = written
    return out


def _shuffled(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Shuffle an argument in place: the last of the positional arguments but for an axis."""
    place = next((i for i, x in enumerate(args) if not isinstance(x, _KINDS)), None)
    x = kwargs.get("x") if place is None else args[place]
    if not isinstance(x, _core.Array):
        function(*args, **kwargs)
        return
    written = x.asnumpy()
    given = args if place is None else (*args[:place], written, *args[place + 1 :])
    function(*given, **({**kwargs, "x": written} if place is None else kwargs))
    x[...] = written
