"""DLPack's structures as a library in C sees them, to make capsules and to look into them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
NAME, USED = b"dltensor", b"used_dltensor"
VERSIONED, USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", Deleter),
        ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


_api: Any = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]


def capsule_name(capsule: Any) -> bytes:
    """The name of a capsule, which says whether its contents have been taken."""
    return _api.PyCapsule_GetName(capsule)


def managed_tensor(capsule: Any) -> Managed | ManagedVersioned:
    """Return the tensor of an unused capsule."""
    kind = ManagedVersioned if capsule_name(capsule) == VERSIONED else Managed
    return kind.from_address(_api.PyCapsule_GetPointer(capsule, capsule_name(capsule)))


class Producer:
    """Hands over a NumPy array's memory, in a capsule of its own making, and counts how often that is given back."""

    def __init__(self, values: numpy.ndarray, versioned: bool = True, device: tuple[int, int] = (1, 0)) -> None:
        self.values, self.device, self.given_back = values, device, 0
        self.managed = (ManagedVersioned if versioned else Managed)()
        self.versioned = versioned
        if versioned:
            self.managed.major, self.managed.minor = 1, 0
        self.deleter = Deleter(self._deleted)
        self.managed.deleter = self.deleter
        self.shape = (ctypes.c_int64 * values.ndim)(*values.shape)
        self.strides = (ctypes.c_int64 * values.ndim)(*(s // values.itemsize for s in values.strides))
        self.managed.tensor = Tensor(
            values.ctypes.data, *device, values.ndim, CODES[values.dtype.kind], values.itemsize * 8, 1, self.shape,
            self.strides, 0,
        )  # fmt: skip

    def _deleted(self, _: int) -> None:
        self.given_back += 1

    @property
    def tensor(self) -> Tensor:
        return self.managed.tensor

    def capsule(self) -> Any:
        return _api.PyCapsule_New(ctypes.addressof(self.managed), VERSIONED if self.versioned else NAME, None)

    def __dlpack__(self, **options: Any) -> Any:
        self.options = options
        return self.capsule()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device
