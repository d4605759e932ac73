"""New arrays of a shape, with one value everywhere or none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base import convert
from .._base import core as _core
from .._base.convert import as_dtype, copy, extents_of, ints_become_floats, is_inexact
from .._base.primitive import direct
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from .arguments import _device, _float_or, _new

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["empty", "zeros", "ones", "full"]


@direct("empty")
def empty(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: None = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of any values; memory is taken when it is first written or read.

    The default float unless dtype is given.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        "F" for an array whose first axis runs fastest in memory.
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of any values.

    Raises
    ------
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    want, where = _float_or(dtype, "empty"), _device(device, ctx)
    return _new("empty", shape, order, like, lambda extents: _core.empty(extents, want, where))


@direct("full")
def full(
    shape: Shape, fill_value: ArrayLike, dtype: DTypeLike = None, order: str = "C", *,
    device: DeviceLike = None, like: None = None, ctx: DeviceLike = None, out: Out = None,
) -> Array:  # fmt: skip
    """Return a new array with one value everywhere, or with values that broadcast to the shape.

    The dtype is that of the value (a Python float: the default float) unless given; a float loses its fraction in
    integers. order, like: as for `empty`.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    fill_value : array_like
        The value.
    dtype : dtype, optional
        The dtype; by default that of the value.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.
    out : array, optional
        An array for the result.

    Returns
    -------
    array
        a new array with one value everywhere.

    Raises
    ------
    ValueError
        If an extent is negative or shapes do not fit.
    OverflowError
        For an integer that does not fit into the dtype.

    Examples
    --------
    >>> from forerun import np
    >>> np.full((2, 2), 7).tolist(), np.full(2, [1.5, 2.0]).tolist()
    ([[7, 7], [7, 7]], [1.5, 2.0])
    """
    if out is not None:
        made = full(shape, fill_value, dtype or out.dtype, order, device=device or ctx, like=like)
        return convert.write_out("full", made, out, None)
    where = _device(device, ctx)
    kind = type(fill_value)
    if kind in (bool, int, float, complex):
        want = as_dtype("full", (float if kind is int and ints_become_floats() else kind) if dtype is None else dtype)
        if _core_takes(kind, want):
            return _new("full", shape, order, like, lambda extents: _core.full(extents, fill_value, want, where))
        fill_value, dtype = numpy.asarray(fill_value), want
    value = convert.asarray(fill_value, dtype, where, "full")
    wide = broadcast_to(value, extents_of("full", "shape", shape))
    return _new("full", wide.shape, order, like, lambda _: copy(transpose(wide) if order == "F" else wide))


def _core_takes(kind: type, dtype: numpy.dtype) -> bool:
    """Return whether a Python number becomes one of a dtype without losing a part."""
    return kind in (bool, int) or dtype.kind in "bc" or (kind is float and is_inexact(dtype))


@direct("zeros")
def zeros(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: None = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of zeros, of the default float (float32) unless dtype is given.

    order, like: as for `empty`.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of zeros.

    Raises
    ------
    ValueError
        If an extent is negative.
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np
    >>> np.zeros((2, 2)).tolist(), np.zeros(2, int).tolist()
    ([[0.0, 0.0], [0.0, 0.0]], [0, 0])
    """
    want, where = _float_or(dtype, "zeros"), _device(device, ctx)
    return _new("zeros", shape, order, like, lambda extents: _core.full(extents, 0, want, where))


@direct("ones")
def ones(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: None = None,
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return a new array of ones, of the default float (float32) unless dtype is given. Errors: as `zeros`.

    Parameters
    ----------
    shape : int or tuple of ints
        The shape of the array.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        a new array of ones.

    Examples
    --------
    >>> from forerun import np
    >>> np.ones(3).tolist()
    [1.0, 1.0, 1.0]
    """
    want, where = _float_or(dtype, "ones"), _device(device, ctx)
    return _new("ones", shape, order, like, lambda extents: _core.full(extents, 1, want, where))
