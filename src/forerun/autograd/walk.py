"""Gradients of heads: for the leaves of the tape, or as new arrays. The core walks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from ..ops.base import primitive
from ..ops.convert import cast
from ..ops.shape import broadcast_to, real
from ..ops.tape import set_walk

__all__ = ["backward", "grad"]


@primitive(lambda g, shape: g if g.shape == shape else broadcast_to(g, shape))
def _sum_to(x: Any, to: Any) -> Any:
    return _core.sum_to(x, to)


def _fitted(g: Any, like: Any) -> Any:
    """A gradient with the shape and dtype of the input: summed where that was broadcast."""
    if g.shape != like.shape:
        g = _sum_to(g, like.shape)
    if g.dtype != like.dtype:
        if g.dtype.kind == "c" and like.dtype.kind != "c":
            g = real(g)
        g = g if g.dtype == like.dtype else cast(g, like.dtype)
    return g


_core.set_hooks(fit=_fitted)


def _listed(op: str, heads: Any, head_grads: Any) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """Heads and their gradients (None: all ones) as sequences of one length."""
    heads = heads if isinstance(heads, (list, tuple)) else [heads]
    if head_grads is None:
        return heads, None
    grads = head_grads if isinstance(head_grads, (list, tuple)) else [head_grads]
    if len(grads) != len(heads):
        raise ValueError(f"{op}: head gradients must be as many as heads, got {len(grads)} for {len(heads)}")
    return heads, grads


def backward(
    heads: Any,
    head_grads: Any = None,
    retain_graph: bool = False,
    train_mode: bool = True,
    create_graph: bool = False,
) -> None:
    """Computes the gradients of heads (an array or several) and puts them where leaves have them (`x.grad`).

    head_grads: gradients of the heads, ones by default. retain_graph: the tape stays for another walk.
    Returns at once: the gradients are ops like any other. RuntimeError if a head is not on the tape, was
    walked before, or if a value that a gradient needs was overwritten.
    """
    heads, head_grads = _listed("backward", heads, head_grads)
    _core.walk("backward", heads, head_grads, None, retain_graph, create_graph, train_mode)


def grad(
    heads: Any, variables: Any, head_grads: Any = None, retain_graph: bool | None = None, create_graph: bool
    = False,
    train_mode: bool = True,
) -> Any:  # fmt: skip
    """The gradients of heads with respect to variables, as new arrays; `x.grad` stays as it is.

    create_graph: the gradients are recorded, so that they can be differentiated again.

    >>> from forerun import autograd, np
    >>> x = np.array([2.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x * x
    ...     dy = autograd.grad(y, x, create_graph=True)
    >>> dy.backward()
    >>> dy.item(), x.grad.item()
    (12.0, 12.0)
    """
    single = not isinstance(variables, (list, tuple))
    wanted = [variables] if single else list(variables)
    for x in wanted:
        if x.node is None:
            raise ValueError("grad: variables must be on the tape (attach_grad), got one that is not")
    heads, head_grads = _listed("grad", heads, head_grads)
    keep = create_graph if retain_graph is None else retain_graph
    results = _core.walk("grad", heads, head_grads, wanted, keep, create_graph, train_mode)
    return results[0] if single else results


set_walk(backward)
