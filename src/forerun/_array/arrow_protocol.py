"""Arrays as columns of Arrow, by its PyCapsule interface: Polars, pyarrow, DuckDB and others read them without a copy.

The capsules are made by pyarrow, or by Polars where only that is installed: their release functions may be called at
any time, also while an exception is on its way, which functions in Python must not be.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["arrow_c_array", "arrow_c_stream"]


@functools.cache
def _has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def _values(x: Array) -> numpy.ndarray[Any, Any]:
    """Return the values, which it waits for. ValueError without axes."""
    if not x.ndim:
        raise ValueError("__arrow_c_array__: array must have an axis, got none")
    return numpy.ascontiguousarray(x.numpy())


def _column(x: Array) -> Any:
    """Return an array of pyarrow; rows of several axes are lists of fixed size."""
    import pyarrow

    values = _values(x)
    try:
        found = pyarrow.array(values.reshape(-1))
    except pyarrow.ArrowException:
        raise TypeError(f"__arrow_c_array__: dtype must be one of Arrow's, got {x.dtype}") from None
    rows = values.size
    for i in range(values.ndim - 1, 0, -1):
        extent = values.shape[i]
        rows = int(numpy.prod(values.shape[:i]))
        kind = pyarrow.list_(found.type, extent)
        # From buffers, as lists of no elements have their number from the rows.
        found = pyarrow.Array.from_buffers(kind, rows, [None], 0, children=[found])
    return found


def arrow_c_array(self: Any) -> Callable[..., Any]:
    """`__arrow_c_array__`: the function that gives the array as a column of Arrow, in two capsules. It waits.

    Contiguous values are shared, and no later operation changes them; bools are copied. AttributeError without pyarrow.
    The function raises TypeError for a dtype that Arrow lacks, ValueError for an array without axes.
    """
    if not _has_pyarrow():
        raise AttributeError("__arrow_c_array__: pyarrow must be installed, got none")
    return lambda requested_schema=None: _column(self).__arrow_c_array__(requested_schema)


def arrow_c_stream(self: Any) -> Callable[..., Any]:
    """`__arrow_c_stream__`: the same as a stream, made by Polars. AttributeError if that is not imported."""
    polars = sys.modules.get("polars")
    if polars is None:
        raise AttributeError("__arrow_c_stream__: polars must be imported, got no such module")
    return lambda requested_schema=None: polars.Series(_values(self)).__arrow_c_stream__(requested_schema)
