"""Masks as indices of NumPy's arrays."""

from __future__ import annotations

import dis
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["no_index"]

_NAMES = ("BINARY_SUBSCR", "BINARY_OP", "STORE_SUBSCR", "DELETE_SUBSCR")


def _uses_subscripts(x: Any, key: Any) -> None:
    x[key] = x[key]
    del x[key]


def _subscripts() -> frozenset[bytes]:
    """Return the instructions that read, write and delete `x[key]`, which differ between Python's versions."""
    code = _uses_subscripts.__code__
    return frozenset(code.co_code[i.offset : i.offset + 2] for i in dis.get_instructions(code) if i.opname in _NAMES)


_SUBSCRIPTS = _subscripts()


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
    return frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2] in _SUBSCRIPTS
