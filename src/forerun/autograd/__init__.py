"""Gradients: ops are recorded on a tape while they are issued, and walked back.

>>> from forerun import autograd, np
>>> w = np.array([1.0, 2.0]); w.attach_grad()
>>> with autograd.record():
...     loss = (w ** 2).sum()
>>> loss.backward()
>>> w.grad.tolist()
[2.0, 4.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.tape import Variable
from .function import Function as Function
from .scopes import is_recording as is_recording
from .scopes import is_training as is_training
from .scopes import pause as pause
from .scopes import predict_mode as predict_mode
from .scopes import record as record
from .scopes import set_recording as set_recording
from .scopes import set_training as set_training
from .scopes import train_mode as train_mode
from .walk import backward as backward
from .walk import grad as grad


def mark_variables(
    variables: Sequence[Any], gradients: Sequence[Any], grad_reqs: str | Sequence[str] = "write"
) -> None:
    """Makes arrays leaves of the tape, with given arrays for their gradients."""
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else grad_reqs
    for x, g, request in zip(variables, gradients, requests, strict=True):
        x.node = Variable(g, request)
