"""Batches from worker processes, in order, a bounded number of them ahead."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import socket
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from ..._runtime import core as _core
from ..._runtime.system import at_fork
from ...ops._base import convert
from .epoch import Epoch
from .shared import Slot, Span, unpacked
from .worker import ANSWER, receive_file, run

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["ProcessBatches"]

_MOST = 64  # batches that a worker is asked for ahead: questions and answers that wait must fit into the line
_GLANCE = 1.0  # seconds between looks whether workers live, for one whose line another process holds open
_PATIENCE = 5.0  # seconds that a worker which was asked to end may take

_starting = threading.Lock()  # held while a line is made and a worker started: a fork then would keep the line
_lines: weakref.WeakSet[Any] = weakref.WeakSet()  # to all workers of this process


def _forked() -> None:
    """In the child of a fork: the workers are the parent's."""
    global _starting
    _starting = threading.Lock()
    for line in list(_lines):
        line.close()
    _lines.clear()


at_fork(after_in_child=_forked)


class _Worker:
    """A worker process as the consumer sees it."""

    def __init__(self, number: int, context: Any, epoch: Epoch, timeout: float) -> None:
        self.number = number
        self.asked: deque[int] = deque()  # batches that it has not made yet
        self.slots: dict[int, Slot] = {}
        self.freed: deque[int] = deque()  # slots that it may use again, and does not know of yet
        self.lost: deque[int] = deque()  # slots that must not be used again
        defaults = convert.default_float(), convert.ints_become_floats()
        with _starting:
            self.line, end = context.Pipe()
            _lines.add(self.line)
            self.process = context.Process(target=run, args=(end, epoch, defaults, os.getpid()), daemon=True)
            try:
                self.process.start()
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                error.add_note(
                    "DataLoader: data set and functions must be picklable, as processes are made by"
                    f" {context.get_start_method()!r} (multiprocessing.set_start_method)"
                )
                raise
            finally:
                end.close()
        _bound_sends(self.line, timeout)

    def ask(self, number: int, positions: Array) -> None:
        """Asks for a batch, and reports freed and lost slots."""
        self.line.send((number, positions, _drained(self.freed), _drained(self.lost)))
        self.asked.append(number)

    def answer(self) -> tuple[int, bool, Slot, Span]:
        """Return the batch that it has made: its number, whether it is one, and where it is."""
        good, i, size, start, length = ANSWER.unpack(self.line.recv_bytes())
        if size:
            file = receive_file(self.line)
            self.slots[i] = Slot(i, file, size)
            os.close(file)
        return self.asked.popleft(), good, self.slots[i], (start, length)

    def free(self, slot: Slot) -> None:
        """Note that a slot is not needed any more. Any thread may call it, at any time."""
        if slot.is_known:
            self.freed.append(slot.number)
        elif self.slots.pop(slot.number, None):
            self.lost.append(slot.number)

    def end(self) -> None:
        """Asks it to end; kills it if it is busy."""
        if self.asked and self.process.is_alive():
            self.process.terminate()
        elif not self.line.closed:
            with suppress(OSError):  # it has ended already
                self.line.send(None)
        self.line.close()

    def join(self) -> None:
        """Wait for its end, but not for long."""
        self.process.join(_PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def fate(self) -> str:
        """Return how the process ended, in words."""
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        how = f"ended with status {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name} (has memory run out?)"
        return f"worker {self.number} (process {self.process.pid}) {how}"


def _drained(numbers: deque[int]) -> list[int]:
    return [numbers.popleft() for _ in range(len(numbers))]


def _bound_sends(line: Any, seconds: float) -> None:
    """Bound the time of sends: a worker that does not read is waited for as long as for a batch."""
    with socket.socket(fileno=os.dup(line.fileno())) as end:
        whole, part = divmod(seconds, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(whole), int(part * 1e6)))


def _stop(workers: list[_Worker], process: int) -> None:
    """End workers of this process, and leave nothing of them."""
    if os.getpid() != process:
        return
    for worker in workers:
        worker.end()
    for worker in workers:
        worker.join()


