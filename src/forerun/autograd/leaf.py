"""Leaves of the tape: arrays that gradients arrive at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import _core

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["Variable", "attach_grad", "mark_variables"]

Variable = _core.Variable


def attach_grad(x: Array, grad_req: str = "write") -> None:
    """Make x a leaf of the tape, with a gradient of zeros of its shape and dtype. A scalar becomes an array.

    The gradient of integers and bools is always zero. ValueError if grad_req is not "write", "add" or "null".

    >>> from forerun import np
    >>> x = np.ones(2)
    >>> attach_grad(x); x.grad.tolist()
    [0.0, 0.0]
    """
    x = _core.as_array(x)  # training writes to a leaf
    grad = _core.full(x.shape, 0, x.dtype, x.device) if grad_req != "null" else None
    x.node = Variable(grad, grad_req)


def mark_variables(
    variables: Sequence[Array], gradients: Sequence[Array], grad_reqs: str | Sequence[str] = "write"
) -> None:
    """Make arrays leaves of the tape, with given arrays for their gradients.

    Parameters
    ----------
    variables : sequence of Array
        The arrays.
    gradients : sequence of Array
        An array for the gradient of each, which the backward pass writes to.
    grad_reqs : str or sequence of str, default "write"
        "write", "add" or "null", for all of them or for each.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> x, g = np.array([3.0]), np.zeros(1)
    >>> autograd.mark_variables([x], [g])
    >>> with autograd.record():
    ...     y = x * x
    >>> y.backward(); g.tolist()
    [6.0]
    """
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else grad_reqs
    for x, g, request in zip(variables, gradients, requests, strict=True):
        x.node = Variable(g, request)
