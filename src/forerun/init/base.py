"""The base of initializers, and their creation by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .. import autograd
from .._runtime.registry import known_by, look_up

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["InitDesc", "Initializer", "alias", "create", "register"]


class Initializer:
    """Fills arrays in place. Subclasses say how in `_init_weight(name, data)`.

    Examples
    --------
    >>> from forerun import np
    >>> class Halves(Initializer):
    ...     def _init_weight(self, name, data):
    ...         data[:] = 0.5
    >>> w = np.zeros(2)
    >>> Halves()(w)
    >>> w.tolist()
    [0.5, 0.5]
    """

    def __call__(self, array: Array, name: str = "weight") -> None:
        """Fills `array`, of any shape that the rule can start; `name` is passed on. Never recorded, never waits."""
        with autograd.pause():
            self._init_weight(name, array)

    def _init_weight(self, name: str, data: Array) -> None:
        raise NotImplementedError(f"{type(self).__name__}: _init_weight must be defined, got none")

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class InitDesc(str):
    """The name of a parameter, with attributes and the initializer of the whole network.

    Parameters
    ----------
    name : str
        The name.
    attrs : mapping, optional
        The attributes.
    global_init : Initializer, optional
        The initializer of the whole network.

    Examples
    --------
    >>> InitDesc("weight", {"lr_mult": "2"}).attrs
    {'lr_mult': '2'}
    """

    attrs: dict[str, Any]
    global_init: Any

    def __new__(cls, name: str, attrs: Mapping[str, Any] | None = None, global_init: object = None) -> InitDesc:
        made = super().__new__(cls, name)
        made.attrs, made.global_init = dict(attrs or {}), global_init
        return made


_by_name: dict[str, type[Initializer]] = {}
_Kind = TypeVar("_Kind", bound=type[Initializer])


def alias(*names: str) -> Callable[[_Kind], _Kind]:
    """Return a decorator that makes a class known to `create` by further names.

    Parameters
    ----------
    *names : str
        The names, in any letters.

    Returns
    -------
    callable
        The decorator, which returns the class.

    Examples
    --------
    >>> @alias("halves", "half")
    ... class Halves(Initializer):
    ...     pass
    >>> create("half")
    Halves()
    """
    return known_by(_by_name, *names)


def register(klass: _Kind) -> _Kind:
    """Make a class known to `create` by its name. It is used as a decorator.

    Parameters
    ----------
    klass : type
        A subclass of `Initializer`.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> from forerun import init
    >>> @register
    ... class Sevens(init.Constant):
    ...     def __init__(self):
    ...         super().__init__(7)
    >>> type(create("sevens")).__name__
    'Sevens'
    """
    return alias(klass.__name__)(klass)


def create(init: str | Initializer | None) -> Initializer:
    """Return an initializer by its name.

    Parameters
    ----------
    init : str, Initializer or None
        The name in any letters, or an initializer, which is returned as it is; None means Uniform(0.07).

    Returns
    -------
    Initializer
        The initializer.

    Raises
    ------
    ValueError
        For an unknown name.
    TypeError
        For an object of another kind.

    Examples
    --------
    >>> create("Xavier").magnitude
    3
    """
    if init is None:
        init = "uniform"
    if isinstance(init, str):
        return look_up("init", _by_name, init)()
    if isinstance(init, Initializer):
        return init
    raise TypeError(f"init: must be a name or an Initializer, got {type(init).__name__}")
