"""Assignment through an index: x[index] = value, with all kinds of indices and values."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import NOT_IN_PLACE, _has_arrays, asarray, is_array, is_bfloat16, is_supported, warn_of_lost_parts
from ..shape.reshape import reshape
from .parser import Key, entries_of, in_64_bits, is_basic, is_mask

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["fit", "fitting", "no_scalar", "setitem", "under_mask", "untaped", "values_at", "values_for"]


def setitem(x: Array, index: Any, value: ArrayLike) -> None:
    """Assign x[index] = value in place, broadcast and cast to x. A single mask among basic entries does not wait.

    Errors as in NumPy; where only the computation can know, every read of x raises them. RuntimeError for arrays on
    the tape while recording.

    >>> x = asarray([1, 2, 3])
    >>> setitem(x, [0, 2], 7); x.tolist()
    [7, 2, 7]
    """
    untaped("setitem", x, value)
    if x.ndim == 0:
        no_scalar("setitem", x)
    if is_basic(index):
        target = _core.getitem(x, index)
        return _write(target, _into_view(x, index if isinstance(index, tuple) else (index,), target.ndim, value))
    wide = in_64_bits(index)
    if wide is not index:
        x[wide] = value
        return None
    whole = is_array(index) and is_mask(index) and index.shape == x.shape and index.device == x.device
    if whole and index.size and x.ndim:
        return _write_masked(x, index, 0, _for_mask(values_at("setitem", x, value)))
    entries = entries_of("setitem", index, x.device)
    key = Key("setitem", x, entries)
    v = key.view(x)
    if all(a.ndim == 0 for a in key.arrays):  # as in NumPy: numbers, which make a view
        new = _into_view(x, entries, v.ndim - len(key.arrays), value)
    else:
        new = values_at("setitem", x, value)
    if len(entries) == 1 and is_mask(entries[0]) and entries[0].ndim == x.ndim:
        new = _for_mask(new)
    if not key.arrays:
        return _write(_core.getitem(x, tuple(key.basic)), new)  # a view of one element, too
    if len(key.arrays) == 1 and is_mask(key.arrays[0]) and key.arrays[0].size:
        mask = key.arrays[0]
        if is_array(mask) or not is_array(new):  # of a known mask, the number of elements is checked now
            return _write_masked(v, mask, key.axis, new)
    return _write_at(v, key.positions(v), key.axis, new)


def _for_mask(new: Array | complex) -> Array | complex:
    """Return the values for the elements under a mask of the array's shape. TypeError if they have several axes."""
    if is_array(new) and new.ndim > 1:
        raise TypeError(f"setitem: values under a mask of the array's shape must have one axis, got shape {new.shape}")
    return new


def untaped(op: str, *arrays: Any) -> None:
    """Raise RuntimeError for a write in place while recording if one of the arrays is on the tape.

    >>> untaped("op", asarray(1), 2)
    """
    if _core.recording() and any(getattr(x, "node", None) is not None for x in arrays):
        raise RuntimeError(f"{op}: {NOT_IN_PLACE}")


def no_scalar(op: str, x: ArrayLike) -> None:
    """Raise TypeError if x, which is to be written to, is a scalar.

    >>> no_scalar("op", asarray([1, 2])[0])
    Traceback (most recent call last):
    TypeError: op: destination must be an array, got a scalar, which is a value
    """
    if _core.is_scalar(x):
        raise TypeError(f"{op}: destination must be an array, got a scalar, which is a value")


def _into_view(x: Array, entries: Sequence[Any], ndim: int, value: object) -> Any:
    """Values for a region of ndim axes that numbers and slices pick: one number, if numbers alone pick one element."""
    single = ndim == 0 and not any(e is Ellipsis for e in entries)
    if not single and isinstance(value, (list, tuple)) and _depth(value) > ndim:
        raise ValueError(f"setitem: lists must be at most {ndim} deep, got {reprlib.repr(value)}")
    return values_for("setitem", x, value, single)


def values_for(op: str, x: Array, value: Any, single: bool = False) -> Array | complex:
    """Return the values to write into x: a number that fits its dtype, or a forerun array on its device.

    single: one element is to be written. TypeError, ValueError and OverflowError as NumPy's assignment.

    >>> values_for("op", asarray([1.5]), [1, 2]).tolist()
    [1.0, 2.0]
    """
    if single and isinstance(value, (_core.Array, numpy.ndarray)) and value.ndim:
        if value.size == 1 and not (_core.numpy_rules() and _refusal(x.dtype, 1)):
            one: Any = value
            return values_for(op, x, one.reshape(()))
        raise (_refusal(x.dtype, 2) or ValueError)(f"{op}: an element must get one number, got shape {value.shape}")
    if is_array(value):
        new = value if value.device == x.device else _core.copy(value, x.device)
    elif type(value) in _KINDS and (x.dtype.kind in _KINDS[type(value)] or is_bfloat16(x.dtype)):
        number: complex = value
        return number
    elif isinstance(value, (numpy.ndarray, numpy.complexfloating)) and is_supported(value.dtype):
        new = _core.from_numpy(value, x.device)
    elif _has_arrays(value):
        new = asarray(value, device=x.device)
    else:
        new = _core.from_numpy(fit(op, x.dtype, value, single), x.device)
    if single and new.ndim:
        raise (_refusal(x.dtype, 2) or ValueError)(f"{op}: an element must get one number, got shape {new.shape}")
    warn_of_lost_parts(new.dtype, x.dtype)
    return new


