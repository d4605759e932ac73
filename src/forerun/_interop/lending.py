"""Arrays taken from NumPy and from capsules of DLPack, in MXNet's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._runtime.device import current_device
from ..ops._base import core as _core
from ..ops._base.convert import asarray
from ..ops.create.array import array
from . import dlpack as exchange

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read"]


def from_numpy(ndarray: numpy.ndarray, zero_copy: bool = True) -> Array:
    """Return an array with the values of one of NumPy's.

    Parameters
    ----------
    ndarray : numpy.ndarray
        The values.
    zero_copy : bool, optional
        True: the result shares the memory, and NumPy's array is marked as read-only, as operations may still have to
        read it. Writes to the result go to a copy. False: the values are copied.

    Returns
    -------
    array
        An array with these values, of the shape and dtype of `ndarray`.

    Raises
    ------
    TypeError
        If `ndarray` is not an array of NumPy, or has a dtype that arrays cannot have.
    BufferError
        If memory of that dtype cannot be shared.

    Examples
    --------
    >>> import numpy
    >>> from forerun import npx
    >>> values = numpy.arange(3.0)
    >>> npx.from_numpy(values).tolist(), values.flags.writeable
    ([0.0, 1.0, 2.0], False)
    """
    if not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f"from_numpy: ndarray must be a NumPy array, got {type(ndarray).__name__}")
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    shared = exchange.from_dlpack(ndarray)
    ndarray.flags.writeable = False
    return shared


def to_dlpack_for_read(data: Array) -> Any:
    """Return a capsule of DLPack with the values of an array as they are now.

    It waits for the values. No later operation changes them.

    Parameters
    ----------
    data : array
        The array.

    Returns
    -------
    PyCapsule
        The capsule, for `from_dlpack` of this or another library.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.from_dlpack(npx.to_dlpack_for_read(np.arange(3))).tolist()
    [0, 1, 2]
    """
    return asarray(data).__dlpack__()


def from_dlpack(dlpack: Any) -> Array:
    """Return an array of a DLPack capsule, or of an object with `__dlpack__`, as `np.from_dlpack` does.

    Parameters
    ----------
    dlpack : capsule, or array of a library that has `__dlpack__`
        The values. A capsule can be taken once.

    Returns
    -------
    array
        An array with these values.

    Raises
    ------
    ValueError
        For a capsule that has been taken already.
    AttributeError
        If `dlpack` is neither a capsule nor an object with `__dlpack__`.
    BufferError
        If the array cannot be imported.

    Examples
    --------
    >>> import numpy
    >>> from forerun import npx
    >>> npx.from_dlpack(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    if type(dlpack).__name__ == "PyCapsule":
        return _core.from_dlpack(dlpack, current_device(), -1)
    return exchange.from_dlpack(dlpack)
