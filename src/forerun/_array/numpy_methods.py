"""Methods and attributes that NumPy's arrays have: how values lie in memory, and values as bytes."""

from __future__ import annotations

import os
import pickle
import types
from typing import TYPE_CHECKING, Any, cast

import numpy

from .._io import numpy_files as files
from .._runtime.device import info
from ..ops._base import convert
from ..ops._base import core as _core
from ..ops._base import host_task as host
from ..ops._base.primitive import direct
from ..ops.index import getitem as indexing
from ..ops.index import in_place
from ..ops.shape.memory_order import in_order
from ..ops.sort import sort as sorting
from .call_forms import takes_extents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..typing import Array, ArrayLike, DTypeLike, FileLike, Out

__all__ = ["Flags", "NumpyMethods", "without_values"]


def without_values(x: Array) -> numpy.ndarray:
    """Return an array of NumPy with the dtype, the shape and the strides of x; its values must not be read."""
    return numpy.lib.stride_tricks.as_strided(numpy.empty(1, x.dtype), x.shape, x.strides)


_FLAGS = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")
_NAMES = {n.upper(): n for n in (*_FLAGS, "contiguous", "fortran", "fnc", "forc", "behaved", "carray", "farray")} | {
    "C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned",
    "X": "writebackifcopy", "B": "behaved", "CA": "carray", "FA": "farray",
}  # fmt: skip


class Flags:
    """The memory layout of an array, with NumPy's names, as attributes or items. They cannot be set.

    >>> from forerun import np
    >>> x = np.zeros((2, 3))
    >>> x.flags.c_contiguous, x.T.flags["C_CONTIGUOUS"], x.T.flags["F"]
    (True, False, True)
    """

    __slots__ = ("_array", "writeable")
    _array: Array
    writeable: bool
    owndata, aligned, writebackifcopy = False, True, False

    def __init__(self, x: Array) -> None:
        object.__setattr__(self, "_array", x)
        object.__setattr__(self, "writeable", bool(_core.is_writable(x)) and not _core.is_scalar(x))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"flags: {name} must stay as it is, got {value!r}")

    @property
    def c_contiguous(self) -> bool:
        """In C order without gaps."""
        return in_order(self._array, "C")

    @property
    def f_contiguous(self) -> bool:
        """In Fortran's order without gaps."""
        return in_order(self._array, "F")

    @property
    def contiguous(self) -> bool:
        """In C order without gaps."""
        return self.c_contiguous

    @property
    def fortran(self) -> bool:
        """In Fortran's order without gaps, and not in C order."""
        return self.f_contiguous and not self.c_contiguous

    fnc = fortran

    @property
    def forc(self) -> bool:
        """In one of the two orders without gaps."""
        return self.c_contiguous or self.f_contiguous

    @property
    def behaved(self) -> bool:
        """Aligned and writable."""
        return self.aligned and self.writeable

    @property
    def carray(self) -> bool:
        """The same, in C order without gaps."""
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Aligned, writable, in Fortran's order without gaps, and not in C order."""
        return self.behaved and self.fortran

    def __getitem__(self, name: str) -> bool:
        if name not in _NAMES:
            raise KeyError(f"flags: name must be one of {', '.join(_NAMES)}, got {name!r}")
        return bool(getattr(self, _NAMES[name]))

    def __repr__(self) -> str:
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in _FLAGS)


_DLPACK_TYPES = {"cuda": 2, "rocm": 10, "oneapi": 14}  # DLPack's numbers, by platform
_OTHER = 12  # a device of another kind


def _dlpack_type(device: Any) -> int:
    return _DLPACK_TYPES.get(info(device)["platform"], _OTHER)


def _from_gpu(x: Array, max_version: tuple[int, int] | None, asked: tuple[int, int] | None, copy: bool | None) -> Any:
    """The capsule of a copy in the memory of the host, if it is asked for; else BufferError."""
    if copy is False or (asked is None and not copy):
        raise BufferError(
            f"__dlpack__: the memory of {x.device} cannot be shared; ask for a copy on the host, with dl_device=(1, 0) "
            "or copy=True"
        )
    versioned = max_version is not None and max_version[0] >= 1
    return _core.to_dlpack(_core.detach(x).to_device("cpu:0"), versioned, True)