def values_at(op: str, x: Array, value: ArrayLike) -> Array | complex:
    """Return the same for places in an array of positions or a mask: there NumPy's scalars are cast like arrays.

    >>> values_at("op", asarray([1]), numpy.float64(1.5)).dtype
    dtype('float64')
    """
    return values_for(op, x, numpy.asarray(value) if isinstance(value, numpy.generic) else value)


def _depth(values: Any) -> int:
    """Return how many axes an array of these lists has, if they are of one depth."""
    if isinstance(values, (list, tuple)):
        return 1 + (_depth(values[0]) if values else 0)
    return numpy.ndim(values)


def _refusal(dtype: numpy.dtype, n: int) -> type[Exception] | None:
    """Return the class of NumPy's error for an array of n numbers in one element, by its dtype; None if it takes it.

    Since NumPy 2.4 one number in an array with axes is not taken either.
    """
    try:
        numpy.empty(1, dtype)[0] = numpy.zeros(n, dtype)
    except TypeError:
        return TypeError
    except ValueError:
        return ValueError
    return None


_KINDS = {bool: "biufc", int: "biufc", float: "bfc", complex: "bc"}  # of arrays that take a Python number as it is


def fit(op: str, dtype: numpy.dtype, value: ArrayLike, single: bool = False) -> numpy.ndarray:
    """Convert numbers, or lists of them, to a dtype. TypeError, ValueError and OverflowError as NumPy's assignment.

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


def _write(target: Array, new: Array) -> None:
    if is_array(new):
        new = fitting(new, target.ndim)
    _core.assign(target, new)


def _write_at(v: Array, positions: list[Any], axis: int, new: Array) -> None:
    """Assign v[..., positions, ...] = new, where positions pick from axes from `axis` on."""
    if not is_array(new):
        new = _core.full((), new, v.dtype, v.device)
    new = new if new.dtype == v.dtype else _core.cast(new, v.dtype)
    ndim = v.ndim - len(positions) + max(p.ndim for p in positions)
    _core.scatter(v, positions, axis, fitting(new, ndim), False)


def _write_masked(v: Any, mask: Array, axis: int, new: Any) -> None:
    """Assign v[..., mask, ...] = new without knowing the mask, which covers axes of v from `axis` on."""
    if not is_array(mask):
        mask = _core.from_numpy(mask, v.device)
    if type(new) is int and v.dtype.kind in "iu":
        fit("setitem", v.dtype, new)
    wide, given = under_mask(v, mask, axis, new)
    if wide is not None:
        return _core.masked_copy(v, wide, given)
    given = given if given.dtype == v.dtype else _core.cast(given, v.dtype)
    if mask.ndim == v.ndim:
        return _core.place(v, mask, given, "each", "setitem")
    return _core.scatter_masked(v, mask, axis, given)


def under_mask(v: Array, mask: Array, axis: int, new: Any) -> tuple[Any, Any]:
    """Return a mask over the axes of v from `axis` on, and the values under it, as both broadcast to v.

    None in place of the mask: there is a value for each element under it, along `axis` of the values.

    >>> v, mask = asarray([[1, 2], [3, 4]]), asarray([True, False])
    >>> wide, values = under_mask(v, mask, 0, asarray([[7, 8]]))
    >>> wide.shape, values.shape
    ((2, 1), (1, 2))
    """
    after = v.ndim - axis - mask.ndim
    if is_array(new):
        new = fitting(new, axis + 1 + after)
        at = new.ndim - after - 1  # of the values' axis for the elements under the mask
        if at >= 0 and new.shape[at] != 1:
            return None, new
        if at >= 0:
            new = reshape(new, (*new.shape[:at], *(1,) * mask.ndim, *new.shape[at + 1 :]))
    return reshape(mask, mask.shape + (1,) * after), new


def fitting(value: Array, ndim: int) -> Array:
    """Return the value without surplus leading axes of extent 1, as in NumPy's assignment.

    >>> fitting(asarray([[[1, 2]]]), 1).shape
    (2,)
    """
    while value.ndim > ndim and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    return value
