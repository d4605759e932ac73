"""Dtypes under PyTorch's names. They are NumPy's dtypes."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from ..typing import DTypeLike

__all__ = [
    "as_dtype", "float16", "half", "float32", "float", "float64", "double", "int8", "int16", "short",
    "int32", "int", "int64", "long", "uint8", "bool", "complex64", "complex128", "dtype", "finfo", "iinfo",
]  # fmt: skip

dtype = numpy.dtype
finfo, iinfo = numpy.finfo, numpy.iinfo

float16 = half = numpy.dtype("float16")
float32 = float = numpy.dtype("float32")
float64 = double = numpy.dtype("float64")
int8, uint8 = numpy.dtype("int8"), numpy.dtype("uint8")
int16 = short = numpy.dtype("int16")
int32 = int = numpy.dtype("int32")
int64 = long = numpy.dtype("int64")
bool = numpy.dtype("bool")
complex64, complex128 = numpy.dtype("complex64"), numpy.dtype("complex128")


def as_dtype(given: DTypeLike, default: object = None) -> Any:
    """Return the named dtype, or the default. Python's own `float` means float32: the default, as everywhere here.

    Parameters
    ----------
    given : dtype, str, type or None
        The dtype, a name, or a type.
    default : dtype, optional
        The dtype that None means.

    Returns
    -------
    dtype
        The dtype.

    Examples
    --------
    >>> as_dtype(None, int64), as_dtype("float64")
    (dtype('int64'), dtype('float64'))
    """
    if given is None:
        return default
    return float32 if given is builtins.float else numpy.dtype(given)
