"""Arguments of the functions that make arrays: devices, dtypes, and the order of a new array in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import Device, resolve
from .._base.convert import as_dtype, check_choice, default_float, extents_of, is_array, unsupported
from ..shape.axis_order import transpose

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike

__all__: list[str] = []


def _device(device: DeviceLike, ctx: DeviceLike) -> Device:
    """MXNet's `ctx` is another word for `device`."""
    return resolve(device if device is not None else ctx)


def _float_or(dtype: DTypeLike, op: str) -> numpy.dtype:
    return default_float() if dtype is None else as_dtype(op, dtype)


def _known(x: ArrayLike) -> Any:
    """Return values of an array argument that decides about the result's shape: reading them waits."""
    return x.numpy() if is_array(x) else x


def _new(op: str, shape: Any, order: str, like: None, make: Callable[[tuple[int, ...]], Array]) -> Array:
    """Return make(shape); with order "F", the first axis varies fastest in memory."""
    if order == "C" and like is None:
        return _allocated(op, make, extents_of(op, "shape", shape))
    unsupported(op, like=like)
    order = order or "C"
    check_choice(op, "order", order, ("C", "F", "A", "K"))
    extents = extents_of(op, "shape", shape)
    return transpose(_allocated(op, make, extents[::-1])) if order == "F" else _allocated(op, make, extents)


def _allocated(op: str, make: Callable[[tuple[int, ...]], Array], extents: tuple[int, ...]) -> Array:
    try:
        return make(extents)
    except MemoryError as error:  # of the core, which calls all of them full
        raise MemoryError(str(error).replace("full:", f"{op}:", 1)) from None
