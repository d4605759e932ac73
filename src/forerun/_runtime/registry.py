"""Classes that are known by names: initializers, metrics and optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TypeVar

_Kind = TypeVar("_Kind")
_Value = TypeVar("_Value")


def known_by(table: MutableMapping[str, Any], *names: str) -> Callable[[_Kind], _Kind]:
    """Return a decorator that puts a class into a table by these names, in small letters.

    >>> table = {}
    >>> known_by(table, "Still", "none")(int), sorted(table)
    (<class 'int'>, ['none', 'still'])
    """

    def named(kind: _Kind) -> _Kind:
        table.update(dict.fromkeys(map(str.lower, names), kind))
        return kind

    return named


def look_up(op: str, table: Mapping[str, _Value], name: str) -> _Value:
    """Return the entry of a table by its name, in any case. ValueError, which lists the names, if the table has no such
    entry."""
    if name.lower() not in table:
        raise ValueError(f"{op}: name must be one of {', '.join(table)}, got {name!r}")
    return table[name.lower()]
