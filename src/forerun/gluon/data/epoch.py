"""How the batches of an epoch are made: the same ones in whichever thread or process that happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import nullcontext
from threading import Event
from typing import TYPE_CHECKING, Any, cast

import numpy

from ..._runtime import core as _core
from ..._runtime.device import current_device
from ...ops._base.random_stream import WorkStream, current, drawing_from
from . import memory
from .batchify import Stack
from .dataset import ArrayDataset, Plan, planned

if TYPE_CHECKING:
    from ...typing import Array
    from .sampler import Examples


__all__ = ["Epoch"]

_stack = Stack()


class Epoch:
    """A data set, the function that makes a batch of examples, and a key of random numbers.

    Random numbers that transforms and `np.random` draw for a batch depend only on the seed, the epoch and the number of
    the batch. Transforms that can be applied to a batch instead of each example are applied by `finished`, where the
    batch is used. New arrays are on the device that is the current one where the epoch begins.
    """

    def __init__(self, dataset: Examples, batchify: Callable[[list[Any]], Any] | None) -> None:
        self.dataset, self.batchify = dataset, batchify
        self.key = current().take()
        self.device = current_device()
        self._example, self._late = self._plan()

    def __getstate__(self) -> Any:
        return self.dataset, self.batchify, self.key, self.device

    def __setstate__(self, state: Any) -> None:
        self.dataset, self.batchify, self.key, self.device = state
        self._example, self._late = self._plan()

    def _plan(self) -> Plan:
        return planned(self.dataset, late=self.batchify is None)

    def batch(
        self, number: int, positions: Sequence[Any], place: memory.Allocate | None = None, ended: Event | None = None
    ) -> Any:
        """Return the batch of the examples at these positions, without the steps of `finished`.

        place: gives memory to put it together in. ended: once it is set the batch is cancelled, and CancelledError is
        raised.
        """
        with self.device, drawing_from(WorkStream(*self.key, number)):
            make: Callable[[Any], Any] = self.batchify or _stack
            found: Any = positions
            if self.batchify is None and type(self.dataset).__getitem__ is ArrayDataset.__getitem__:
                make = self._rows
            else:
                found = self._examples(positions, ended)
            with memory.placed(place) if place is not None else nullcontext():
                return make(found)

    def finished(self, batch: Sequence[Array]) -> Any:
        """Return the batch, after issuing the transforms that are left."""
        for step in self._late:
            if isinstance(batch, list):
                batch[0] = step(batch[0])
            else:
                batch = step(batch)
        return batch

    def _examples(self, positions: Sequence[Any], ended: Event | None) -> list[Any]:
        if ended is None:
            return list(map(self._example, positions))
        found = []
        for i in positions:
            if ended.is_set():
                raise CancelledError
            found.append(self._example(i))
        return found

    def _rows(self, positions: Sequence[int]) -> Any:
        rows, dataset = numpy.asarray(positions), cast(ArrayDataset, self.dataset)
        parts = [_rows(array, rows) for array in dataset.arrays]
        return parts if len(parts) > 1 else parts[0]


def _rows(array: Array, positions: numpy.ndarray) -> Any:
    """Return entries of an array: a view for adjacent positions of a forerun array."""
    if not isinstance(array, (_core.Array, numpy.ndarray)):
        return _stack([array[i] for i in positions])
    if isinstance(array, numpy.ndarray) or memory.is_placed():
        return memory.adopted(_taken(numpy.asarray(array), positions))
    if numpy.all(numpy.diff(positions) == 1):
        return array[int(positions[0]) : int(positions[-1]) + 1]
    return array[positions]


def _taken(values: numpy.ndarray, positions: numpy.ndarray) -> numpy.ndarray:
    """Return rows of NumPy's array in memory for a batch."""
    n = len(values)
    if positions.min() < -n or positions.max() >= n:
        raise IndexError(f"ArrayDataset: positions must be in [{-n}, {n}), got {positions.tolist()}")
    out = memory.empty((len(positions), *values.shape[1:]), memory.created(values.dtype))
    if out.dtype != values.dtype:
        out[...] = values[positions]
        return out
    return numpy.take(values, positions % n, axis=0, out=out, mode="clip")  # another mode would copy twice
