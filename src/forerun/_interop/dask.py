"""Dask with forerun's arrays as chunks: percentiles, sizes, and chunks on their way to other processes.

Dask looks up by the type of a chunk how many bytes it has, which decides what a worker moves to disk and where a task
runs, and how it is sent. A chunk is sent as the memory of the array itself, and received as an array in the memory that
has arrived: neither side makes a copy.

A worker of `distributed` asks for the size of each result, and then counts the task as done. An array answers when it
is computed: so a worker begins no more tasks than it has threads, and memory stays within what Dask knows of. A chunk
whose operation failed is sent with its error, and each read of what is computed from it raises that, in the other
process too. Dask itself would try to send it again and again.
"""

from __future__ import annotations

import contextlib
import pickle
from types import ModuleType
from typing import Any

import numpy

from .._array.scalar import scalar
from .._runtime.device import Device, resolve, used_devices
from ..ops._base import core as _core
from ..ops._base.dtypes import dtype as dtype_of
from ..ops._base.host_task import host
from .dlpack import from_dlpack
from .import_hooks import when_imported

__all__ = ["register"]


def _add_percentile(backends: ModuleType) -> None:
    """Let Dask compute percentiles of forerun's arrays by the function for NumPy's."""
    backends.percentile_lookup.register(_core.Array, backends.percentile)


def _add_size(sizes: ModuleType) -> None:
    """Let Dask count the bytes of arrays."""
    sizes.sizeof.register(_core.Array, _computed_size)


def _computed_size(x: Any) -> int:
    """Return the bytes of an array. Waits; its reads raise what has failed."""
    with contextlib.suppress(Exception):
        _core.wait([x])
    return int(x.nbytes)


def _add_transport(protocol: ModuleType) -> None:
    """Let `distributed` send and receive arrays."""
    protocol.dask_serialize.register(_core.Array, _sent)
    protocol.dask_deserialize.register(_core.Array, _received)


def _sent(x: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return what a message says of an array, and its memory, which later operations do not change. Waits."""
    try:
        values = numpy.ascontiguousarray(x.numpy())
    except Exception as error:
        facts = {"failed": True, "scalar": isinstance(x, scalar), "dtype": x.dtype.name, "shape": list(x.shape)}
        return facts, [_pickled(error)]
    if not x.ndim or not x.size:
        return {"pickled": True}, [pickle.dumps(x)]
    facts = {"dtype": x.dtype.name, "shape": list(x.shape), "device": [x.device.device_type, x.device.device_id]}
    return facts, [memoryview(values.reshape(-1).view("uint8"))]


def _pickled(error: Exception) -> bytes:
    """Return an error as bytes; one that does not come back from these as a RuntimeError with its words."""
    with contextlib.suppress(Exception):
        data = pickle.dumps(error)
        pickle.loads(data)
        return data
    return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def _received(facts: dict[str, Any], frames: list[Any]) -> Any:
    """Return the array of a message, in its memory if that is aligned."""
    frame = frames[0] if len(frames) == 1 else b"".join(frames)
    if facts.get("pickled"):
        return pickle.loads(frame)
    if facts.get("failed"):
        return _failed(facts, pickle.loads(frame))
    there = Device(*facts["device"])
    device = there if there in used_devices() else resolve()
    return shared(numpy.frombuffer(frame, "uint8"), facts["dtype"], facts["shape"], device)


def _failed(facts: dict[str, Any], error: Exception) -> Any:
    """Return an array whose reads raise an error."""

    def fail() -> None:
        raise error

    (found,) = host(fail, [], [(facts["shape"], dtype_of(facts["dtype"]))], name="chunk that failed")
    return _core.as_scalar(found) if facts["scalar"] else found


def shared(memory: numpy.ndarray, name: str, shape: list[int], device: Device) -> Any:
    """Return an array of a dtype in memory of bytes, which nobody may write to any more; a copy if it is not aligned."""
    dtype = dtype_of(name)
    plain = numpy.dtype(f"u{dtype.itemsize}") if dtype.kind == "V" else dtype  # NumPy does not export bfloat16
    values = memory.view(plain).reshape(shape)
    if device.device_type != "cpu" or not values.flags.aligned:
        return _core.from_numpy(memory.view(dtype).reshape(shape), device)
    found = from_dlpack(values, device=device)
    return found if plain == dtype else found.view(dtype)


def register() -> None:
    """Register forerun's arrays with Dask, now or when it is imported."""
    when_imported("dask.array.backends", _add_percentile)
    when_imported("dask.sizeof", _add_size)
    when_imported("distributed.protocol.serialize", _add_transport)
