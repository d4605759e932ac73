"""Gradients: operations are recorded on a tape as they are issued, and the backward pass differentiates them.

>>> from forerun import autograd, np
>>> w = np.array([1.0, 2.0]); w.attach_grad()
>>> with autograd.record():
...     loss = (w ** 2).sum()
>>> loss.backward()
>>> w.grad.tolist()
[2.0, 4.0]
"""

from __future__ import annotations

from .._display.namespaces import dir_of
from .backward_pass import backward as backward
from .backward_pass import grad as grad
from .function import Function as Function
from .leaf import mark_variables as mark_variables
from .scope import is_recording as is_recording
from .scope import is_training as is_training
from .scope import pause as pause
from .scope import predict_mode as predict_mode
from .scope import record as record
from .scope import set_recording as set_recording
from .scope import set_training as set_training
from .scope import train_mode as train_mode

__all__ = [
    "Function", "backward", "grad", "is_recording", "is_training", "mark_variables", "pause", "predict_mode", "record",
    "set_recording", "set_training", "train_mode",
]  # fmt: skip
__dir__ = dir_of(__name__)
