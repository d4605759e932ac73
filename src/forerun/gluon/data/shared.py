"""Memory that a worker process fills and the consumer's process reads: slots, which are used again.

A slot is a file without a name (memfd on Linux), so that it disappears when both processes have ended, even if they
were killed. The worker assembles a batch in a slot, followed by the batch's other objects, pickled. The consumer's
arrays are views of the slot. When none is left, the slot may be used again.
"""

from __future__ import annotations

import ctypes
import functools
import io
import mmap
import os
import pickle
import tempfile
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ... import np
from ..._runtime.device import Device, cpu, current_device
from ..._runtime.system import at_fork
from ...ops._base.convert import is_array

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["Slot", "new_file", "packed", "unpacked"]

_ALIGN = 64
Span = tuple[int, int]

_forks = 0  # of this process: slots in use at a fork have readers that do not report


def _forked() -> None:
    global _forks
    _forks += 1


at_fork(before=_forked)


@functools.cache
def _c_library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def new_file() -> int:
    """Return the descriptor of a file that is in memory, if the system has such, and has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("forerun batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _mapped(file: int, size: int) -> Any:
    """Return the bytes of a file, for as long as an object holds them.

    Python's mmap would keep a descriptor for each.
    """
    library = _c_library()
    address = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    if address == ctypes.c_void_p(-1).value:
        error = ctypes.get_errno()
        raise OSError(error, f"DataLoader: memory must be had for a batch, got {os.strerror(error)}")
    bytes_ = (ctypes.c_ubyte * size).from_address(address)
    weakref.finalize(bytes_, library.munmap, address, size).atexit = False  # arrays may be used until the very end
    return bytes_


class Slot:
    """A piece of memory that two processes see."""

    def __init__(self, number: int, file: int, size: int) -> None:
        self.number, self.size = number, size
        self._map = _mapped(file, size)
        self._used = 0  # bytes from the start, in the process that fills it
        self._bytes: numpy.ndarray | None = None  # while it is filled
        self._views: Callable[[], Any] = lambda: None  # a weak reference to the object that views of the bytes hold
        self._forks = 0  # before it came into use

    def use(self, freed: Callable[[Slot], None] | None = None) -> numpy.ndarray:
        """Return the bytes; `freed` is called when the last view of them is gone."""
        found = numpy.frombuffer(self._map, "u1")
        self._views = weakref.ref(found, (lambda _: freed(self)) if freed is not None else None)
        self._forks = _forks
        return found

    def begin(self) -> None:
        """Start to fill the slot anew."""
        self._bytes, self._used = self.use(), 0

    def end(self) -> None:
        """Close the slot for `place` and `put`."""
        self._bytes = None

    @property
    def is_free(self) -> bool:
        """Return whether no view of the bytes exists in this process."""
        return self._views() is None

    @property
    def is_known(self) -> bool:
        """Whether no process but the two can hold a view of them: none has come into being by fork meanwhile."""
        return self._forks == _forks

    def place(self, size: int) -> memoryview | None:
        """Return free memory of that many bytes; None if there is not so much."""
        start = -(-self._used // _ALIGN) * _ALIGN
        if self._bytes is None or start + size > self.size:
            return None
        self._used = start + size
        return self._bytes.data[start : start + size]

    def holds(self, size: int) -> bool:
        """Return whether so many more bytes can be put."""
        return self._used + _ALIGN + size <= self.size

    def put(self, view: numpy.ndarray) -> int:
        """Copy bytes behind those already in the slot; return their position."""
        place = self.place(view.nbytes)
        assert place is not None
        place[:] = view.data
        return self._used - view.nbytes

    def start_of(self, view: numpy.ndarray) -> int | None:
        """Return the position of bytes in the slot; None if they are elsewhere."""
        base, start = (x.__array_interface__["data"][0] for x in (self._bytes, view) if x is not None)
        return start - base if base <= start and start + view.nbytes <= base + self.size else None


class _Pickler(pickle.Pickler):
    """Pickle arrays as NumPy's, with their bytes outside of the pickle; they are read back without a copy."""

    def reducer_override(self, x: object) -> Any:
        if not is_array(x):
            return NotImplemented
        values = numpy.asarray(x.numpy(), order="C")
        return _shared, (values.view("u2") if x.dtype.kind == "V" else values, x.dtype, x.device)


def _shared(values: numpy.ndarray, dtype: numpy.dtype, device: Device) -> Array:
    """Return an array of these bytes. Those of the host's first device are copied to the GPU that is current."""
    here = current_device()
    made = np.from_dlpack(values, device=here if device == cpu() and here.device_type != "cpu" else device)
    return made if made.dtype == dtype else made.view(dtype)


def packed(batch: Any, slot: Slot, larger: Callable[[int], Slot]) -> tuple[Slot, Span]:
    """Put all of a batch into a slot, or into a larger one if it needs that; and where its description begins and how
    long it is."""
    body, views = io.BytesIO(), list[numpy.ndarray]()
    _Pickler(body, 5, buffer_callback=lambda b: views.append(numpy.frombuffer(b.raw(), "u1"))).dump(batch)
    starts = [slot.start_of(view) for view in views]
    text = len(body.getbuffer()) + 32 * len(views) + 256  # at most
    if not slot.holds(text + sum(v.nbytes + _ALIGN for v, s in zip(views, starts) if s is None)):
        slot, starts = larger(text + sum(v.nbytes + _ALIGN for v in views) + _ALIGN), [None] * len(views)
    spans = [(slot.put(v) if s is None else s, v.nbytes) for v, s in zip(views, starts)]
    about = numpy.frombuffer(pickle.dumps((body.getvalue(), spans), 5), "u1")
    return slot, (slot.put(about), about.nbytes)


def unpacked(slot: Slot, where: Span, freed: Callable[[Slot], None]) -> Any:
    """Return the batch in a slot. Its arrays are views; `freed` is called when the last of them is gone."""
    bytes_ = slot.use(freed).data
    body, spans = pickle.loads(bytes_[where[0] : sum(where)])
    return pickle.loads(body, buffers=[bytes_[start : start + size] for start, size in spans])
