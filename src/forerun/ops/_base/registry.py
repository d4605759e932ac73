"""Operations by name, for files of exported blocks. A name stays when the code moves to another file.

Names are those of the function in NumPy or npx: "add", "linalg.cholesky", "relu". Where several ops are behind one
public name, the others add a word: "linalg.svd.full", and "take.backward" for the gradient of "take".
The named tuples that operations take and give have names too.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

__all__ = ["Names", "operations", "reduced", "register", "registered_tuple", "tuples"]

_Class = TypeVar("_Class", bound=type)


class _Entry(NamedTuple):
    thing: Any
    owner: ModuleType | None  # the module that registered it


class Names:
    """A table of things by name, and of names by thing. Names are unique.

    >>> names = Names("number")
    >>> names.add("one", 1, __name__)
    >>> names["one"], names.name_of(1), names.name_of(2), list(names)
    (1, 'one', None, ['one'])
    >>> names.add("one", 3, __name__)
    Traceback (most recent call last):
    ValueError: register: name of number must be new, got 'one' for 3, which 1 has
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, _Entry] = {}
        self._names: dict[int, str] = {}

    def add(self, name: str, thing: object, module: str) -> None:
        """Register an object of a module. ValueError if the name is taken, or the object has one.

        A module that is executed anew, since its import was interrupted, replaces the operations that it has
        registered; and so does a notebook, whose cells are executed again.
        """
        owner = sys.modules.get(module)
        if name in self._entries:
            taken = self._entries[name]
            again = taken.owner is not owner or module == "__main__"
            if not again or getattr(taken.owner, "__name__", None) != module:
                got = f"got {name!r} for {thing!r}, which {taken.thing!r} has"
                raise ValueError(f"register: name of {self.kind} must be new, {got}")
            del self._names[id(taken.thing)]
        if id(thing) in self._names:
            before = self.name_of(thing)
            raise ValueError(f"register: {self.kind} must have one name, got {name!r} for {before!r}")
        self._entries[name] = _Entry(thing, owner)
        self._names[id(thing)] = name

    def name_of(self, thing: object) -> str | None:
        """Return the name that a thing was registered by, or None."""
        return self._names.get(id(thing))

    def place_of(self, thing: object) -> tuple[str, str] | None:
        """Return the module that registered a thing, and its name; None if it is not registered."""
        name = self.name_of(thing)
        owner = None if name is None else self._entries[name].owner
        return None if name is None or owner is None else (owner.__name__, name)

    def __getitem__(self, name: str) -> Any:
        return self._entries[name].thing

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)


operations = Names("operation")
tuples = Names("tuple")


def register(module: str, *ops: Any) -> None:
    """Register operations of a module (its `__name__`) by their `name`. ValueError if a name is taken.

    >>> from forerun.ops.elementwise import arithmetic
    >>> operations["add"] is arithmetic.add
    True
    """
    for op in ops:
        operations.add(op.name, op, module)


def _operation(module: str, name: str) -> Any:
    importlib.import_module(module)
    return operations[name]


def reduced(op: object) -> tuple[Callable[..., Any], tuple[str, str]]:
    """Return how an operation is pickled and copied: by its name. TypeError if it is not registered.

    >>> import copy
    >>> from forerun import np
    >>> copy.deepcopy(np.add) is np.add
    True
    """
    place = operations.place_of(op)
    if place is None:
        raise TypeError(f"pickle: operation must be registered, got {op!r}")
    return _operation, place


def registered_tuple(name: str) -> Callable[[_Class], _Class]:
    """Return a decorator that registers a class of named tuples by a name. ValueError if that is taken.

    >>> from forerun import np
    >>> tuples.name_of(type(np.linalg.svd(np.eye(2))))
    'linalg.SVDResult'
    """

    def named(kind: _Class) -> _Class:
        tuples.add(name, kind, kind.__module__)
        return kind

    return named
