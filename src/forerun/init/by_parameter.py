"""Initializers that go by the name of a parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..npx import load as _load
from .base import Initializer, create

if TYPE_CHECKING:
    from ..typing import Array, FileLike

__all__ = ["Load", "Mixed"]


class Mixed(Initializer):
    """The first initializer whose pattern is found in the parameter's name.

    Parameters
    ----------
    patterns : sequence of str
        Regular expressions, which may match any part of the name.
    initializers : sequence
        An initializer, or its name, for each of them.

    Raises
    ------
    ValueError
        For another number of initializers, or when it is called with a name that no pattern matches.

    Examples
    --------
    >>> from forerun import init, np
    >>> w = np.zeros(1)
    >>> Mixed(["bias", ".*"], [init.Zero(), init.One()])(w, "weight")
    >>> w.tolist()
    [1.0]
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        if len(patterns) != len(initializers):
            raise ValueError(
                f"Mixed: patterns and initializers must be as many, got {len(patterns)} and {len(initializers)}"
            )
        self.rules = [(re.compile(pattern), create(rule)) for pattern, rule in zip(patterns, initializers)]

    def _init_weight(self, name: str, data: Array) -> None:
        for pattern, rule in self.rules:
            if pattern.search(name):
                return rule(data, name)
        raise ValueError(f"Mixed: a pattern must match each name, got {name!r}")


class Load(Initializer):
    """The values of arrays by name; others start by another initializer.

    Parameters
    ----------
    param : mapping of arrays, or path
        The arrays by name, or a file that `npx.load` reads. Names may have "arg:" or "aux:" before them.
    default_init : str or Initializer, optional
        The initializer of parameters that are not among them.
    verbose : bool, optional
        Whether to print where values are from.

    Raises
    ------
    ValueError
        When it is called, for a value of another shape, or for a name that is missing without a `default_init`.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros(2)
    >>> Load({"arg:weight": np.array([1.0, 2.0])})(w, "weight")
    >>> w.tolist()
    [1.0, 2.0]
    """

    def __init__(
        self, param: Mapping[str, Array] | FileLike, default_init: str | None = None, verbose: bool = False
    ) -> None:
        values = param if isinstance(param, Mapping) else _load(param)
        self.param = {re.sub("^(arg|aux):", "", name): value for name, value in values.items()}
        self.default_init, self.verbose = default_init, verbose

    def _init_weight(self, name: str, data: Array) -> None:
        if name in self.param:
            if tuple(self.param[name].shape) != data.shape:
                raise ValueError(f"Load: {name} must have shape {data.shape}, got {self.param[name].shape}")
            data[...] = self.param[name]
        elif self.default_init is None:
            raise ValueError(f"Load: there must be a value or a default_init for {name}, got none")
        else:
            create(self.default_init)(data, name)
        if self.verbose:
            print(f"{name}: {'loaded' if name in self.param else 'by default_init'}")
