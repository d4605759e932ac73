"""The dtypes of arrays that are made of Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core

__all__ = ["default_float", "ints_become_floats", "set_defaults"]

_default_float = numpy.dtype("float32")
_ints_become_floats = False


def default_float() -> numpy.dtype:
    """Return the dtype of floats without an explicit dtype: float32 unless `forerun.configure(float=...)` changed it.

    >>> default_float()
    dtype('float32')
    """
    return _default_float


def ints_become_floats() -> bool:
    """Return whether creation from Python numbers gives floats, as in MXNet.

    >>> ints_become_floats()
    False
    """
    return _ints_become_floats


def set_defaults(float_dtype: Any, ints_become_floats: bool) -> None:
    """Set the dtypes of new arrays: the default float, and whether Python integers become floats, as in MXNet.

    >>> set_defaults("float64", ints_become_floats=False); default_float()
    dtype('float64')
    >>> set_defaults("float32", ints_become_floats=False)
    """
    global _default_float, _ints_become_floats
    _default_float, _ints_become_floats = numpy.dtype(float_dtype), ints_become_floats
    _core.set_defaults(_default_float, ints_become_floats)
