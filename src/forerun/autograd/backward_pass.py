"""The backward pass: gradients of heads, for the leaves of the tape or as new arrays. The core walks the tape."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from .. import _core

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["backward", "follow", "grad", "of_steps"]


class _Thread(threading.local):
    followers: tuple[Callable[[], None], ...] = ()


_thread = _Thread()


def follow(act: Callable[[], None]) -> None:
    """Let a function be called behind the next backward pass of this thread, once."""
    _thread.followers = (*_thread.followers, act)


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
    heads: Array | Sequence[Array],
    head_grads: Array | Sequence[Array | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
    create_graph: bool = False,
) -> None:
    """Compute the gradients of heads and put them where leaves have them (`x.grad`).

    Returns at once: the gradients are ops like any other.

    Parameters
    ----------
    heads : Array or sequence of Array
        The results that are differentiated.
    head_grads : Array or sequence of Array, optional
        Gradients of the heads; ones by default.
    retain_graph : bool, default False
        Whether the tape stays for another backward pass.
    train_mode : bool, default True
        Whether operations compute as in training.
    create_graph : bool, default False
        Whether the gradients are recorded, so that they can be differentiated again.

    Raises
    ------
    RuntimeError
        If a head is not on the tape or was walked before, or if a value that a gradient needs was overwritten.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> x = np.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x
    >>> autograd.backward(y); x.grad.tolist()
    [6.0]
    """
    heads, head_grads = _listed("backward", heads, head_grads)
    _core.run_backward("backward", heads, head_grads, None, retain_graph, create_graph, train_mode)
    if _thread.followers:
        followers, _thread.followers = _thread.followers, ()
        for act in followers:
            act()


@overload
def grad(
    heads: Array | Sequence[Array], variables: Array, head_grads: Array | Sequence[Array | None] | None = None,
    retain_graph: bool | None = None, create_graph: bool = False, train_mode: bool = True,
) -> Array: ...  # fmt: skip
@overload
def grad(
    heads: Array | Sequence[Array], variables: Sequence[Array],
    head_grads: Array | Sequence[Array | None] | None = None, retain_graph: bool | None = None,
    create_graph: bool = False, train_mode: bool = True,
) -> list[Array]: ...  # fmt: skip
def grad(
    heads: Array | Sequence[Array], variables: Array | Sequence[Array],
    head_grads: Array | Sequence[Array | None] | None = None, retain_graph: bool | None = None,
    create_graph: bool = False, train_mode: bool = True,
) -> Array | list[Array]:  # fmt: skip
    """Return the gradients of heads with respect to variables, as new arrays; `x.grad` stays as it is.

    Parameters
    ----------
    heads : Array or sequence of Array
        The results that are differentiated.
    variables : Array or sequence of Array
        The arrays by which they are differentiated.
    head_grads : Array or sequence of Array, optional
        Gradients of the heads; ones by default.
    retain_graph : bool, optional
        Whether the tape stays for another pass; by default, as create_graph says.
    create_graph : bool, default False
        Whether the gradients are recorded, so that they can be differentiated again.
    train_mode : bool, default True
        Whether operations compute as in training.

    Returns
    -------
    Array or list of Array
        The gradients: an array, or a list for several variables.

    Raises
    ------
    RuntimeError
        As `backward` raises it.

    Examples
    --------
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
    wanted: list[Any] = [variables] if single else list(variables)
    for x in wanted:
        if x.node is None:
            raise ValueError("grad: variables must be on the tape (attach_grad), got one that is not")
    heads, head_grads = _listed("grad", heads, head_grads)
    keep = create_graph if retain_graph is None else retain_graph
    results: list[Array] = _core.run_backward("grad", heads, head_grads, wanted, keep, create_graph, train_mode)
    return results[0] if single else results


def of_steps(function: Callable[..., Any], g: Array, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradients of an op's inputs, recorded: those of a function that computes the same in steps.

    function: of the inputs; its result, or results in a tuple, as g has gradients. None for inputs that want none.

    >>> from forerun import autograd, np
    >>> x = np.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     g = of_steps(lambda a: a * a, np.ones(1), (x,))[0]
    >>> g.tolist()
    [6.0]
    """
    y = function(*inputs)
    results, heads = (list(v) if isinstance(v, tuple) else [v] for v in (y, g))
    on_tape = [x for x in inputs if x.node is not None]
    found = _core.run_backward("grad", results, heads, on_tape, True, True, _core.training(), False)
    by_id = {id(x): v for x, v in zip(on_tape, found)}
    return tuple(by_id.get(id(x)) for x in inputs)
