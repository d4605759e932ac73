"""Functions of gradients for training."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ... import np
from ..._display.namespaces import dir_of
from ..grad import no_grad

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["clip_grad_norm_"]
__dir__ = dir_of(__name__)


def clip_grad_norm_(parameters: Iterable[Any], max_norm: float) -> Array:
    """Scale gradients in place so that their common 2-norm is at most `max_norm`, and return the norm before.

    The call does not wait: the factor is computed when the gradients are.

    Parameters
    ----------
    parameters : iterable of Tensor
        The tensors whose gradients are scaled; those without a gradient are left out.
    max_norm : float
        The largest norm.

    Returns
    -------
    Tensor
        The norm of all gradients before, a tensor without axes.

    Raises
    ------
    ValueError
        If no parameter has a gradient.

    Examples
    --------
    >>> from forerun import torch
    >>> w = torch.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w / 2).sum().backward()
    >>> clip_grad_norm_([w], 1.0).item()
    5.0
    >>> [round(g, 3) for g in w.grad.tolist()]
    [0.6, 0.8]
    """
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        raise ValueError("clip_grad_norm_: parameters must have gradients, got none")
    with no_grad():
        squares = [np.sum(np.square(g)).to_device(grads[0].device) for g in grads]
        norm = np.sqrt(np.sum(np.stack(squares)))
        factor = np.minimum(max_norm / (norm + math.ulp(1.0)), 1.0)
        for g in grads:
            g *= factor.to_device(g.device).astype(g.dtype, copy=False)
    return norm
