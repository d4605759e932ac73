"""Functions that blocks call when they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..._capture import changes
from ..._runtime import core as _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...typing import Array
    from .block import Block

__all__ = ["Hook", "Hooks", "monitor"]


class Hook:
    """A function that a block calls; `detach`, or the end of a `with` block, removes it."""

    def __init__(self, block: Block, hooks: dict[int, Callable[..., Any]], function: Callable[..., Any]) -> None:
        self._block, self._hooks = block, hooks
        hooks[id(self)] = function
        changes.note(block)

    def detach(self) -> None:
        """End the calls."""
        self._hooks.pop(id(self), None)
        changes.note(self._block)

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.detach()


class Hooks:
    """Several hooks as one."""

    def __init__(self, hooks: list[Hook]) -> None:
        self._all = hooks

    def detach(self) -> None:
        """End the calls."""
        for hook in self._all:
            hook.detach()

    def __enter__(self) -> Hooks:
        return self

    def __exit__(self, *exception: object) -> None:
        self.detach()


def monitor(place: str, callback: Callable[[str, str, Any], Any], everything: bool) -> Callable[..., None]:
    """Return a forward hook that reports a block's arrays by name: its results, or everything that it uses."""

    def tell(block: Any, inputs: Sequence[Array], result: Array) -> None:
        kind = type(block).__name__
        if everything:
            for name, x in _numbered("data", inputs):
                callback(place + name, kind, x)
            device = next((x.device for _, x in _numbered("", inputs)), None)
            for name, parameter in block.params.items():
                callback(place + name, kind, parameter.data(device))
        for name, x in _numbered("output", result):
            callback(place + name, kind, x)

    return tell


def _numbered(name: str, value: Array | Sequence[Array]) -> Iterator[tuple[str, Any]]:
    """Return the arrays in a structure, with names: a number behind all but the first."""
    flat = [value] if isinstance(value, _core.Array) else list(_arrays(value))
    return ((name + (str(i) if i else ""), x) for i, x in enumerate(flat))


def _arrays(value: Sequence[Array]) -> Iterator[Any]:
    for x in value if isinstance(value, (tuple, list)) else ():
        if isinstance(x, _core.Array):
            yield x
        else:
            yield from _arrays(x)
