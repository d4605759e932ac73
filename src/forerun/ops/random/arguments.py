"""Arguments of the functions that draw: the device and the shape of their numbers, and `out`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import Device, resolve
from .._base.convert import as_dtype, broadcast_shapes, device_of, extents_of, is_array, write_out

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["device_for", "draw_into"]

_FLOAT32 = numpy.dtype("float32")


def _numbers(*parameters: Any) -> bool:
    """Return whether these are all numbers, not arrays of any kind."""
    return all(isinstance(p, (int, float)) or not (is_array(p) or numpy.ndim(p)) for p in parameters)


def device_for(device: DeviceLike, *parameters: ArrayLike) -> Device:
    """Return the device for numbers: the one given, or that of an array among the parameters, or the current one.

    >>> device_for(None, 1.0, [2.0])
    cpu(0)
    """
    return resolve(device_of(*parameters) if device is None else device)


def _shape(op: str, size: Shape | None, *parameters: Any) -> tuple[int, ...]:
    if size is None:
        return () if _numbers(*parameters) else broadcast_shapes(op, *(numpy.shape(p) for p in parameters))
    shape = extents_of(op, "size", size)
    if shape and min(shape) < 0:
        raise ValueError(f"{op}: size must not be negative, got {shape}")
    return shape


def _rows(op: str, x: Array) -> int:
    """Return the number of rows of x. ValueError if it has no axis."""
    if x.ndim == 0:
        raise ValueError(f"{op}: array must have at least one axis, got shape ()")
    return int(x.shape[0])


def draw_into(
    op: str, out: Out, size: Shape | None, dtype: DTypeLike, draw: Callable[[Shape | None, Any], Array]
) -> Array:
    """Return draw(size, dtype), written into `out` if that is given: of its shape and dtype.

    ValueError if size, TypeError if dtype says something else.

    >>> from forerun import np
    >>> draw_into("zeros", np.empty(2), None, None, np.zeros).tolist()
    [0.0, 0.0]
    """
    if out is None:
        return draw(size, dtype)
    if size is not None and _shape(op, size) != out.shape:
        raise ValueError(f"{op}: size must be that of out, got {size} for {out.shape}")
    if dtype is not None and as_dtype(op, dtype) != out.dtype:
        raise TypeError(f"{op}: dtype must be that of out, got {dtype} for {out.dtype}")
    return write_out(op, draw(out.shape, out.dtype), out)
