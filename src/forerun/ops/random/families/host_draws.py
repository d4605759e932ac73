"""Numbers that NumPy draws, in a host task, from a stream of the op's key: functions that their distributions share."""

from __future__ import annotations

import functools
import reprlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..._base.convert import as_dtype, as_index_array, asarray, broadcast_shapes, default_float, is_array, is_real_float
from ..._base.host_task import host_op
from ..._base.random_stream import current
from ..arguments import _numbers, _shape, device_for
from ..conditions import check_parameters, known

if TYPE_CHECKING:
    from ....typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__: list[str] = []


@functools.cache
def _checking() -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.Philox(key=0))


def _refused(name: str, draw: Callable[..., Any], parameters: Sequence[Any]) -> None:
    """Raise an error for known invalid parameters; if all are known, also NumPy's errors."""
    check_parameters(name, parameters)
    if all(map(known, parameters)):  # drawing nothing tells
        _asked(name, draw, _checking(), parameters, (0, *broadcast_shapes(name, *(numpy.shape(p) for p in parameters))))


def _asked(
    name: str, draw: Callable[..., Any], generator: numpy.random.Generator, parameters: Sequence[Any], shape: Shape
) -> Array:
    """Draw with NumPy; its errors get the name of the distribution."""
    try:
        drawn: Array = draw(generator, *parameters, shape)
        return drawn
    except ValueError as error:
        got = ", ".join(map(reprlib.repr, parameters))
        raise ValueError(f"{name}: {error}, got {got}") from None


def _drawn(
    name: str,
    draw: Callable[..., Any],
    parameters: Sequence[Any],
    size: Shape | None,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Array:
    """Draw with NumPy in a host task; parameters that are arrays are its inputs, and broadcast."""
    shape, want, device = _shape(name, size, *parameters), as_dtype(name, dtype), device_for(device, *parameters)
    if size is not None and broadcast_shapes(name, shape, *(numpy.shape(p) for p in parameters)) != shape:
        raise ValueError(f"{name}: parameters must broadcast to size {shape}, got other shapes")
    _refused(name, draw, parameters)
    make = current().generator()

    def result(*values: ArrayLike) -> numpy.ndarray:
        check_parameters(name, values)
        return numpy.asarray(_asked(name, draw, make(), values, shape)).astype(want)

    if _numbers(*parameters):
        return host_op(name, lambda _: result(*parameters), [asarray(0, device=device)], shape, want)
    arrays = [as_index_array(p, device=None if is_array(p) else device) for p in parameters]
    return host_op(name, result, arrays, shape, want)


def _counts(name: str, *parameters: ArrayLike, size: Shape | None, dtype: DTypeLike, device: DeviceLike) -> Array:
    method = lambda generator, *args: getattr(generator, name)(*args)
    return _drawn(name, method, parameters, size, dtype, device)


def _floating(name: str, *parameters: ArrayLike, size: Shape | None, dtype: DTypeLike, device: DeviceLike) -> Array:
    want = default_float() if dtype is None else as_dtype(name, dtype)
    if not is_real_float(want):
        raise TypeError(f"{name}: dtype must be a float, got {want}")
    method = lambda generator, *args: getattr(generator, name)(*args)
    return _drawn(name, method, parameters, size, want, device)
