"""Recording for gradients as PyTorch does it: always on, but inside `no_grad`.

MXNet's spelling records inside `autograd.record()` only, and both work in one process. So recording of a thread is
switched on when the thread first uses gradients in this spelling: `requires_grad_`, `tensor(requires_grad=True)`,
`nn.Parameter`, a call of a `nn.Module`, or `enable_grad`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from .. import _core
from ..autograd import grad as _grad
from ..autograd.scopes import Scope

__all__ = [
    "begin",
    "no_grad",
    "inference_mode",
    "enable_grad",
    "set_grad_enabled",
    "is_grad_enabled",
    "autograd",
]


class _Thread(threading.local):
    begun = False


_thread = _Thread()


def begin() -> None:
    """Switches recording of this thread on, the first time; later it is for `no_grad` and its like to say."""
    if not _thread.begun:
        _thread.begun = True
        _core.set_recording(True)


class _Scope(Scope):
    """A scope that counts as use of gradients, so that nothing inside switches recording on."""

    __slots__ = ()

    def __enter__(self) -> None:
        begin()
        super().__enter__()


def no_grad(function: Any = None) -> Any:
    """Inside, nothing is recorded. A context manager, or a decorator with or without brackets.

    >>> from forerun import torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     w -= 0.5
    >>> w.tolist()
    [0.5, 0.5]
    """
    scope = _Scope(False, None)
    return scope if function is None else scope(function)


inference_mode = no_grad


def enable_grad(function: Any = None) -> Any:
    """Inside, ops are recorded."""
    scope = _Scope(True, None)
    return scope if function is None else scope(function)


class set_grad_enabled:
    """Switches recording of this thread on or off; as a context manager, for its block alone."""

    def __init__(self, mode: bool) -> None:
        begin()
        self._before = _core.set_recording(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _core.set_recording(self._before)


def is_grad_enabled() -> bool:
    """Whether ops of this thread are recorded, or will be from the first use of gradients on."""
    return _core.recording() or not _thread.begun


class autograd:
    """What `torch.autograd` holds."""

    @staticmethod
    def grad(
        outputs: Any,
        inputs: Any,
        grad_outputs: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> tuple[Any, ...]:
        """The gradients of outputs with respect to inputs, as new arrays in a tuple."""
        several = list(inputs) if isinstance(inputs, Sequence) else [inputs]
        return tuple(_grad(outputs, several, grad_outputs, retain_graph, create_graph))
