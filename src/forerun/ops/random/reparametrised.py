"""Random numbers as functions of their parameters: standard ones are drawn, and made into those of a distribution.

So gradients flow to parameters that are arrays. Standard numbers are filled by the workers. Values of parameters are
checked at the call where they are known there, otherwise by an operation: then reads of the result raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import as_dtype, asarray, broadcast_shapes, cast, default_float, is_real_float
from .._base.host_task import host_op
from .._base.primitive import primitive
from .._base.random_stream import current
from .arguments import _FLOAT32, _numbers, _shape, device_for, draw_into
from .implicit import gamma_slope
from .limits import NOT_NEGATIVE, Limits, limited

if TYPE_CHECKING:
    from ..._runtime.device import Device
    from ...typing import Array, ArrayLike, DeviceLike, DTypeLike, Out, Shape

__all__ = ["drawn_dtypes", "fitting", "made_of_standard", "parameter", "standard_gammas"]


def drawn_dtypes(op: str, dtype: DTypeLike) -> tuple[numpy.dtype, numpy.dtype]:
    """Return the dtype of a result, by default the default float, and that of standard numbers.

    TypeError if the dtype is not one of floats.

    >>> drawn_dtypes("op", "float16")
    (dtype('float16'), dtype('float32'))
    """
    want = default_float() if dtype is None else as_dtype(op, dtype)
    if not is_real_float(want):
        raise TypeError(f"{op}: dtype must be a float, got {want}")
    return want, _FLOAT32 if want.itemsize == 2 else want


class _Standard:
    """Draws standard numbers of a shape, and moves and stretches them."""

    def __init__(self, shape: tuple[int, ...], dtype: numpy.dtype, device: Device) -> None:
        self.shape, self.dtype, self.device = shape, dtype, device

    def __call__(self, kind: str, loc: Any = 0.0, scale: ArrayLike = 1.0) -> Any:
        fill = current().fill
        if type(loc) is type(scale) is float:
            return fill(kind, self.shape, self.dtype, self.device, loc, scale)
        stretched = fill(kind, self.shape, self.dtype, self.device, 0.0, 1.0) * scale
        return stretched if isinstance(loc, float) and loc == 0 else loc + stretched


def parameter(op: str, name: str, value: Any, limits: Limits | None, dtype: numpy.dtype, device: DeviceLike) -> Any:
    """Return a parameter as a float, or as an array with its values checked; those of forerun arrays once computed.

    >>> parameter("op", "scale", 2, None, numpy.dtype("float32"), None)
    2.0
    """
    value = limited(op, name, value, limits)
    if _numbers(value):
        return float(value)
    x = asarray(value, device=device)
    return x if x.dtype == dtype else cast(x, dtype)


def made_of_standard(
    op: str,
    made: Callable[..., Any],
    parameters: Mapping[str, tuple[Any, Limits | None]],
    size: Shape | None,
    dtype: DTypeLike,
    device: DeviceLike,
    out: Out = None,
) -> Array:
    """Apply `made` to draw(kind, loc=0, scale=1) and parameters: floats, or arrays of the dtype that is drawn.

    parameters: by name, each with the requirement on its values. ValueError if they do not broadcast to the size.

    >>> twice = lambda draw, loc: loc + 0 * draw("normal")
    >>> made_of_standard("op", twice, {"loc": (3, None)}, 2, "float32", None).tolist()
    [3.0, 3.0]
    """

    def drawn(size: Shape | None, dtype: DTypeLike) -> Array:
        want, wide = drawn_dtypes(op, dtype)
        given = [value for value, _ in parameters.values()]
        shape, where = _shape(op, size, *given), device_for(device, *given)
        if not _numbers(*given):
            fitting(op, shape, given)
        values = [parameter(op, name, v, limits, wide, where) for name, (v, limits) in parameters.items()]
        result = made(_Standard(shape, wide, where), *values)
        return result if wide == want else cast(result, want)

    return drawn(size, dtype) if out is None else draw_into(op, out, size, dtype, drawn)


def fitting(op: str, shape: tuple[int, ...], parameters: list[Any]) -> None:
    """Raise ValueError if parameters do not broadcast to a shape.

    >>> fitting("op", (2, 3), [1.0, numpy.ones(3)])
    """
    if broadcast_shapes(op, shape, *(numpy.shape(p) for p in parameters)) != shape:
        raise ValueError(f"{op}: parameters must broadcast to size {shape}, got other shapes")


# --- gamma ----------------------------------------------------------------------------------------


def _slope(y: Array, x: Array) -> Array:
    """Return the derivative of standard gamma numbers y by their shapes x."""
    task = lambda y, x: gamma_slope(y, x).astype(y.dtype)
    return host_op("gamma_slope", task, [y, x], y.shape, y.dtype)


@primitive(lambda g, x, y: g * _slope(y, x), op="random.standard_gamma")
def _standard_gamma(
    x: ArrayLike, op: str, draw: Callable[..., Any], shape: tuple[int, ...], dtype: numpy.dtype
) -> Array:
    return host_op(op, draw, [x], shape, dtype)


def standard_gammas(op: str, a: ArrayLike, shape: tuple[int, ...], dtype: numpy.dtype) -> Array:
    """Draw numbers from the gamma distribution with scale 1 and shapes `a`, an array, with implicit gradients.

    NumPy's numbers, drawn by a host task, which raises ValueError for negative shapes.

    >>> standard_gammas("gamma", asarray([1.0, 2.0]), (3, 2), numpy.dtype("float64")).shape
    (3, 2)
    """
    make = current().generator()

    def draw(shapes: numpy.ndarray) -> numpy.ndarray:
        NOT_NEGATIVE.check(op, "shape", shapes)
        return numpy.asarray(make().standard_gamma(shapes.astype("float64"), shape)).astype(dtype)

    return _standard_gamma(a, op, draw, shape, dtype)
