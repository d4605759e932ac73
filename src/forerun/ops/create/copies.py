"""Copies of arrays: as they are, with another dtype, or in another order in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.primitive import direct
from ..shape.reshape import atleast_1d
from .array import array, asarray

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__ = ["ascontiguousarray", "astype", "copy"]


@direct("contiguous")
def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None, *, like: None = None) -> Array:
    """Return `a` as an array of at least one axis in C order; `a` itself if it is one.

    Parameters
    ----------
    a : array_like
        Numbers, nested lists, NumPy arrays or arrays.
    dtype : dtype, optional
        The dtype of the result; by default that of the values.
    like : None, optional
        Must not be given.

    Returns
    -------
    array
        `a` as an array of at least one axis in C order.

    Examples
    --------
    >>> from forerun import np
    >>> np.ascontiguousarray(5).shape
    (1,)
    """
    result: Array = atleast_1d(asarray(a, dtype, "C", like=like))
    return result


@direct("copy_of")
def copy(a: ArrayLike, order: str = "K", subok: bool = False) -> Array:
    """Return a copy of an array, with its dtype, on its device.

    Parameters
    ----------
    a : array_like
        The values.
    order : str, optional
        "F" for one whose first axis runs fastest in memory, "C" for the last one, "A" for "F" if that is the order of
        the array and "C" if not, "K" for the order of the array's axes.
    subok : bool, optional
        Has no effect, but by NumPy's rules, where the class of an array is kept.

    Returns
    -------
    array
        A copy of an array, with its dtype, on its device.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.zeros(2)
    >>> y = np.copy(x); y += 1
    >>> x.tolist(), y.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    return array(a, order=order, subok=subok)


def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike = None) -> Array:
    """Return x with its elements converted to a dtype. Floats lose their fraction in integers.

    Parameters
    ----------
    x : array_like
        The values.
    dtype : dtype
        The new dtype.
    copy : bool, optional
        False returns x itself if it has that dtype and is on that device.
    device : device, optional
        Where the result is to be, by default where x is.

    Returns
    -------
    array
        `x` with its elements converted to a dtype.

    Raises
    ------
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np
    >>> np.astype(np.array([1.5, -1.5]), int).tolist()
    [1, -1]
    """
    x = asarray(x)
    moved = x if device is None else x.to_device(device)
    return moved.astype(dtype, copy=copy and moved is x)
