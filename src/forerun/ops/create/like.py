"""New arrays of one value that are like others: of their shape, dtype, layout and device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import Device, resolve
from .._base import convert
from .._base.convert import as_dtype, check_choice, extents_of
from .._base.primitive import direct
from ..shape.memory_order import fortran, memory_axes
from .fill import empty, full, ones, zeros

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["empty_like", "zeros_like", "ones_like", "full_like"]


def _as(
    op: str, x: ArrayLike, dtype: DTypeLike, order: str | None, shape: Any, device: DeviceLike
) -> tuple[Any, numpy.dtype, str, Device]:
    """Return shape, dtype, order and device: those given, else those of the prototype."""
    x = convert.asarray(x)
    order = order or "K"
    check_choice(op, "order", order, ("C", "F", "A", "K"))
    if order != "C":
        axes = [axis for axis in memory_axes(x) if x.shape[axis] > 1]
        is_reversed = len(axes) > 1 and axes == sorted(axes, reverse=True)
        order = "F" if order == "F" or (is_reversed if order == "K" else fortran(x)) else "C"
    want = x.dtype if dtype is None else as_dtype(op, dtype)
    where = x.device if device is None else resolve(device)
    return (x.shape if shape is None else extents_of(op, "shape", shape)), want, order, where


@direct("empty_like")
def empty_like(
    prototype: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Shape | None = None,
    *, device: DeviceLike = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of any values with the shape, dtype and device of another one unless given.

    Parameters
    ----------
    prototype : array_like
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        "K" for the layout of that array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of any values with the shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.empty_like(np.arange(6).reshape(2, 3)).shape
    (2, 3)
    """
    extents, want, how, where = _as("empty_like", prototype, dtype, order, shape, device or ctx)
    return empty(extents, want, how, device=where)


@direct("zeros_like")
def zeros_like(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True, shape: Shape | None = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return zeros with the shape, dtype, layout and device of an array unless given. out: an array for the result.

    Parameters
    ----------
    a : array_like
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        The order of the elements in memory: "K" for that of the array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Zeros with the shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.zeros_like(np.arange(3)).tolist(), np.zeros_like(np.arange(3), shape=(1, 2)).tolist()
    ([0, 0, 0], [[0, 0]])
    """
    extents, want, how, where = _as("zeros_like", a, dtype, order, shape, device or ctx)
    return convert.write_out("zeros_like", zeros(extents, want, how, device=where), out, None)


@direct("ones_like")
def ones_like(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True, shape: Shape | None = None, *,
    device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return ones with the shape, dtype, layout and device of an array unless given. out: an array for the result.

    Parameters
    ----------
    a : array_like
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        The order of the elements in memory: "K" for that of the array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Ones with the shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.ones_like(np.arange(3), dtype=float).tolist()
    [1.0, 1.0, 1.0]
    """
    extents, want, how, where = _as("ones_like", a, dtype, order, shape, device or ctx)
    return convert.write_out("ones_like", ones(extents, want, how, device=where), out, None)


@direct("full_like")
def full_like(
    a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, order: str | None = "K", subok: bool = True,
    shape: Shape | None = None, *, device: DeviceLike = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return one value everywhere, with the shape, dtype, layout and device of an array unless given.

    A float loses its fraction in integers.

    Parameters
    ----------
    a : array_like
        The array whose shape, dtype and device are used.
    fill_value : array_like
        The value.
    dtype : dtype, optional
        Another dtype.
    order : str, optional
        The order of the elements in memory: "K" for that of the array, "C" or "F".
    subok : bool, optional
        Has no effect.
    shape : int or tuple of ints, optional
        Another shape.
    device : device, optional
        Another device.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        One value everywhere.

    Raises
    ------
    OverflowError
        For an integer that does not fit into the dtype.

    Examples
    --------
    >>> from forerun import np
    >>> np.full_like(np.arange(3), 7).tolist()
    [7, 7, 7]
    """
    extents, want, how, where = _as("full_like", a, dtype, order, shape, device or ctx)
    return convert.write_out("full_like", full(extents, fill_value, want, how, device=where), out, None)
