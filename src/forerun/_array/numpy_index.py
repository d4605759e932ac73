"""Masks as indices of NumPy's arrays."""

from __future__ import annotations

import dis
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["no_index"]

_SUBSCRIPTS = ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")


def no_index(mask: Array) -> None:
    """Raise IndexError if the calling line indexes NumPy's array with an empty mask of several axes.

    NumPy converts objects to arrays and takes those without elements as integers, whatever their dtype is. The result
    would have another shape than with its own mask. The core calls this when such a mask is converted.
    """
    if _runs_subscript(sys._getframe(1)):
        raise IndexError(
            f"index: an empty mask of several axes must be NumPy's to index an array of NumPy, got forerun's of shape "
            f"{mask.shape}: pass mask.asnumpy()"
        )


def _runs_subscript(frame: FrameType) -> bool:
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            name = instruction.opname
            return name in _SUBSCRIPTS or (name == "BINARY_OP" and instruction.argrepr == "[]")
    return False
