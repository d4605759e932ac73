"""Images (height, width, channels) and batches of such: their checks and dtypes, for the functions of `npx.image`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray, cast

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["Range"]

Range = Sequence[float]
_FLOAT32 = numpy.dtype("float32")


def _images(op: str, data: ArrayLike, channels: int | None = None) -> Array:
    """Return an image or a batch. ValueError unless it has 3 axes or 4, and as many channels."""
    x = asarray(data)
    if x.ndim not in (3, 4):
        raise ValueError(f"{op}: image must have 3 axes, or 4 as a batch, got shape {x.shape}")
    if channels is not None and x.shape[-1] != channels:
        raise ValueError(f"{op}: image must have {channels} channels, got shape {x.shape}")
    return x


def _constant(values: numpy.ndarray, x: Array) -> Array:
    """Return values in x's dtype, where x is."""
    return _core.from_numpy(numpy.asarray(values).astype(x.dtype), x.device)


def _floats(x: Array) -> Array:
    """Return x as floats of 32 bits or more."""
    return x if x.dtype.kind == "f" and x.dtype.itemsize > 2 else cast(x, _FLOAT32)


def _like(x: Array, values: Array) -> Array:
    """Floats as colours in x's dtype: rounded and kept in range where that is of integers."""
    if x.dtype.kind in "iu":
        values = values.round().clip(0, numpy.iinfo(x.dtype).max)
    return values if values.dtype == x.dtype else cast(values, x.dtype)
