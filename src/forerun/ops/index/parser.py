"""An index, read: basic entries make a view, then arrays of positions pick along neighbouring axes of it."""

from __future__ import annotations

import operator
import reprlib
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    _has_arrays,
    array_of_list,
    asarray,
    cast,
    check_choice,
    ints_become_floats,
    is_array,
    is_real_float,
)
from ..elementwise.arithmetic import maximum, minimum, remainder
from ..shape.axis_order import moveaxis

if TYPE_CHECKING:
    from ..._runtime.device import Device
    from ...typing import Array, ArrayLike

__all__ = ["Key", "check_range", "entries_of", "in_64_bits", "is_basic", "is_mask", "places_within", "positions_from"]


def in_64_bits(index: Any) -> Any:
    """Return an index with NumPy's arrays of narrower integers in int64, which the core reads itself.

    Without such arrays it is the index itself.

    >>> in_64_bits((numpy.array([1, 2], "int32"), 3))
    (array([1, 2]), 3)
    """
    if type(index) is numpy.ndarray:
        return index.astype(numpy.int64) if index.dtype.kind in "iu" and index.dtype.itemsize < 8 else index
    if type(index) is not tuple:
        return index
    found = tuple(map(in_64_bits, index))
    return index if all(map(operator.is_, found, index)) else found


def is_basic(index: ArrayLike) -> bool:
    """Return whether an index is made of integers, slices, None and Ellipsis alone: it selects a view.

    >>> is_basic((1, ..., None, slice(2))), is_basic([1]), is_basic(True)
    (True, False, False)
    """
    for e in index if isinstance(index, tuple) else (index,):
        if e is None or e is Ellipsis or type(e) is slice or type(e) is int:
            continue
        if not isinstance(e, (int, numpy.integer)) or isinstance(e, bool):
            return False
    return True


def entries_of(op: str, index: ArrayLike, device: Device | None) -> list[Any]:
    """Return the entries of an index: None, Ellipsis, slices, ints, and arrays of integers or bools.

    Arrays are NumPy's where the values are known, else forerun's on `device`. IndexError if an entry is not an index.

    >>> entries_of("op", (numpy.int64(1), ..., [0, 2]), None)
    [1, Ellipsis, array([0, 2])]
    """
    return [_entry(op, e, device) for e in (index if isinstance(index, tuple) else (index,))]


def _entry(op: str, e: Any, device: Device | None) -> Any:
    if e is None or e is Ellipsis or isinstance(e, slice):
        return e
    if is_array(e):
        return positions_from(op, e, device)
    if not isinstance(e, (bool, numpy.bool_, numpy.ndarray)):
        try:
            return operator.index(e)
        except TypeError:  # not an integer: perhaps a sequence of them
            pass
    return positions_from(op, e, device)


def positions_from(op: str, e: Any, device: Device | None) -> Array:
    """Return an entry of an index as an array of integers or bools: NumPy's, or on `device` if made of forerun's.

    IndexError for other values, ValueError for lists of several lengths.

    >>> positions_from("op", [True, False], None)
    array([ True, False])
    """
    e = _listed(e)
    if is_array(e):
        if is_real_float(e.dtype) and ints_become_floats():
            e = cast(e, numpy.dtype("int64"))  # as MXNet does, whose integers are floats
        found = e if e.device == device else _core.copy(e, device)
    else:
        found = _known(op, e)
    if found.dtype.kind not in "iub":
        raise IndexError(f"{op}: indices must be integers or bools, got {found.dtype}")
    return found


def _listed(e: ArrayLike) -> Any:
    """Return a list of integers as NumPy's array, one with arrays in it as forerun's, and others as they are."""
    if not isinstance(e, (list, tuple)):
        return e
    read: Any = None if ints_become_floats() else array_of_list(e, None)
    if read is not None:
        return read.numpy() if read.size and read.dtype.kind in "iub" else e
    return asarray(e) if _has_arrays(e) else e


def _known(op: str, e: ArrayLike) -> numpy.ndarray:
    try:
        values = numpy.asarray(e)
    except ValueError:  # lists of several lengths
        raise ValueError(f"{op}: lists in an index must have one length at one depth, got {e!r}") from None
    return values.astype("int64") if values.size == 0 and not isinstance(e, numpy.ndarray) else values


