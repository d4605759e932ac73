"""Batches from worker threads, in order, a bounded number of them ahead."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

from ..._runtime import core as _core
from .epoch import Epoch

__all__ = ["ThreadBatches"]


def _stop(pool: ThreadPoolExecutor, ended: threading.Event, late: threading.Event) -> None:
    """End threads: one that makes a batch stops behind the example that it is at, and is waited for unless `late`."""
    ended.set()
    here = threading.current_thread() in pool._threads  # where the iterator was collected as garbage
    pool.shutdown(wait=not (here or late.is_set()), cancel_futures=True)


class ThreadBatches:
    """An iterator over batches that `workers` threads make, at most `prefetch` ahead of the consumer.

    The threads end with the epoch, with an error, with `close`, and with the iterator. A batch that takes longer than
    `timeout` seconds raises TimeoutError; an error in a thread is raised when its batch is due.
    """

    def __init__(self, epoch: Epoch, positions: Iterator[Any], workers: int, prefetch: int, timeout: float) -> None:
        self._epoch, self._positions = epoch, enumerate(positions)
        self._ahead, self._timeout = max(prefetch, 1), timeout
        self._waiting: deque[Future[Any]] = deque()
        self._ended, self._late = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(workers, "DataLoader")
        self._finalizer = weakref.finalize(self, _stop, self._pool, self._ended, self._late)
        try:
            self._ask()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> ThreadBatches:
        return self

    def __next__(self) -> Any:
        if not self._finalizer.alive:
            raise StopIteration
        try:
            self._ask()
            if not self._waiting:
                raise StopIteration
            return self._next()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the epoch and its threads."""
        self._finalizer()

    def _ask(self) -> None:
        while len(self._waiting) < self._ahead:
            try:
                number, positions = next(self._positions)
            except StopIteration:
                return
            self._waiting.append(self._pool.submit(self._epoch.batch, number, positions, ended=self._ended))

    def _next(self) -> Any:
        try:
            first = self._waiting[0]
            with nullcontext() if first.done() else _core.Waiting("next batch"):
                batch = first.result(self._timeout)
        except TimeoutError:
            if self._waiting[0].done():
                raise  # an error of the data set
            self._late.set()
            raise TimeoutError(
                f"DataLoader: a batch must be made within {self._timeout} s (timeout), got none"
            ) from None
        self._waiting.popleft()
        return self._epoch.finished(batch)
