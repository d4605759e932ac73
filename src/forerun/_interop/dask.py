"""Dask with forerun's arrays as chunks: percentiles, sizes, and chunks on their way to other processes.

Dask looks up by the type of a chunk how many bytes it has, which decides which chunks a worker moves to disk and where
a task runs, and how it is sent. A chunk is sent as the memory of the array itself, and received as an array in the
memory that has arrived: neither side makes a copy.

A worker of `distributed` asks for the size of each result, and then counts the task as done. An array answers when it
is computed: so a worker begins no more tasks than it has threads, and memory stays within the limits that Dask
enforces. A chunk whose operation failed is sent with its error, and each read of a result that depends on it raises
that, in the other process too. Dask itself would try to send it again and again.
"""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

import numpy

from .._array.scalar import scalar
from .._runtime.device import Device, resolve, used_devices
from .._runtime.engine import wait
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
    """Return the bytes of an array. Waits; an error of its computation is raised by its reads."""
    with contextlib.suppress(Exception):
        wait(x)
    return int(x.nbytes)


def _add_transport(protocol: ModuleType) -> None:
    """Let `distributed` send and receive arrays."""
    transport = _Transport(protocol.pickle)
    protocol.dask_serialize.register(_core.Array, transport.sent)
    protocol.dask_deserialize.register(_core.Array, transport.received)


class _Transport:
    """Turns arrays into messages and back. codec: Dask's own pickles, which it has for all other objects."""

    def __init__(self, codec: Any) -> None:
        self.codec = codec

    def sent(self, x: Any) -> tuple[dict[str, Any], list[Any]]:
        """Return the header of an array's message, and its memory, which later operations do not change. Waits."""
        facts = {"dtype": x.dtype.name, "shape": list(x.shape), "scalar": isinstance(x, scalar)}
        try:
            values = numpy.ascontiguousarray(x.numpy())
        except Exception as error:
            return {**facts, "failed": True}, [self.pickled(error)]
        facts["device"] = [x.device.device_type, x.device.device_id]
        return facts, [values.reshape(-1).view("uint8").data] if x.size else []

    def pickled(self, error: Exception) -> bytes:
        """Return an error as bytes; an error that cannot be unpickled becomes a RuntimeError with its text."""
        with contextlib.suppress(Exception):
            data: bytes = self.codec.dumps(error)
            self.codec.loads(data)
            return data
        plain: bytes = self.codec.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
        return plain

    def received(self, facts: dict[str, Any], frames: list[Any]) -> Any:
        """Return the array of a message, in its memory if that is aligned."""
        frame = frames[0] if len(frames) == 1 else b"".join(frames)
        there = None if facts.get("failed") else Device(*facts["device"])
        if there is None:
            found = self.failed(facts, bytes(frame))
        else:
            device = there if there in used_devices() else resolve()
            found = _shared(numpy.frombuffer(frame, "uint8"), facts["dtype"], facts["shape"], device)
        return _core.as_scalar(found) if facts["scalar"] else found

    def failed(self, facts: dict[str, Any], error: bytes) -> Any:
        """Return an array whose reads raise an error, which is pickled."""

        def fail() -> None:
            raise self.codec.loads(error)

        return host(fail, [], [(facts["shape"], dtype_of(facts["dtype"]))], name="chunk that failed")[0]


def _shared(memory: numpy.ndarray, name: str, shape: list[int], device: Device) -> Any:
    """Return an array in memory of bytes that nothing writes to any more; in a copy, if it is not aligned."""
    dtype = dtype_of(name)
    plain = numpy.dtype(f"u{dtype.itemsize}") if dtype.kind == "V" else dtype  # NumPy does not export bfloat16
    values = memory.view(plain).reshape(shape)
    if device.device_type != "cpu":
        return _core.from_numpy(memory.view(dtype).reshape(shape), device)
    found = from_dlpack(values, device=device)
    return found if plain == dtype else found.view(dtype)


def register() -> None:
    """Register forerun's arrays with Dask, now or when it is imported."""
    when_imported("dask.array.backends", _add_percentile)
    when_imported("dask.sizeof", _add_size)
    when_imported("distributed.protocol.serialize", _add_transport)
