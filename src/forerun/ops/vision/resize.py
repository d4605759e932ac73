"""Images in another size, by Pillow (`pip install forerun[image]`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy

from .._base.host_task import host_op

if TYPE_CHECKING:
    from types import ModuleType

    from ...typing import Array

__all__ = ["pillow", "resize_values", "resized"]

Pixels = TypeVar("Pixels", "Array", numpy.ndarray, "Array | numpy.ndarray")  # an image stays in its library
_FILTERS = {0: 0, 1: 2, 2: 3, 3: 4, 4: 1, 9: 3, 10: 2}  # MXNet's numbers to Pillow's


def pillow() -> ModuleType:
    """Return Pillow's module. Raises ImportError, which says how to install it, if it is missing.

    >>> pillow().__name__
    'PIL.Image'
    """
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("image: Pillow must be installed (pip install forerun[image]), got none") from None
    return Image


def resized(op: str, x: Pixels, w: int, h: int, interp: int) -> Pixels:
    """Resize images (..., height, width, channels): forerun arrays by a host task, NumPy arrays at once.

    ValueError unless there are 3 axes or 4 and sizes are positive, or for another filter than MXNet's.

    >>> resized("op", numpy.ones((2, 2, 3)), 1, 4, 1).shape
    (4, 1, 3)
    """
    if x.ndim not in (3, 4) or w < 1 or h < 1 or not x.size:
        raise ValueError(f"{op}: image and sizes must not be empty, got shape {x.shape} to {(h, w)}")
    if interp not in _FILTERS:
        raise ValueError(f"{op}: interp must be one of {sorted(_FILTERS)}, got {interp}")
    pillow()
    if isinstance(x, numpy.ndarray):
        return resize_values(x, w, h, interp)
    shape = (*x.shape[:-3], h, w, x.shape[-1])
    return host_op(op, lambda v: resize_values(v, w, h, interp), [x], shape, x.dtype)


def resize_values(values: numpy.ndarray, w: int, h: int, interp: int) -> numpy.ndarray:
    """Return the same, of NumPy's arrays, without checks.

    >>> resize_values(numpy.ones((2, 2, 2, 3)), 1, 4, 1).shape
    (2, 4, 1, 3)
    """
    if values.ndim == 4:
        return numpy.stack([_one(v, w, h, _FILTERS[interp]) for v in values])
    return _one(values, w, h, _FILTERS[interp])


def _one(values: numpy.ndarray, w: int, h: int, kind: int) -> numpy.ndarray:
    """Channel by channel, unless they are three of bytes: Pillow's images of floats have one."""
    image = pillow()
    if values.dtype == numpy.uint8 and values.shape[2] == 3:
        return numpy.asarray(image.fromarray(numpy.ascontiguousarray(values)).resize((w, h), kind))
    exact = values if values.dtype == numpy.uint8 else values.astype("float32")
    planes = [image.fromarray(numpy.ascontiguousarray(exact[..., c])) for c in range(values.shape[2])]
    result = numpy.stack([numpy.asarray(plane.resize((w, h), kind)) for plane in planes], -1)
    return numpy.rint(result).astype(values.dtype) if values.dtype.kind in "iu" else result.astype(values.dtype)