def _is_void(dtype: Any) -> bool:
    """Whether a dtype is of bytes without a meaning, of which libraries make views to compare all bits."""
    known = isinstance(dtype, numpy.dtype) and dtype.type is numpy.void
    return known or (isinstance(dtype, str) and dtype.startswith("V"))


class NumpyMethods:
    """Attributes of NumPy's arrays, and methods that write in place, copy bytes or wait: a base of the array class."""

    __slots__ = ()

    @property
    def flags(self) -> Flags:
        """The memory layout, and whether the elements may be written. Does not wait."""
        return Flags(cast("Array", self))

    @takes_extents
    def view(self: Any, dtype: DTypeLike = None) -> Array:
        """Return a view: of the same elements, or of the same bytes with another dtype.

        Where elements of the two differ in size, the last axis gets longer or shorter: it must be without gaps and fit
        (ValueError). Gradients do not flow through a change of dtype.

        As bytes without a meaning (`"V8"`), which forerun has not, the view is NumPy's, and read-only. That waits.
        """
        if dtype is None:
            whole: Array = self[...]
            return whole
        if _is_void(dtype):
            values: Any = self.numpy().view(dtype)
            converted: Array = values
            return converted
        if isinstance(dtype, type) and issubclass(dtype, (numpy.ndarray, _core.Array)):
            raise TypeError(f"view: dtype must be a dtype, got {dtype}")
        result = _core.reinterpret(self, convert.as_dtype("view", dtype))
        host.no_gradient("view", [self], [result])
        return result

    def tobytes(self: Any, order: str = "C") -> bytes:
        """Return a copy of the values as bytes, in C order or Fortran's. Waits."""
        values: bytes = self.numpy().tobytes(order)
        return values

    @property
    def __array_interface__(self: Any) -> dict[str, Any]:
        """The values as they are now, for libraries such as Pillow. Waits. AttributeError for bfloat16, which it lacks.

        Its `data` is a buffer, which holds the memory for as long as it is held, in place of an address.
        """
        if convert.is_bfloat16(self.dtype):
            raise AttributeError("__array_interface__: dtype must be one of NumPy's own, got bfloat16")
        if self._read_was_dropped():  # Ctrl-C, for example: another wait would lose it
            raise AttributeError("__array_interface__: a read has failed; __array__ raises its error")
        values = self.numpy()
        dense = values if values.flags.c_contiguous else values.copy()
        strides = None if dense is values else dense.strides  # given, so that x's own buffer is not taken for it
        described = dense.__array_interface__
        return {**described, "shape": self.shape, "strides": strides, "data": memoryview(dense).toreadonly()}

    def dumps(self) -> bytes:
        """Return the array, pickled. Waits."""
        return pickle.dumps(self)

    def dump(self, file: FileLike) -> None:
        """Pickle the array into a file, named or open. Waits."""
        if not isinstance(file, (str, os.PathLike)):
            pickle.dump(self, file)
            return
        with open(file, "wb") as out:
            pickle.dump(self, out)

    def sort(
        self: Any, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None,
        descending: bool = False,
    ) -> None:  # fmt: skip
        """Sort the elements along an axis, in place.

        Parameters
        ----------
        axis : int, optional
            The axis.
        kind : str, optional
            A kind of NumPy's, all of which sort stably here.
        order : None, optional
            Must not be given: arrays have no fields.
        stable : bool, optional
            Has no effect: sorting is stable.
        descending : bool, optional
            Whether to sort in descending order.

        Raises
        ------
        ValueError
            For another kind.

        Examples
        --------
        >>> from forerun import np
        >>> x = np.array([3, 1, 2]); x.sort(); x.tolist()
        [1, 2, 3]
        """
        values = _core.detach(self)
        _core.assign(self, sorting.sort(values, axis, kind, order, stable=stable, descending=descending))

    def partition(
        self: Any, kth: int | Sequence[int], axis: int = -1, kind: str = "introselect", order: None = None
    ) -> None:
        """Partition the elements along an axis in place, so that those at kth are in sorted position.

        Parameters
        ----------
        kth : int or sequence of ints
            The positions in sorted order. No larger element comes before one of them, and no smaller one after it.
        axis : int, optional
            The axis.
        kind : str, optional
            Must be "introselect".
        order : None, optional
            Must not be given: arrays have no fields.

        Raises
        ------
        TypeError
            If kth is not an integer.
        ValueError
            If kth is out of range.

        Examples
        --------
        >>> from forerun import np
        >>> x = np.array([5, 1, 4, 2]); x.partition(2); x[2].item()
        4
        """
        _core.assign(self, sorting.partition(_core.detach(self), kth, axis, kind, order))

    @direct("put")
    def put(self: Any, indices: ArrayLike, values: ArrayLike, mode: str = "raise") -> None:
        """Write values at positions of the flat array, in place; values start over if there are fewer.

        Parameters
        ----------
        indices : array_like
            The positions in the flat array.
        values : array_like
            The values to write, which are cast to the array's dtype. Without any, nothing is written.
        mode : str, optional
            The treatment of positions out of range: "raise", "clip" or "wrap".

        Raises
        ------
        IndexError
            For a position out of range in the mode "raise": where the array is read, if positions are a forerun array.

        Examples
        --------
        >>> from forerun import np
        >>> x = np.zeros(3); x.put([0, 2], 5); x.tolist()
        [5.0, 0.0, 5.0]
        """
        in_place.put(self, indices, values, mode)

    def compress(self: Any, condition: ArrayLike, axis: int | None = None, out: Out = None) -> Array:
        """Return slices where a condition holds. Waits.

        Parameters
        ----------
        condition : array_like
            A vector, which holds where it is not zero.
        axis : int, optional
            The axis; None for the flat array.
        out : array, optional
            An array of the result's shape, which is written and returned.

        Returns
        -------
        array
            The slices, or elements of the flat array.

        Raises
        ------
        ValueError
            If the condition is not a vector.
        IndexError
            If it holds behind the end of the axis.

        Examples
        --------
        >>> from forerun import np
        >>> np.array([[1, 2], [3, 4]]).compress([False, True], axis=1).tolist()
        [[2], [4]]
        """
        return indexing.compress(condition, self, axis, out)

    def tofile(self: Any, fid: FileLike, sep: str = "", format: str = "%s", *, wait: bool = True) -> Array:
        """Write the values to a file, as bytes in C order, or as text with a separator.

        Parameters
        ----------
        fid : path or file
            A path, or an open file.
        sep : str, optional
            The text between values; by default values are written as bytes.
        format : str, optional
            The format of each value in text.
        wait : bool, optional
            Whether the call returns only when the file is written. False: to a path it is an operation.

        Returns
        -------
        array
            The size of the file in bytes.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.array([1, 2, 3]).tofile(f"{folder}/x", ",").item()
        5
        """
        return files.tofile(self, fid, sep, format, wait=wait)

    def byteswap(self: Any, inplace: bool = False) -> Array:
        """Return the array with the bytes of each element (of each part of a complex one) in reverse order."""
        swapped = host.host_op("byteswap", lambda v: v.byteswap(), [self], self.shape, self.dtype)
        if not inplace:
            return swapped
        _core.assign(self, swapped)
        return cast("Array", self)

    def __dlpack__(
        self: Any,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The values as they are now, in a capsule of DLPack. Waits. No later operation changes them.

        From version 1 on the capsule is marked as read-only, unless copy is True. Older versions have no such mark, so
        that their readers get a copy; BufferError if copy is False. RuntimeError for a stream, as the host has no
        streams. The memory of a GPU is not shared: the capsule has a copy on the host, for callers that request one
        with dl_device or copy; else BufferError.
        """
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"__dlpack__: dl_device must be (1, 0), the host, got {dl_device}")
        if self.device.device_type == "gpu":
            return _from_gpu(self, max_version, dl_device, copy)
        if stream is not None:
            raise RuntimeError(f"__dlpack__: stream must be None on the host, got {stream!r}")
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and copy is False:
            raise BufferError("__dlpack__: max_version must be (1, 0) or more to share memory, which is read-only")
        return _core.to_dlpack(self, versioned, bool(copy) or not versioned)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        """Return DLPack's type and number of the device that has the values: (1, 0), the host, for all CPU devices."""
        device = self.device
        return (1, 0) if device.device_type == "cpu" else (_dlpack_type(device), device.device_id)

    def __class_getitem__(cls, item: object) -> types.GenericAlias:
        return types.GenericAlias(cls, item)
