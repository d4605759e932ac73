"""Batches of a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .batchify import Stack
from .epoch import Epoch
from .processes import ProcessBatches
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .threads import ThreadBatches

if TYPE_CHECKING:
    from .sampler import Examples, Order

__all__ = ["DataLoader", "default_batchify", "default_batchify_fn", "default_mp_batchify_fn"]

_SHARES_FILES = hasattr(os, "fork")  # processes of Windows cannot send each other files without a name
default_batchify = default_batchify_fn = default_mp_batchify_fn = Stack()


class DataLoader:
    """Iterates over batches of a data set: a list of arrays per batch, a dict of arrays if examples are dicts, or one
    array if they are neither tuples nor dicts.

    Workers end with the epoch, or when it is left. Their errors are raised where the batch is asked for.

    Parameters
    ----------
    dataset : Dataset or sequence
        The examples.
    batch_size : int, optional
        How many examples a batch has.
    shuffle : bool, optional
        Whether each epoch has another order, which follows the seed of `np.random`.
    sampler : Sampler, optional
        The numbers of the examples, in place of `shuffle`.
    last_batch : str, optional
        The use of a smaller batch at the end, as for `BatchSampler`; None keeps it.
    batch_sampler : iterable, optional
        The numbers of each batch, in place of the four above.
    batchify_fn : callable, optional
        Makes a batch of a list of examples; None for `batchify.Stack()`.
    num_workers : int, optional
        How many workers make batches ahead; 0 makes them when they are asked for. Batches and their order are the same,
        random transforms included.
    pin_memory : bool, optional
        Has no effect.
    pin_device_id : int, optional
        Has no effect.
    prefetch : int, optional
        How many batches are made ahead at most; None for two per worker.
    thread_pool : bool, optional
        Whether workers are threads, as they always are on Windows; otherwise they are processes. If a GPU is the
        current device, processes make batches on the host, and each is copied to the GPU where it is used. Forked
        processes cannot read arrays of a data set that are on a GPU.
    timeout : float, optional
        The seconds after which a batch raises `TimeoutError`.
    try_nopython : bool, optional
        Has no effect.
    auto_reload : bool, optional
        Whether the next epoch is begun when one ends.

    Raises
    ------
    ValueError
        For settings that exclude one another, or numbers that are negative.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import data
    >>> loader = data.DataLoader(data.ArrayDataset(np.arange(5), np.ones((5, 2))), batch_size=2)
    >>> [(x.tolist(), y.shape) for x, y in loader]
    [([0, 1], (2, 2)), ([2, 3], (2, 2)), ([4], (1, 2))]
    """

    def __init__(
        self,
        dataset: Examples,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Order | None = None,
        last_batch: str | None = None,
        batch_sampler: Order | None = None,
        batchify_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        try_nopython: bool | None = None,
        auto_reload: bool = False,
    ) -> None:
        if not timeout > 0:
            raise ValueError(f"DataLoader: timeout must be positive, got {timeout}")
        if num_workers < 0 or (prefetch or 0) < 0:
            raise ValueError(
                f"DataLoader: num_workers and prefetch must not be negative, got {num_workers} and {prefetch}"
            )
        self._dataset, self._batchify = dataset, batchify_fn
        self._batches = _batches(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._workers, self._timeout = num_workers, timeout
        self._prefetch = 2 * num_workers if prefetch is None else prefetch
        self._kind = ThreadBatches if thread_pool or not _SHARES_FILES else ProcessBatches
        self._auto_reload = auto_reload
        self._next: Iterator[Any] | None = None  # the epoch that was begun ahead

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        epoch, self._next = self._next or self._epoch(), None
        return self._reloading(epoch) if self._auto_reload and self._workers else epoch

    def _epoch(self) -> Iterator[Any]:
        epoch, positions = Epoch(self._dataset, self._batchify), iter(self._batches)
        if self._workers:
            return self._kind(epoch, positions, self._workers, self._prefetch, self._timeout)
        return (epoch.finished(epoch.batch(i, where)) for i, where in enumerate(positions))

    def _reloading(self, epoch: Iterator[Any]) -> Iterator[Any]:
        yield from epoch
        self._next = self._epoch()


def _batches(dataset: Any, size: int | None, shuffle: bool, sampler: Any, last: str | None, batches: Any) -> Any:
    """Return the sampler of batches."""
    if batches is not None:
        if size is not None or shuffle or sampler is not None or last is not None:
            raise ValueError(
                "DataLoader: batch_size, shuffle, sampler and last_batch must not be given beside batch_sampler,"
                f" got {size}, {shuffle}, {sampler}, {last}"
            )
        return batches
    if size is None:
        raise ValueError("DataLoader: batch_size or batch_sampler must be given, got none")
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: shuffle must not be given beside sampler, got both")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    return BatchSampler(sampler, size, last or "keep")