def is_mask(e: Array) -> bool:
    """Return whether an entry of an index is an array of bools.

    >>> is_mask(numpy.array([True])), is_mask(numpy.array([1]))
    (True, False)
    """
    return isinstance(e, (_core.Array, numpy.ndarray)) and e.dtype.kind == "b"


def _axes_taken(e: Any) -> int:
    """Return how many axes of the array an entry indexes."""
    if e is None or e is Ellipsis:
        return 0
    return int(e.ndim) if is_mask(e) else 1


class Key:
    """An index of x in terms of which it is computed.

    basic: an index that makes a view of x. arrays: the indices along `axes` of it, NumPy's arrays or forerun's; a mask
    covers as many axes as it has. axis: the first axis of the indexed elements in the result.
    """

    def __init__(self, op: str, x: Array, entries: list[Any]) -> None:
        self.op = op
        self.basic: list[Any] = []
        self.arrays: list[Any] = []
        self.axes: list[int] = []
        self.axis = 0
        self._kept = 0  # axes of the view so far
        used = sum(map(_axes_taken, entries))
        dots = sum(1 for e in entries if e is Ellipsis)
        if used > x.ndim:
            raise IndexError(f"{op}: an index must have at most {x.ndim} entries for shape {x.shape}, got {used}")
        if dots > 1:
            raise IndexError(f"{op}: an index must have at most one Ellipsis, got {dots}")
        self._read(x, entries if dots else [*entries, ...], x.ndim - used)

    def _read(self, x: Array, entries: list[Any], rest: int) -> None:
        """Read an entry of an index. rest: how many axes the Ellipsis stands for.

        As in NumPy, integers count as arrays beside arrays: the indexed elements replace the axis of the first of them
        if all are neighbours, and come first otherwise. An Ellipsis separates neighbours even if it covers no axis.
        """
        axis = 0  # of x
        runs = 0  # of neighbouring arrays and integers
        inside = False  # of such a run
        for e in entries:
            picks = not (e is None or e is Ellipsis or isinstance(e, slice))
            if picks and not inside:
                runs, self.axis = runs + 1, self._kept
            inside = picks
            if e is Ellipsis:
                self._keep(*[slice(None)] * rest)
                axis += rest
            elif is_mask(e):
                self._mask(x, e, axis)
            elif isinstance(e, (_core.Array, numpy.ndarray)):
                self._array(e)
            elif isinstance(e, int):
                self.basic.append(e)
            else:
                self._keep(e)
            axis += _axes_taken(e)
        self.axis = self.axis if runs == 1 else 0

    def _keep(self, *entries: Any) -> None:
        self.basic += entries
        self._kept += len(entries)

    def _array(self, e: object) -> None:
        self.arrays.append(e)
        self.axes.append(self._kept)
        self._keep(slice(None))

    def _mask(self, x: Array, mask: Array | numpy.ndarray, axis: int) -> None:
        part = x.shape[axis : axis + mask.ndim]
        if any(n not in (0, m) for n, m in zip(mask.shape, part)):
            what = "the array's leading shape" if axis == 0 else f"the shape of axes from {axis} on"
            raise IndexError(f"{self.op}: mask must have {what}, got {mask.shape} for {x.shape}")
        self.arrays.append(mask if mask.ndim else mask.reshape((1,)))
        self.axes += range(self._kept, self._kept + max(1, mask.ndim))
        self._keep(*([slice(None)] * mask.ndim if mask.ndim else [None]))  # a single bool: an axis of its own

    def view(self, x: Array) -> Array:
        """Return x seen through the basic entries, with the indexed axes next to each other from `axis` on."""
        v = x
        if any(type(e) is not slice or e != slice(None) for e in self.basic):
            v = x[tuple(self.basic)]
        target = list(range(self.axis, self.axis + len(self.axes)))
        return v if self.axes == target else moveaxis(v, self.axes, target)

    def positions(self, view: Array) -> list[Any]:
        """Return the arrays as integers, one for each indexed axis, forerun's on the device of the view.

        Waits for masks that are forerun arrays. IndexError if they do not broadcast, or a known one is out of range.
        """
        found = [p for a in self.arrays for p in (_places(a) if a.dtype.kind == "b" else (a,))]
        try:
            shape = numpy.broadcast_shapes(*(p.shape for p in found))
        except ValueError:
            listed = " and ".join(str(p.shape) for p in found)
            raise IndexError(f"{self.op}: arrays in an index must broadcast together, got {listed}") from None
        for p, n in zip(found, view.shape[self.axis :]):
            if p.ndim == 0 and p.dtype == "uint64" and not is_array(p) and p >= 2**63:
                raise OverflowError(f"{self.op}: index must be in [{-n}, {n}), got {p}")
            if p.ndim == 0 or 0 not in shape:  # as in NumPy, where the former is a number
                check_range(self.op, p, n)
        return [p if is_array(p) else _core.from_numpy(p, view.device) for p in found]


