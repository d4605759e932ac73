"""Where gradients arrive: the leaves of the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core

__all__ = ["Variable", "attach_grad", "set_walk", "backward", "of_steps"]

Variable = _core.Variable


def attach_grad(x: Any, grad_req: str = "write") -> None:
    """Makes x a leaf of the tape, with a gradient of zeros of its shape and dtype. A scalar becomes an array.

    The gradient of integers and bools is always zero. ValueError if grad_req is not "write", "add" or "null".

    >>> from forerun import np
    >>> x = np.ones(2)
    >>> attach_grad(x); x.grad.tolist()
    [0.0, 0.0]
    """
    x = _core.as_array(x)  # a leaf is what training writes to
    grad = _core.full(x.shape, 0, x.dtype, x.device) if grad_req != "null" else None
    x.node = Variable(grad, grad_req)


def of_steps(function: Callable[..., Any], g: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients of an op's inputs, recorded: those of a function that computes the same in steps.

    function: of the inputs; its result, or results in a tuple, as g has gradients. None for inputs that want none.

    >>> from forerun import autograd, np
    >>> x = np.array([3.0]); attach_grad(x)
    >>> with autograd.record():
    ...     g = of_steps(lambda a: a * a, np.ones(1), (x,))[0]
    >>> g.tolist()
    [6.0]
    """
    y = function(*inputs)
    results, heads = (list(v) if isinstance(v, tuple) else [v] for v in (y, g))
    on_tape = [x for x in inputs if x.node is not None]
    found = _core.walk("grad", results, heads, on_tape, True, True, _core.training(), False)
    by_id = {id(x): v for x, v in zip(on_tape, found)}
    return tuple(by_id.get(id(x)) for x in inputs)


_walk: Callable[..., None] | None = None


def set_walk(walk: Callable[..., None]) -> None:
    """Tells how gradients are computed: `forerun.autograd` does when it is imported; nothing is recorded
    without it."""
    global _walk
    _walk = walk


def backward(heads: list[Any], head_grads: Any, retain_graph: bool, train_mode: bool) -> None:
    """Computes gradients of the heads and puts them where the leaves are.

    RuntimeError if nothing was recorded.

    >>> from forerun import autograd, np
    >>> x = np.array([3.0]); attach_grad(x)
    >>> with autograd.record():
    ...     y = x * x
    >>> backward([y], None, retain_graph=False, train_mode=True); x.grad.tolist()
    [6.0]
    """
    if _walk is None:
        raise RuntimeError(
            "backward: array must have been computed under autograd.record(), got one that was not"
        )
    _walk(heads, head_grads, retain_graph, train_mode)
