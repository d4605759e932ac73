"""Assignment through an index: x[index] = value, with all kinds of indices and values."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from .convert import _has_arrays, asarray, is_array, is_bfloat16, is_supported, warn_of_lost_parts
from .host import host_op
from .indexing import getitem, where
from .keys import Key, entries_of, is_basic, is_mask
from .shape import reshape

__all__ = ["fit", "fitting", "setitem", "values_at", "values_for"]


def setitem(x: Any, index: Any, value: Any) -> None:
    """x[index] = value, in place: broadcast and cast to x. A single mask among basic entries does not wait.

    Errors as in NumPy; where only the computation can know, every read of x raises them. RuntimeError for arrays on
    the tape while recording.

    >>> x = asarray([1, 2, 3])
    >>> setitem(x, [0, 2], 7); x.tolist()
    [7, 2, 7]
    """
    if _core.recording() and (x.node is not None or getattr(value, "node", None) is not None):
        raise RuntimeError("setitem: an array on the tape must not be written in place while recording")
    if is_basic(index):
        target = _core.getitem(x, index)
        return _write(target, _into_view(x, index if isinstance(index, tuple) else (index,), target.ndim, value))
    entries = entries_of("setitem", index, x.device)
    key = Key("setitem", x, entries)
    v = key.view(x)
    if all(a.ndim == 0 for a in key.arrays):  # as in NumPy: numbers, which make a view
        new = _into_view(x, entries, v.ndim - len(key.arrays), value)
    else:
        new = values_at("setitem", x, value)
    if len(entries) == 1 and is_mask(entries[0]) and entries[0].ndim == x.ndim and is_array(new) and new.ndim > 1:
        raise TypeError(f"setitem: values under a mask of the array's shape must have one axis, got shape {new.shape}")
    mask = key.arrays[0] if len(key.arrays) == 1 and is_mask(key.arrays[0]) else None
    if not key.arrays:
        return _write(v, new)
    if mask is not None and is_array(mask) and mask.size:
        return _write_masked(v, mask, key.axis, new)
    return _write_at(v, key.positions(v), key.axis, new)


def _into_view(x: Any, entries: Sequence[Any], ndim: int, value: Any) -> Any:
    """Values for what numbers and slices pick, which has ndim axes: one number, if numbers alone name one element."""
    single = ndim == 0 and not any(e is Ellipsis for e in entries)
    if not single and isinstance(value, (list, tuple)) and _depth(value) > ndim:
        raise ValueError(f"setitem: lists must be at most {ndim} deep, got {reprlib.repr(value)}")
    return values_for("setitem", x, value, single)


def values_for(op: str, x: Any, value: Any, single: bool = False) -> Any:
    """What is to be written into x: a number that fits its dtype, or one of our arrays on its device.

    single: one element is to be written. TypeError, ValueError and OverflowError as NumPy's assignment.

    >>> values_for("op", asarray([1.5]), [1, 2]).tolist()
    [1.0, 2.0]
    """
    if single and isinstance(value, (_core.Array, numpy.ndarray)) and value.ndim:
        if x.dtype.kind == "b" and value.size == 1:
            return values_for(op, x, value[(0,) * value.ndim])  # by which NumPy means its truth
        raise _refusal(x.dtype)(f"{op}: an element must get one number, got shape {value.shape}")
    if is_array(value):
        new = value if value.device == x.device else _core.copy(value, x.device)
    elif type(value) in _KINDS and (x.dtype.kind in _KINDS[type(value)] or is_bfloat16(x.dtype)):
        return value
    elif isinstance(value, (numpy.ndarray, numpy.complexfloating)) and is_supported(value.dtype):
        new = _core.from_numpy(value, x.device)
    elif _has_arrays(value):
        new = asarray(value, device=x.device)
    else:
        new = _core.from_numpy(fit(op, x.dtype, value, single), x.device)
    if single and new.ndim:
        raise _refusal(x.dtype)(f"{op}: an element must get one number, got shape {new.shape}")
    warn_of_lost_parts(new.dtype, x.dtype)
    return new


def values_at(op: str, x: Any, value: Any) -> Any:
    """The same for places in an array of positions or a mask: there NumPy's scalars are cast like arrays.

    >>> values_at("op", asarray([1]), numpy.float64(1.5)).dtype
    dtype('float64')
    """
    return values_for(op, x, numpy.asarray(value) if isinstance(value, numpy.generic) else value)


def _depth(values: Any) -> int:
    """How many axes an array of these lists has, if they are of one depth."""
    if isinstance(values, (list, tuple)):
        return 1 + (_depth(values[0]) if values else 0)
    return numpy.ndim(values)


def _refusal(dtype: numpy.dtype) -> type[Exception]:
    """What NumPy raises when an element is to get several numbers; that depends on the dtype."""
    try:
        numpy.empty((), dtype)[()] = numpy.zeros(2, dtype)
    except TypeError:
        return TypeError
    except ValueError:
        pass
    return ValueError


_KINDS = {bool: "biufc", int: "biufc", float: "bfc", complex: "bc"}  # of arrays that take a Python number as it is


def fit(op: str, dtype: numpy.dtype, value: Any, single: bool = False) -> numpy.ndarray:
    """Numbers, or lists of them, in a dtype. TypeError, ValueError and OverflowError as NumPy's assignment.

    >>> fit("op", numpy.dtype("int8"), [1.5, 2])
    array([1, 2], dtype=int8)
    """
    try:
        with numpy.errstate(all="ignore"):
            if not single and not isinstance(value, numpy.generic):
                return numpy.asarray(value, dtype)
            one = numpy.empty((), dtype)
            one[()] = value
            return one
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{op}: values must fit {dtype}, got {reprlib.repr(value)}") from None


def _write(target: Any, new: Any) -> None:
    if is_array(new):
        new = fitting(new, target.ndim)
    _core.assign(target, new)


def _write_at(v: Any, positions: list[Any], axis: int, new: Any) -> None:
    """v[..., positions, ...] = new, where positions pick from axes from `axis` on."""
    if not is_array(new):
        new = _core.full((), new, v.dtype, v.device)
    new = new if new.dtype == v.dtype else _core.cast(new, v.dtype)
    ndim = v.ndim - len(positions) + max(p.ndim for p in positions)
    _core.scatter(v, positions, axis, fitting(new, ndim), False)


def _write_masked(v: Any, mask: Any, axis: int, new: Any) -> None:
    """v[..., mask, ...] = new without knowing the mask, which covers axes of v from `axis` on."""
    after = v.ndim - axis - mask.ndim
    if type(new) is int and v.dtype.kind in "iu":
        fit("setitem", v.dtype, new)  # where() would take a wider dtype
    if is_array(new):
        new = new if new.dtype == v.dtype else _core.cast(new, v.dtype)
        new = fitting(new, axis + 1 + after)
        if new.ndim > after:
            new, mask = _spread(new, mask, new.ndim - after - 1)
    _core.assign(v, where(reshape(mask, mask.shape + (1,) * after), new, v))


def _spread(new: Any, mask: Any, axis: int) -> tuple[Any, Any]:
    """Values for the places of a mask, which lie along `axis` one after the other, spread to all of its elements.

    There may be one for all, or one for each; ValueError where the array is read if neither holds.
    """
    n = new.shape[axis]

    def numbers(m: numpy.ndarray) -> numpy.ndarray:
        found = numpy.cumsum(m)
        if found[-1] != n:
            raise ValueError(f"setitem: there must be a value for each of {found[-1]} elements under the mask, got {n}")
        return numpy.maximum(found - 1, 0).reshape(m.shape)

    if n > 1:
        return _core.gather(new, [host_op("setitem", numbers, [mask], mask.shape, "int64")], axis), mask
    shape = (*new.shape[:axis], *(1,) * mask.ndim, *new.shape[axis + 1 :])
    if n == 1:
        return reshape(new, shape), mask
    none = host_op("setitem", lambda m: numbers(m) < 0, [mask], mask.shape, bool)
    return _core.full(shape, 0, new.dtype, new.device), none


def fitting(value: Any, ndim: int) -> Any:
    """Leading axes of extent 1 that are too many are dropped, as in NumPy's assignment.

    >>> fitting(asarray([[[1, 2]]]), 1).shape
    (2,)
    """
    while value.ndim > ndim and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    return value


_core.set_hooks(getitem=getitem, setitem=setitem)
