"""NumPy arrays with the failures that have poisoned their memory in forerun.

forerun keeps a failure by the part of a block of memory that was written with it. Bytes that overlap it are certainly
poisoned (SURE); for the rest of the block it is left open here, as forerun does not determine it in every case. Where
two failures meet, either may be raised, so a set is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

Failure = tuple[str, str]  # the exception's type and its message
Failures = frozenset[Failure]
SOUND: Failures = frozenset()
SURE: Failures = frozenset([("for certain", "")])  # in a set of failures: one of them is raised


class Poisoned(Exception):
    """A call waits for values that cannot be read."""

    def __init__(self, found: Failures) -> None:
        super().__init__(sorted(found))
        self.failures = found


class Cell:
    """The failures that may have poisoned a block of memory, and the bytes that are certainly poisoned, if not all."""

    __slots__ = ("failures", "poisoned")

    def __init__(self, failures: Failures) -> None:
        self.failures = failures
        self.poisoned: numpy.ndarray | None = None


def owner(x: Any) -> Any:
    """The array that owns the memory."""
    while isinstance(x.base, numpy.ndarray):
        x = x.base
    return x


class Marked(numpy.ndarray):
    """An array with a cell, which it shares with its views."""

    cell: Cell

    def __array_finalize__(self, like: Any) -> None:
        known = getattr(like, "cell", None)
        if known is not None and owner(self) is owner(like):
            self.cell = known
        else:
            self.cell = Cell(failures(like) if known is not None else SOUND)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        written = () if out is None else out
        with numpy.errstate(all="ignore"):
            more = {"out": tuple(map(without_cells, written))} if written else {}
            result = getattr(ufunc, method)(*map(without_cells, inputs), **more, **kwargs)
        found = failures((inputs, kwargs))
        if written:
            for target in written:
                record_write(target, found)
            return written[0] if len(written) == 1 else written
        return marked(result, found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            result = func(*without_cells(args), **without_cells(kwargs))
        if func.__name__.endswith("_like"):
            args = args[1:]  # of the first one, only the shape and the dtype matter
        return marked(result, failures((args, kwargs)), cells_of((args, kwargs)))

    def __getitem__(self, key: Any) -> Any:
        result = without_cells(self)[without_cells(key)]
        if not isinstance(result, numpy.ndarray) or owner(result) is not owner(self):
            return marked(result, failures((self, key)))
        view = result.view(Marked)
        view.cell = self.cell
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        without_cells(self)[without_cells(key)] = without_cells(value)
        if elements_as_views(key) is not key:
            record_write(self[elements_as_views(key)], failures(value))
        else:
            poison(self, failures((key, value)) - SURE)
            if failures(value) >= SURE and not failures(key):
                bytes_of(self)[without_cells(key)] = True


def elements_as_views(key: Any) -> Any:
    """Return a basic key with an ellipsis, so that elements are arrays without axes; other keys unchanged."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(part is None or isinstance(part, int | slice | type(Ellipsis)) for part in parts):
        return key
    return (*parts,) if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)


def without_cells(x: Any) -> Any:
    """Without cells, in sequences too."""
    if isinstance(x, Marked):
        return x.view(numpy.ndarray)
    if isinstance(x, list | tuple):
        return rebuilt(x, map(without_cells, x))
    if isinstance(x, dict):
        return {k: without_cells(v) for k, v in x.items()}
    return x


def failures(x: Any) -> Failures:
    """Return the failures of any of the arrays."""
    if isinstance(x, Marked):
        found = x.cell.failures
        return found | SURE if x.cell.poisoned is not None and bytes_of(x).any() else found
    if isinstance(x, dict):
        x = list(x.values())
    return frozenset().union(*map(failures, x)) if isinstance(x, list | tuple) else SOUND


def rebuilt(like: Any, values: Iterable[Any]) -> Any:
    """A list, a tuple, or a tuple with names, of other values."""
    return type(like)(*values) if hasattr(like, "_fields") else type(like)(values)


def cells_of(x: Any) -> dict[int, Cell]:
    """Return the cells of arrays, by the owners of their memory."""
    if isinstance(x, Marked):
        return {id(owner(x)): x.cell}
    if isinstance(x, dict):
        x = list(x.values())
    return {k: v for part in x for k, v in cells_of(part).items()} if isinstance(x, list | tuple) else {}


def marked(x: Any, found: Failures, known: dict[int, Cell] | None = None) -> Any:
    """Return results as new arrays with these failures; results in a known block as views with its cell."""
    if isinstance(x, list | tuple):
        return rebuilt(x, (marked(v, found, known) for v in x))
    cell = (known or {}).get(id(owner(x))) if isinstance(x, numpy.ndarray) else None
    result = (x if cell else numpy.array(x, order="C")).view(Marked)
    result.cell = cell or Cell(found)
    return result


def bytes_of(x: Marked) -> numpy.ndarray:
    """Return marks of the bytes that are certainly poisoned, to be read and written."""
    memory = owner(x)
    if x.cell.poisoned is None:
        x.cell.poisoned = numpy.zeros(memory.nbytes + 1, bool)
    start = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0] if x.size else 0
    return numpy.lib.stride_tricks.as_strided(x.cell.poisoned[start:], x.shape, x.strides)


def poison(x: Marked, found: Failures) -> None:
    """Record that a part of a block was written with values that these failures had poisoned."""
    if found >= SURE and not x.cell.failures >= SURE:
        bytes_of(x)[...] = True
    x.cell.failures |= found - SURE


def record_write(target: Marked, found: Failures) -> None:
    """Record that `target` was written with values that these failures had poisoned: all of its block, or a part."""
    if target.flags.c_contiguous and target.nbytes == owner(target).nbytes:
        target.cell.failures, target.cell.poisoned = found, None
    else:
        poison(target, found)
