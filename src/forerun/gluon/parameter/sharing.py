"""The arguments `prefix` and `params` that every block takes, as in MXNet 1.x, besides its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..block.block import Block
    from .dictionary import ParameterDict

__all__ = ["share", "taking_params"]


def taking_params(init: Callable[..., None]) -> Callable[..., None]:
    """Return a block's `__init__` that takes `prefix` and `params`, too, unless it takes them by itself.

    >>> from forerun.gluon import nn
    >>> first = nn.Dense(8, in_units=4)
    >>> again = nn.Dense(8, in_units=4, params=first.params)
    >>> again.weight is first.weight
    True
    """
    own = inspect.signature(init).parameters.keys() & {"prefix", "params"}

    @functools.wraps(init)
    def taking(self: Any, *args: object, **kwargs: Any) -> None:
        prefix = None if "prefix" in own else kwargs.pop("prefix", None)
        params = None if "params" in own else kwargs.pop("params", None)
        init(self, *args, **kwargs)
        if prefix:
            self._name = prefix.rstrip("_") or self._name
        if (given := params if params is not None else self.__dict__.pop("_to_share", None)) is not None:
            share(self, given)

    return taking


def share(block: Block, params: ParameterDict) -> None:
    """Share parameters as `share_parameters` does; they must fit."""
    own = block.collect_params()
    if params and not own.keys() & params.keys():
        raise ValueError(
            f"{type(block).__name__}: params must have names of the block's parameters, {list(own)}, got {list(params)}"
            "; where layers are added later, call share_parameters then"
        )
    for name in own:
        own_shape, given_shape = own[name].shape, params[name].shape if name in params else None
        if own_shape is not None and given_shape is not None and not _fit(own_shape, given_shape):
            raise ValueError(f"{type(block).__name__}: params must fit, got {name} of {given_shape} for {own_shape}")
    block.share_parameters(params)


def _fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) == len(b) and all(m == n or -1 in (m, n) for m, n in zip(a, b))
