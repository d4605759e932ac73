"""Recording for gradients as PyTorch does it: always on, but inside `no_grad`.

MXNet's spelling records inside `autograd.record()` only, and both work in one process. So recording of a thread is
switched on when the thread first uses gradients in this spelling: `requires_grad_`, `tensor(requires_grad=True)`,
`nn.Parameter`, a call of a `nn.Module`, or `enable_grad`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..autograd import grad as _grad
from ..autograd.scope import Scope
from ..ops._base import core as _core

if TYPE_CHECKING:
    from ..typing import Array


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
    begun = False  # gradients were used in this spelling
    scopes = 0  # of no_grad and its like, that this thread is in
    off = False  # set_grad_enabled(False) holds


_thread = _Thread()


def begin(leaf: bool = True) -> None:
    """Switch recording of this thread on, unless `no_grad` or the like disables it.

    A program that creates a leaf wants gradients; other calls switch recording on only the first time.
    """
    if (leaf or not _thread.begun) and not _thread.scopes and not _thread.off:
        _core.set_recording(True)
    _thread.begun = True


class _Scope(Scope):
    """A scope that counts as use of gradients, so that nothing inside switches recording on."""

    __slots__ = ()

    def __enter__(self) -> None:
        begin(leaf=False)
        super().__enter__()
        _thread.scopes += 1

    def __exit__(self, *exc: Any) -> None:
        _thread.scopes -= 1
        super().__exit__(*exc)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Array, **kwargs: Any) -> Any:
            with _Scope(self.recording, self.training):
                return function(*args, **kwargs)

        return inside


Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def no_grad(function: None = None) -> _Scope: ...
@overload
def no_grad(function: Function) -> Function: ...
def no_grad(function: Any = None) -> Any:
    """Return a context manager inside which nothing is recorded, or decorate a function by it.

    Parameters
    ----------
    function : callable, optional
        The function to decorate; None for a context manager, or a decorator with brackets.

    Returns
    -------
    context manager, or callable
        The scope, or the decorated function.

    Examples
    --------
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


@overload
def enable_grad(function: None = None) -> _Scope: ...
@overload
def enable_grad(function: Function) -> Function: ...
def enable_grad(function: Any = None) -> Any:
    """Return a context manager inside which operations are recorded, or decorate a function by it.

    Parameters
    ----------
    function : callable, optional
        The function to decorate; None for a context manager, or a decorator with brackets.

    Returns
    -------
    context manager, or callable
        The scope, or the decorated function.

    Examples
    --------
    >>> from forerun import torch
    >>> with torch.no_grad():
    ...     with torch.enable_grad():
    ...         torch.is_grad_enabled()
    True
    """
    scope = _Scope(True, None)
    return scope if function is None else scope(function)


class set_grad_enabled:
    """Switches recording of this thread on or off; as a context manager, for its block alone.

    Parameters
    ----------
    mode : bool
        Whether operations are recorded.

    Examples
    --------
    >>> from forerun import torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        begin(leaf=False)
        self._before = _core.set_recording(mode), _thread.off
        _thread.off = not mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        recording, _thread.off = self._before
        _core.set_recording(recording)


def is_grad_enabled() -> bool:
    """Return whether operations of this thread are recorded, or will be from the first use of gradients on.

    Returns
    -------
    bool
        False inside of `no_grad`.

    Examples
    --------
    >>> from forerun import torch
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
    """
    return _core.recording() or not _thread.begun


class autograd:
    """The names of `torch.autograd`."""

    @staticmethod
    def grad(
        outputs: Array,
        inputs: Array,
        grad_outputs: Array | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> tuple[Any, ...]:
        """Return the gradients of outputs with respect to inputs.

        Parameters
        ----------
        outputs : Tensor or sequence of Tensors
            The results.
        inputs : Tensor or sequence of Tensors
            The tensors that they were computed from.
        grad_outputs : Tensor or sequence of Tensors, optional
            The gradients of the outputs; ones by default.
        retain_graph : bool, optional
            Whether the tape is kept for another backward pass; None: if `create_graph`.
        create_graph : bool, optional
            Whether the gradients can be differentiated again.

        Returns
        -------
        tuple
            The gradients, new tensors.

        Examples
        --------
        >>> from forerun import torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> torch.autograd.grad((x * x).sum(), x)[0].tolist()
        [6.0]
        """
        several = list(inputs) if isinstance(inputs, Sequence) else [inputs]
        return tuple(_grad(outputs, several, grad_outputs, retain_graph, create_graph))