def _places(mask: Array | numpy.ndarray) -> tuple[numpy.ndarray, ...]:
    if is_array(mask):
        mask = mask.numpy() if mask.size else numpy.zeros(mask.shape, bool)
    return numpy.nonzero(mask)


def check_range(op: str, positions: Array | numpy.ndarray, n: int) -> None:
    """Raise IndexError if known positions along an axis of extent n are out of range, or if that axis is empty.

    >>> check_range("op", numpy.array([0, 3]), 3)
    Traceback (most recent call last):
    IndexError: op: index must be in [-3, 3), got 3
    """
    if is_array(positions):
        bad = positions.size > 0 and n == 0
        got: Any = f"an array of shape {positions.shape}"
    else:
        bad, got = False, None
        if positions.size:
            p = positions.astype("int64", copy=False)  # as NumPy: uint64 wraps
            low, high = int(p.min()), int(p.max())
            bad, got = low < -n or high >= n, low if low < -n else high
    if bad:
        raise IndexError(f"{op}: index must be in [{-n}, {n}), got {got}")


def _numbers(op: str, values: ArrayLike, found: numpy.ndarray) -> numpy.ndarray:
    """Return values as int64 if all are integers, else `found`. OverflowError if one does not fit."""
    try:
        return numpy.asarray(values, "int64")
    except OverflowError:
        raise OverflowError(f"{op}: positions must fit int64, got {reprlib.repr(values)}") from None
    except (TypeError, ValueError):
        return found


def places_within(op: str, indices: ArrayLike, n: int, mode: str, device: Device | None, casting: str) -> Array:
    """Return positions along an axis of extent n, of any shape, as our integers on `device`; the mode is applied.

    mode: "raise", "clip" or "wrap". casting: by which rule they become int64, bools too (TypeError if they do not).
    ValueError for another mode, IndexError if known ones are out of range or the axis is empty.

    >>> places_within("op", [-1, 5], 3, "clip", None, "safe").tolist()
    [0, 2]
    """
    check_choice(op, "mode", mode, ("raise", "clip", "wrap"))
    found = _listed(indices)
    if not is_array(found):
        found = numpy.asarray(found)
        if not isinstance(indices, (numpy.ndarray, numpy.generic)) and (found.size == 0 or found.dtype.kind in "uO"):
            found = _numbers(op, indices, found)
    elif is_real_float(found.dtype) and ints_become_floats():
        found = cast(found, numpy.dtype("int64"))
    if not numpy.can_cast(found.dtype, "int64", casting):  # type: ignore[arg-type]
        raise TypeError(f"{op}: positions must be integers, got {found.dtype}")
    if mode == "raise" or (n == 0 and found.size):
        check_range(op, found, n)
    if is_array(found):
        found = found if found.device == device else _core.copy(found, device)
        if mode != "raise" or found.dtype.kind == "b" or (found.ndim == 0 and found.dtype == "uint64"):  # here it wraps
            found = cast(found, numpy.dtype("int64"))
        if mode == "raise":
            return found
        return minimum(maximum(found, 0), n - 1) if mode == "clip" else remainder(found, n)
    found = found.astype("int64", copy=False)
    if mode != "raise" and found.size:
        found = numpy.clip(found, 0, n - 1) if mode == "clip" else found % n
    return _core.from_numpy(found, device)
