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

import os
from collections.abc import Iterator, Sequence
from typing import IO, Any, Protocol, SupportsIndex, TypeAlias, TypeVar, Union

import numpy.typing

from ._array.ndarray import ndarray as Array
from ._display.namespaces import dir_of
from ._runtime.device import Device

__all__ = [
    "Array",
    "ArrayLike",
    "Axis",
    "DTypeLike",
    "DeviceLike",
    "FileLike",
    "Nested",
    "Out",
    "Shape",
    "SupportsArray",
    "SupportsDLPack",
]
__dir__ = dir_of(__name__)

T_co = TypeVar("T_co", covariant=True)


class SupportsArray(Protocol):
    """An object that gives its values as a NumPy array: NumPy's arrays and scalars, columns of Pandas, and the like."""

    def __array__(self) -> numpy.ndarray[Any, Any]: ...


class SupportsDLPack(Protocol):
    """An object that gives its memory by DLPack: arrays and tensors of other libraries."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class Nested(Protocol[T_co]):
    """A sequence of such elements, or of such sequences. Texts are not, although their elements are texts."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> T_co | Nested[T_co]: ...

    def __contains__(self, value: object, /) -> bool: ...

    def __iter__(self) -> Iterator[T_co | Nested[T_co]]: ...


# Arguments that functions convert to arrays: forerun's or NumPy's arrays, numbers, and lists of these.
ArrayLike: TypeAlias = Union[Array, SupportsArray, complex, Nested[Union[SupportsArray, complex]]]  # noqa: UP007
# Arguments that denote a dtype: a numpy.dtype, a type, a string, or None for the default.
DTypeLike: TypeAlias = Union[numpy.typing.DTypeLike, None]  # noqa: UP007  # NumPy's is a Union, too
# An extent, or one per axis.
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
# An axis, or several; None for all.
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None
# Where an array is, or is to be: a Device, a string such as "cpu:1", or None for the current one.
DeviceLike: TypeAlias = Device | str | None
# A file: its path, or one that is open.
FileLike: TypeAlias = Union[str, os.PathLike[str], IO[Any]]  # noqa: UP007
# The array that a result is written to, if it is given: a forerun array or NumPy's.
Out: TypeAlias = Union[Array, numpy.ndarray[Any, Any], None]  # noqa: UP007
