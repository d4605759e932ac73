"""Batches of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from ... import _core, np
from .dataset import ArrayDataset

__all__ = ["DataLoader", "default_batchify"]

_LAST = ("keep", "discard", "rollover")


class DataLoader:
    """Iterates over batches of a data set: a list of arrays per batch, or one array if examples are not tuples.

    Batches are made when they are asked for, by operations that are issued and not waited for. last_batch: what happens
    to a smaller batch at the end: "keep", "discard", or "rollover" (it comes first in the next epoch). shuffle: another
    order in each epoch, which follows the seed of `np.random`. batchify_fn: makes a batch of a list of examples.
    num_workers is accepted and ignored: the engine works ahead. ValueError for other settings.

    >>> from forerun import np
    >>> from forerun.gluon import data
    >>> loader = data.DataLoader(data.ArrayDataset(np.arange(5), np.ones((5, 2))), batch_size=2)
    >>> [(x.tolist(), y.shape) for x, y in loader]
    [([0, 1], (2, 2)), ([2, 3], (2, 2)), ([4], (1, 2))]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        shuffle: bool = False,
        last_batch: str = "keep",
        batchify_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        **settings: Any,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"DataLoader: batch_size must be positive, got {batch_size}")
        if last_batch not in _LAST:
            raise ValueError(f"DataLoader: last_batch must be one of {_LAST}, got {last_batch!r}")
        self._dataset = dataset
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._last_batch = last_batch
        self._batchify = batchify_fn
        self._left = numpy.arange(0)

    def __len__(self) -> int:
        n = len(self._left) + len(self._dataset)
        return -(-n // self._batch_size) if self._last_batch == "keep" else n // self._batch_size

    def __iter__(self) -> Iterator[Any]:
        order = numpy.concatenate([self._left, self._order()])
        self._left = numpy.arange(0)
        for start in range(0, len(order), self._batch_size):
            positions = order[start : start + self._batch_size]
            if len(positions) < self._batch_size and self._last_batch != "keep":
                self._left = positions if self._last_batch == "rollover" else self._left
                return
            yield self._batch(positions)

    def _order(self) -> numpy.ndarray:
        n = len(self._dataset)
        if not self._shuffle:
            return numpy.arange(n)
        return numpy.random.default_rng((_core.random_seed(), _core.random_key())).permutation(n)

    def _batch(self, positions: numpy.ndarray) -> Any:
        if self._batchify is None and isinstance(self._dataset, ArrayDataset):
            parts = [_rows(array, positions) for array in self._dataset.arrays]
            return parts if len(parts) > 1 else parts[0]
        examples = [self._dataset[int(i)] for i in positions]
        return (self._batchify or default_batchify)(examples)


def _rows(array: Any, positions: numpy.ndarray) -> Any:
    """Entries of an array: a view where positions follow each other, and the array is ours."""
    if isinstance(array, (list, tuple)):
        return default_batchify([array[i] for i in positions])
    if numpy.all(numpy.diff(positions) == 1):
        part = array[int(positions[0]) : int(positions[-1]) + 1]
    else:
        part = array[positions]
    return part if isinstance(part, _core.Array) else np.array(part)


def default_batchify(examples: Sequence[Any]) -> Any:
    """Stacks examples along a new first axis; a list of such arrays for examples that are tuples.

    >>> [part.shape for part in default_batchify([([1, 2], 0), ([3, 4], 1)])]
    [(2, 2), (2,)]
    """
    first = examples[0]
    if isinstance(first, tuple):
        return [default_batchify(part) for part in zip(*examples)]
    if isinstance(first, _core.Array):
        return np.stack(examples)
    return np.array(numpy.asarray(examples))
