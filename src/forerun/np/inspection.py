"""The array API standard's inspection functions, for libraries that take arrays of any namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._runtime.device import Device, current_device, devices, resolve
from ..ops._base.convert import as_dtype, default_float

if TYPE_CHECKING:
    from ..typing import DeviceLike

__all__ = ["Info", "__array_namespace_info__"]

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_UNIONS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


def _names(kind: object) -> tuple[str, ...]:
    """Return the standard's names of the dtypes of a kind, or of several in a tuple."""
    if isinstance(kind, tuple):
        return tuple(dict.fromkeys(name for one in kind for name in _names(one)))
    if not isinstance(kind, str):
        raise TypeError(f"dtypes: kind must be text or a tuple, got {kind!r}")
    if kind in _UNIONS:
        return _names(_UNIONS[kind])
    if kind not in _KINDS:
        raise ValueError(f"dtypes: kind must be one of {', '.join([*_KINDS, *_UNIONS])}, got {kind!r}")
    return _KINDS[kind]


class Info:
    """Answers about devices, dtypes and capabilities. Made by `np.__array_namespace_info__()`.

    >>> from forerun import np
    >>> np.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float32')
    """

    def capabilities(self) -> dict[str, Any]:
        """Return the support of optional features of the standard, and the largest number of axes.

        >>> from forerun import np
        >>> np.__array_namespace_info__().capabilities()
        {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 64}
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device on which this thread makes new arrays by default."""
        return current_device()

    def devices(self) -> tuple[Device, ...]:
        """Return all devices, in the order of their numbers."""
        return tuple(devices())

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, numpy.dtype]:
        """Return the default dtypes of numbers; they are the same on every device.

        After `npx.set_np()`, which makes floats of Python's integers, the integral one is still int64. ValueError if
        there is no such device.
        """
        resolve(device)
        return {
            "real floating": default_float(),
            "complex floating": as_dtype("default_dtypes", complex),
            "integral": numpy.dtype("int64"),
            "indexing": numpy.dtype("int64"),
        }

    def dtypes(self, *, device: DeviceLike = None, kind: object = None) -> dict[str, numpy.dtype]:
        """Return the standard's dtypes, by name: all, or those of a kind, or of several in a tuple (see `isdtype`).

        ValueError for a kind or a device that there is not.

        >>> from forerun import np
        >>> np.__array_namespace_info__().dtypes(kind="complex floating")
        {'complex64': dtype('complex64'), 'complex128': dtype('complex128')}
        """
        resolve(device)
        return {name: numpy.dtype(name) for name in _names(tuple(_KINDS) if kind is None else kind)}


def __array_namespace_info__() -> Info:
    """Answers about this namespace, in the words of the array API standard: see `Info`.

    >>> from forerun import np
    >>> np.__array_namespace_info__().devices()
    (cpu(0),)
    """
    return Info()
