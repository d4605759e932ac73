"""How methods of arrays are called: methods made of functions, and calls that NumPy's signatures refuse.

NumPy refuses `x.sum(dim=0)` and `x.view(2, -1)`; PyTorch takes them. `forerun.torch` registers its functions for them
when it is imported; until then they are errors, as they are in NumPy. The methods are the same objects before and
after, with NumPy's signature, and every call that NumPy accepts has the same meaning here.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy

from ..ops._base.primitive import direct

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["delegate", "register", "takes_extents"]

F = TypeVar("F", bound=Callable[..., Any])

_functions: dict[str, Callable[..., Any]] = {}  # by the name of the method


def register(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Register the functions for calls that methods of these names refuse."""
    _functions.update(functions)


def delegate(function: Callable[..., Any], *, takes_dim: bool = False) -> Callable[[F], F]:
    """Make a method call a function whose first parameter is the array, without a frame of its own.

    The method's signature stays, and so does its docstring, which the sections of the function's follow; it has no
    body. The core calls the method directly where it does so for the function (`direct`). takes_dim: calls with `dim=`
    or `keepdim=` go to the function registered.

    >>> import inspect
    >>> from forerun import np
    >>> str(inspect.signature(np.ones(1).dot)), np.ones(2).dot([1.0, 2.0]).item()
    ("(b: 'ArrayLike', out: 'Out' = None) -> 'ndarray'", 3.0)
    """

    def make(method: F) -> F:
        called = getattr(function, "__wrapped__", function)
        called = _with_dim(method.__name__, called) if takes_dim else called
        entry = getattr(function, "entry", None)
        made: Any = direct(entry[0], *entry[1])(called) if entry is not None else _copied(called)
        functools.update_wrapper(made, method)
        made.__signature__ = inspect.signature(method)
        made.__wrapped__ = called
        made.__doc__ = _with_sections(method.__doc__, function.__doc__)
        return cast(F, made)

    return make


def _with_sections(summary: str | None, text: str | None) -> str | None:
    """Return a method's docstring, and the sections of its function's without the first parameter, the array."""
    start = (text or "").find("Parameters\n")
    if summary is None or text is None or start < 0:
        return summary
    margin = text[text.rindex("\n", 0, start) + 1 : start]  # none since Python 3.13
    lines = text[start:].rstrip().split("\n")
    names, _, kind = lines[2].strip().partition(" : ")
    others = names.partition(", ")[2]
    if others:  # described together
        lines[2] = f"{margin}{others} : {kind}"
    else:
        del lines[2]
        while lines[2:] and (not lines[2] or lines[2].startswith(f"{margin}    ")):
            del lines[2]
        if lines[3:] and lines[3].strip("- ") == "":  # the next section: there is no other parameter
            lines = [lines[2].strip(), *lines[3:]]
        elif not lines[2:]:
            return summary
    text_of_method = summary.rstrip().replace("\n        ", f"\n{margin}")
    return f"{text_of_method}\n\n{margin}" + "\n".join(lines) + f"\n{margin}"


def _with_dim(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Array, **kwargs: Any) -> Any:
        chosen = _functions.get(name, function) if "dim" in kwargs or "keepdim" in kwargs else function
        return chosen(*args, **kwargs)

    return call


def _copied(function: Any) -> types.FunctionType:
    """Return a function that does the same, and has attributes of its own."""
    of_code = function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    made = types.FunctionType(*of_code)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def takes_extents(method: F) -> F:
    """Forward calls of a method with integers, or a tuple or list of them, to the function registered for it."""
    name = method.__name__

    @functools.wraps(method)
    def call(x: Array, *args: Any, **kwargs: Any) -> Any:
        extents = args and isinstance(args[0], (int, numpy.integer, tuple, list))
        if extents and len(args) > 1 and name not in _functions:
            shape = ", ".join(map(str, args))
            raise TypeError(f"{name}: must be given a dtype, as in NumPy, got {shape}: write x.reshape({shape})")
        return (_functions.get(name, method) if extents else method)(x, *args, **kwargs)

    return cast(F, call)
