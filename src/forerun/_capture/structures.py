"""Arguments and results of captured functions that are more than one array: tuples, lists and dicts of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from .._runtime.device import Device

__all__ = ["flatten", "unflatten"]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, Device)  # values besides arrays


class _Hole:
    """The place of an array in a structure: the class itself, so that copies of a form have the same one."""


class _Exactly:
    """A value besides arrays. Here 1, 1.0 and True are different, and so are 0.0 and -0.0."""

    def __init__(self, value: object) -> None:
        self.value = value
        self._key = type(value), repr(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exactly) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class _Form(NamedTuple):
    """A tuple, list or dict without its arrays: its type, its items, and the keys of a dict."""

    kind: type
    items: tuple[Any, ...]
    keys: tuple[Any, ...] = ()


def flatten(value: object) -> tuple[tuple[Any, ...], Any]:
    """Return the arrays in a structure of tuples, lists and dicts, and its form; None if other objects are in it.

    >>> from forerun import np
    >>> arrays, form = flatten((np.ones(2), [np.ones(3), 0.5]))
    >>> [x.shape for x in arrays], flatten((np.ones(1), [np.ones(1), 0.5]))[1] == form
    ([(2,), (3,)], True)
    >>> unflatten(form, iter("xy"))
    ('x', ['y', 0.5])
    """
    arrays: list[Any] = []

    def form(v: Any) -> Any:
        if isinstance(v, _core.Array):
            arrays.append(v)
            return _Hole
        if type(v) in (tuple, list):
            return _Form(type(v), tuple(map(form, v)))
        if type(v) is dict:
            return _Form(dict, tuple(map(form, v.values())), tuple(v))
        if isinstance(v, _PLAIN):
            return _Exactly(v)
        raise TypeError

    try:
        made = form(value)
    except TypeError:
        made = None
    return tuple(arrays), made


def unflatten(form: Any, arrays: Any) -> Any:
    """Return the structure of a form with these arrays in it."""
    if form is _Hole:
        return next(arrays)
    if isinstance(form, _Exactly):
        return form.value
    items = (unflatten(item, arrays) for item in form.items)
    return dict(zip(form.keys, items)) if form.kind is dict else form.kind(items)
