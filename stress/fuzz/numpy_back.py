"""NumPy, one step after the other: the values that an exact program must read."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy

from stress.fuzz.marked import SOUND, SURE, Failures, Marked, Poisoned, failures, marked, poison, without_cells


class Open(BaseException):
    """The rest of the program depends on whether a failure has poisoned neighbouring memory."""


class InOrder:
    """NumPy on arrays that know their poisoned elements."""

    xp = numpy
    runs_ahead = False

    def array(self, values: numpy.ndarray, device: int) -> Any:
        """A new array."""
        return marked(values, SOUND)

    def dense(self, x: Any) -> Any:
        """Numbers become arrays; results are in C order, as forerun's, which decides whether a later reshape copies."""
        return x if isinstance(x, Marked) and x.flags.c_contiguous else marked(without_cells(x), failures(x))

    def writable(self, x: Any) -> Any:
        """Return the array: elements are separate arrays. NumPy's diagonals are read-only, forerun's are not."""
        if not x.flags.writeable:
            x.flags.writeable = True
        return x

    def move(self, x: Any, device: int) -> Any:
        """A copy."""
        return marked(without_cells(x), failures(x))

    def look(self, x: Any, how: int = 0) -> tuple[Any, ...]:
        """Return the result of a read."""
        found = failures(x)
        if found >= SURE:
            return ("raises", found)
        return ("perhaps", found, snapshot(without_cells(x))) if found else snapshot(without_cells(x))

    def host(self, fn: Callable[..., Any], inputs: Sequence[Any], specs: Sequence[Any]) -> list[Any]:
        """The function's results; if it cannot run, or fails, results that cannot be read."""
        found: Failures = failures(list(inputs))
        results = None
        if not found >= SURE:
            try:
                results = fn(*map(without_cells, inputs))
            except Poisoned as error:
                found |= error.failures
            except Exception as error:
                found |= SURE | {(type(error).__name__, str(error))}
        if results is None:
            return [marked(numpy.zeros(shape, dtype), found) for shape, dtype in specs]
        return [marked(r, found) for r in (results if len(specs) > 1 else [results])]

    def take(self, x: Any, index: Any) -> Any:
        """Return elements along the first axis, poisoned if positions are out of range."""
        if wrong := self._outside("take", x, index):
            return marked(numpy.zeros(index.shape + x.shape[1:], x.dtype), wrong)
        return numpy.take(x, index, axis=0)

    def scatter(self, x: Any, index: Any, value: Any) -> None:
        """Writes elements along the first axis."""
        if wrong := self._outside("put", x, index):
            poison(x, wrong)
        else:
            x[index] = value

    def _outside(self, op: str, x: Any, index: Any) -> Failures:
        n, values = x.shape[0], without_cells(index).reshape(-1)
        bad = values[(values < -n) | (values >= n)]
        if not len(bad) or (found := failures([x, index])) >= SURE:
            return found if len(bad) else SOUND
        return found | SURE | {("IndexError", f"{op}: index must be in [{-n}, {n}), got {bad[0]}")}

    def known(self, x: Any) -> Any:
        """Return an array that a call has to wait for."""
        if (found := failures(x)) and not found >= SURE:
            raise Open
        if found:
            raise Poisoned(found)
        return x

    def hybrid(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function unchanged."""
        return function

    def pace(self, items: Iterable[Any], ahead: int) -> Iterable[Any]:
        """Return the items unchanged."""
        return items

    def nothing(self, *args: Any) -> None:
        """Do nothing for barriers and settings."""

    barrier = settings = after_step = nothing

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Enclose a call that waits."""
        yield

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Enclose a whole program."""
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield


def snapshot(values: numpy.ndarray) -> tuple[Any, ...]:
    """Return shape, dtype and bits; all NaN are equal."""
    values = numpy.asarray(values)
    if values.dtype.kind in "fc":
        values = values.copy()
        for part in (values.real, values.imag) if values.dtype.kind == "c" else (values,):
            part[numpy.isnan(part)] = numpy.nan
    return values.shape, values.dtype.str, values.tobytes()
