"""forerun on two logical devices: as the mode prescribes, step by step, or all issued before anything runs."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy

import forerun
from forerun import _core, np, npx
from forerun.np import host
from stress.fuzz.numpy_back import snapshot


class RunningAhead:
    """forerun in the mode that is set."""

    xp = np
    runs_ahead = True

    def array(self, values: numpy.ndarray, device: int) -> Any:
        """A new array on a device."""
        return np.array(values, dtype=values.dtype, device=forerun.cpu(device))

    def dense(self, x: Any) -> Any:
        """Results are in C order."""
        return x

    def writable(self, x: Any) -> Any:
        """The array; for a scalar, which no step can write to, an array with its value."""
        return np.asarray(x)

    def move(self, x: Any, device: int) -> Any:
        """A copy on a device."""
        return x.copyto(forerun.cpu(device))

    def look(self, x: Any, how: int = 0) -> tuple[Any, ...]:
        """Return the result of a read: values, or the error."""
        with self.reading():
            try:
                return snapshot(READS[how % len(READS)](x))
            except Exception as error:
                return raised_entry(error)

    def host(self, fn: Callable[..., Any], inputs: Sequence[Any], specs: Sequence[Any]) -> list[Any]:
        """The results of a host task."""
        return host(fn, list(inputs), specs)

    def take(self, x: Any, index: Any) -> Any:
        """Elements along the first axis."""
        return np.take(x, index, axis=0)

    def scatter(self, x: Any, index: Any, value: Any) -> None:
        """Writes elements along the first axis."""
        x[index] = value

    def known(self, x: Any) -> Any:
        """Return an array for which a call must wait; it waits by itself."""
        return x

    def hybrid(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, recorded at its first call."""
        return forerun.hybrid(function)

    def pace(self, items: Iterable[Any], ahead: int) -> Iterable[Any]:
        """Pace the items; the errors that this raises depend on the operations that were run, so they are ignored."""
        items = list(items)
        paced = iter(forerun.pace(items, ahead))
        for item in items:
            with contextlib.suppress(Exception):
                next(paced)
            yield item

    def barrier(self) -> None:
        """Wait for everything; the error that this raises depends on the operations that were run."""
        with self.reading(), contextlib.suppress(Exception):
            forerun.waitall()

    def settings(self, n: int) -> None:
        """Change passes and window in the middle of a program."""
        if forerun.config()["engine"] == "sync":
            return
        passes = ",".join(name for i, name in enumerate(("drop", "fuse", "reuse")) if n >> i & 1)
        with self.reading():
            forerun.configure(passes=passes, ops_ahead=(1 << 14, 64, 7)[n % 3] if self.may_narrow() else 1 << 14)

    def may_narrow(self) -> bool:
        """Whether the window may be made smaller."""
        return True

    def after_step(self) -> None:
        """Do nothing: the engine takes its own time."""

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Enclose a call that waits."""
        yield

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Enclose a whole program."""
        yield


class AllAtOnce(RunningAhead):
    """No operation starts before a thread waits: passes see all operations issued until then.

    The gate is one for all threads: it stays open while any of them waits.
    """

    lock = threading.Lock()
    waiting = 0
    issuing = False

    def may_narrow(self) -> bool:
        """Return False: nothing runs meanwhile."""
        return False

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Let all operations run meanwhile."""
        self.pass_through(1)
        try:
            yield
        finally:
            self.pass_through(-1)

    def pass_through(self, change: int) -> None:
        """Count one more waiting thread, or one less."""
        with AllAtOnce.lock:
            AllAtOnce.waiting += change
            _core.gate(AllAtOnce.issuing and AllAtOnce.waiting == 0)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The gate is shut until the end."""
        AllAtOnce.waiting, AllAtOnce.issuing = 0, True
        _core.gate(True)
        try:
            yield
        finally:
            AllAtOnce.issuing = False
            _core.gate(False)


class StepByStep(RunningAhead):
    """Waits after each step, and records the steps that failed."""

    def __init__(self) -> None:
        self.failed: list[tuple[Any, ...]] = []

    def after_step(self) -> None:
        """Wait; the failures that have not been raised are this step's."""
        try:
            forerun.waitall()
        except Exception as error:
            several = error.exceptions if isinstance(error, ExceptionGroup) else [error]
            self.failed += [raised_entry(one) for one in several if isinstance(one, Exception)]


def raised_entry(error: Exception) -> tuple[Any, ...]:
    """An error's type, message, and the line that it names."""
    return "raises", type(error).__name__, str(error), tuple(getattr(error, "__notes__", ()))


def _later(x: Any) -> numpy.ndarray:
    x.wait()
    return x.asnumpy()


def _by_file(write: Callable[[str, Any], Any], name: str, read: Callable[[str], Any]) -> Callable[[Any], numpy.ndarray]:
    """Return NumPy's read of the file after the call that writes it has returned; then the folder can be deleted."""

    def look(x: Any) -> numpy.ndarray:
        with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
            write(f"{folder}/{name}", x)
            found = read(f"{folder}/{name}")
        return numpy.asarray(found)

    return look


def _by_bytes(x: Any) -> numpy.ndarray:
    look = _by_file(lambda path, x: x.tofile(path), "x", lambda path: numpy.fromfile(path, x.dtype))
    return look(x).reshape(x.shape)


def _loaded(x: Any) -> numpy.ndarray:
    """Return forerun's read of a file that is written while the program continues."""
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        size = np.save(f"{folder}/x", x, wait=False)
        try:
            found = np.load(f"{folder}/x.npy")
        except FileNotFoundError:  # the values' failure is known: it is raised by the size
            size.wait()
            raise
        with contextlib.suppress(Exception):
            size.wait()  # then the folder can be deleted
        return found.asnumpy()


_FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None  # in memory, so that no operation waits for a disk
READS: tuple[Callable[[Any], numpy.ndarray], ...] = (
    lambda x: x.asnumpy(),
    lambda x: numpy.asarray(x),
    _later,
    lambda x: numpy.array(x.tolist(), dtype=x.dtype).reshape(x.shape),
    lambda x: copy.deepcopy(x).asnumpy(),
    lambda x: pickle.loads(pickle.dumps(x)).asnumpy(),
    _by_file(np.save, "x.npy", numpy.load),
    _by_file(lambda path, x: np.savez_compressed(path, x=x), "x.npz", lambda path: numpy.load(path)["x"]),
    _by_file(lambda path, x: npx.save(path, [x]), "x", lambda path: numpy.load(path)["arr_0"]),
    _by_bytes,
    _loaded,
)
