"""Types for annotations, in programs and in the package.

>>> from forerun import np
>>> from forerun.typing import Array, ArrayLike
>>> def centred(x: ArrayLike) -> Array:
...     x = np.asarray(x)
...     return x - x.mean()
>>> isinstance(centred([1.0, 3.0]), Array)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex, TypeAlias, Union

import numpy.typing

from ._array.ndarray import ndarray as Array
from ._runtime.device import Device

__all__ = ["Array", "ArrayLike", "Axis", "DTypeLike", "DeviceLike", "Shape"]

# What functions make arrays of: arrays of ours or NumPy's, numbers, and lists of these.
ArrayLike: TypeAlias = Union[Array, numpy.typing.ArrayLike]  # noqa: UP007  # NumPy's is a Union, too
# What functions know a dtype by: a numpy.dtype, a type, a string, or None for the default.
DTypeLike: TypeAlias = Union[numpy.typing.DTypeLike, None]  # noqa: UP007
# An extent, or one per axis.
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
# An axis, or several; None for all.
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None
# Where an array is, or is to be: a Device, a string such as "cpu:1", or None for the current one.
DeviceLike: TypeAlias = Device | str | None
