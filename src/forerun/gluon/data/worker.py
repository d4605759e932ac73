"""The worker process of a loader: it makes the requested batches until the loader ends."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import socket
import struct
import traceback
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy

from ..._runtime.device import cpu
from ..._runtime.settings import configure
from ...ops._base import convert
from ...ops._base import core as _core
from .epoch import Epoch
from .shared import Slot, new_file, packed

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["ANSWER", "receive_file", "run", "send_file"]

ANSWER = struct.Struct("<?QQQQ")  # made well; slot, its size if it is new, where the description is, how long it is
_LOOK = 5.0  # seconds after which a worker that is not asked looks whether the consumer lives


# Those of multiprocessing wait for an answer on the same line, where the next question may come first.
def send_file(line: Connection, file: int) -> None:
    """Send a file descriptor, without an answer."""
    with socket.fromfd(line.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as end:
        socket.send_fds(end, [b"f"], [file])


def receive_file(line: Connection) -> int:
    """Return a file descriptor that `send_file` has sent."""
    with socket.fromfd(line.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as end:
        _, files, _, _ = socket.recv_fds(end, 1, 1)
    if not files:
        raise EOFError
    return files[0]


class WorkerTraceback(Exception):
    """The cause of an exception that a worker raised: its traceback there."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


class Failure:
    """An exception that is sent to the consumer and raised there, with a `WorkerTraceback` as its cause."""

    def __init__(self, error: Exception) -> None:
        self.text = "".join(traceback.format_exception(error))
        try:
            pickle.loads(pickle.dumps(error))
            self.error = error
        except Exception:  # any error: the class may be a user's
            self.error = RuntimeError(f"{type(error).__name__}: {error}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.error, self.text)


def _arrived(error: Exception, text: str) -> Exception:
    error.__cause__ = WorkerTraceback(text)
    return error


class Worker:
    """A worker process: its line to the consumer, the epoch, and the slots that it fills."""

    def __init__(self, line: Connection, epoch: Epoch) -> None:
        self.line, self.epoch = line, epoch
        self.slots: dict[int, Slot] = {}
        self.free: list[Slot] = []  # according to the consumer: an object in this process may still hold a view
        self.files: dict[int, int] = {}  # of slots that the consumer does not have yet
        self.made = 0  # slots
        self.size = 1 << 16  # of a slot: the size of the largest batch so far

    def serve(self) -> None:
        """Answer requests until there are no more, the connection is closed, or the consumer has ended."""
        parent = os.getppid()
        while True:
            while not self.line.poll(_LOOK):
                if os.getppid() != parent:
                    return
            question = self.line.recv()
            if question is None:
                return
            self.answer(*question)

    def answer(self, number: int, positions: Array, freed: list[int], lost: list[int]) -> None:
        """Make a batch and report its place, or the error."""
        self.free += [self.slots[i] for i in freed]
        for i in lost:
            del self.slots[i]
        slot = self.taken()
        slot.begin()
        try:
            slot, where = packed(self.batch(number, positions, slot), slot, self.larger)
            good = True
        except Exception as error:
            slot.begin()
            slot, where = packed(Failure(error), slot, self.larger)
            good = False
        slot.end()
        self.tell(good, slot, where)

    def batch(self, number: int, positions: Any, slot: Slot) -> Any:
        """Return a batch. Random numbers of Python, NumPy and forerun follow from the same key."""
        seed = numpy.random.SeedSequence((*self.epoch.key, number)).generate_state(4)
        random.seed(seed.tobytes())
        numpy.random.seed(seed)  # noqa: NPY002
        return self.epoch.batch(number, positions, slot.place)

    def taken(self) -> Slot:
        """Return a free slot of the usual size."""
        for i, slot in enumerate(self.free):
            if slot.is_free and slot.size >= self.size:
                return self.free.pop(i)
        return self.larger(self.size)

    def larger(self, size: int) -> Slot:
        """Return a new slot of so many bytes at least."""
        self.size = max(self.size, size)
        file = new_file()
        number, self.made = self.made, self.made + 1
        self.files[number] = file
        os.ftruncate(file, self.size)
        slot = self.slots[number] = Slot(number, file, self.size)
        slot.begin()
        return slot

    def tell(self, good: bool, slot: Slot, where: Sequence[int]) -> None:
        """Send the data with which the consumer finds the batch."""
        new = slot.number in self.files
        self.line.send_bytes(ANSWER.pack(good, slot.number, slot.size if new else 0, *where))
        if new:
            send_file(self.line, self.files[slot.number])
        for number, file in self.files.items():
            os.close(file)
            if number != slot.number:  # it was too small
                del self.slots[number]
        self.files = {}


def _end_with(consumer: int) -> None:
    """End this process with the consumer's at any time; otherwise it would notice that only between batches."""
    is_parent = multiprocessing.get_start_method(allow_none=True) != "forkserver"
    _core.end_with_process(consumer, is_parent)
    parent = multiprocessing.parent_process()
    if not is_parent and parent is not None and not parent.is_alive():  # its number may have become another's
        os._exit(1)


def run(line: Connection, epoch: Epoch, defaults: tuple[Any, bool], consumer: int) -> None:
    """Run the process. Of the parent's state it uses the data set, and how arrays are created.

    It ends with the consumer's. It has an engine of its own that runs everything at once, in this thread: batches are
    made side by side as it is. A process that makes batches for a GPU makes them on the host: a forked one has no GPU.
    """
    _end_with(consumer)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the consumer's, who then ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(RuntimeError):  # forked within a host task, it has no engine; its use is an error
        configure(engine="sync")
    convert.set_defaults(*defaults)
    _core.set_recording(False)
    if epoch.device.device_type != "cpu":
        epoch.device = cpu()
    with suppress(EOFError, ConnectionError):  # the consumer wants no more
        Worker(line, epoch).serve()