class ProcessBatches:
    """An iterator over batches that `workers` processes make, at most `prefetch` ahead of the consumer.

    The processes end with the epoch, with an error, with `close`, and with the iterator. A batch that takes longer than
    `timeout` seconds raises TimeoutError; a worker that ends by itself RuntimeError; an error in a worker is raised
    when its batch is due.
    """

    def __init__(self, epoch: Epoch, positions: Iterator[Any], workers: int, prefetch: int, timeout: float) -> None:
        self._epoch = epoch
        self._positions: Iterator[Any] | None = positions  # None: all have been asked for
        self._ahead, self._timeout = max(prefetch, 1), timeout
        self._asked = self._given = 0
        self._made: dict[int, tuple[_Worker, bool, Slot, Span]] = {}
        self._process, self._workers = os.getpid(), list[_Worker]()
        self._finalizer = weakref.finalize(self, _stop, self._workers, self._process)
        context = multiprocessing.get_context(multiprocessing.get_start_method(allow_none=True) or "fork")
        try:
            for i in range(workers):
                self._workers.append(_Worker(i, context, epoch, timeout))
            self._ask()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> ProcessBatches:
        return self

    def __next__(self) -> Any:
        if os.getpid() != self._process:
            raise RuntimeError("DataLoader: an iterator must be used in the process that made it, got another")
        if not self._finalizer.alive:
            raise StopIteration
        try:
            self._ask()
            if self._given == self._asked:
                raise StopIteration
            batch = self._next()
        except BaseException:
            self.close()
            raise
        return batch

    def close(self) -> None:
        """End the epoch and its processes."""
        self._finalizer()

    def _ask(self) -> None:
        """Asks for as many batches as may be ahead."""
        while self._positions is not None and self._asked < self._given + self._ahead:
            worker = min(self._workers, key=lambda w: len(w.asked))
            if len(worker.asked) >= _MOST:
                return
            try:
                positions = next(self._positions)
            except StopIteration:
                self._positions = None
                for worker in self._workers:
                    if not worker.asked:
                        worker.end()
                return
            self._question(worker, positions)

    def _question(self, worker: _Worker, positions: Array) -> None:
        try:
            worker.ask(self._asked, positions)
        except BlockingIOError:
            raise self._late(worker) from None
        except OSError:
            raise self._died(worker) from None
        self._asked += 1

    def _next(self) -> Any:
        deadline = time.monotonic() + self._timeout
        if self._given not in self._made:
            with _core.Waiting("next batch"):
                while self._given not in self._made:
                    self._receive(deadline)
        worker, good, slot, where = self._made.pop(self._given)
        with self._epoch.device:
            found = unpacked(slot, where, worker.free)
        self._given += 1
        if not good:
            raise found
        return self._epoch.finished(found)

    def _receive(self, deadline: float) -> None:
        """Wait for an answer, and take all that have arrived."""
        busy = {worker.line: worker for worker in self._workers if worker.asked}
        left = deadline - time.monotonic()
        ready = connection.wait(list(busy), max(0.0, min(left, _GLANCE)))
        for line in ready:
            self._take(busy[line])
        if not ready:
            for worker in busy.values():
                if not worker.process.is_alive() and not worker.line.poll():
                    raise self._died(worker)
            if left <= 0:
                raise self._late(next(w for w in busy.values() if self._given in w.asked))

    def _take(self, worker: _Worker) -> None:
        try:
            number, *answer = worker.answer()
        except (EOFError, OSError):
            raise self._died(worker) from None
        self._made[number] = (worker, *answer)  # type: ignore[assignment]
        if self._positions is None and not worker.asked:
            worker.end()

    def _died(self, worker: _Worker) -> RuntimeError:
        return RuntimeError(f"DataLoader: workers must live until the epoch ends, but {worker.fate()}")

    def _late(self, worker: _Worker) -> TimeoutError:
        return TimeoutError(
            f"DataLoader: a batch must be made within {self._timeout} s (timeout), got none from worker"
            f" {worker.number} (process {worker.process.pid})"
        )
