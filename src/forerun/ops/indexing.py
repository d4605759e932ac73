"""Indexing: basic views, integer and boolean arrays, mixed; assignment; take, where and relatives."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy

from .. import _core
from .base import Elementwise, primitive
from .convert import _has_arrays, asarray, axes_of, cast, copy, is_array
from .host import host_op
from .keys import Key, entries_of, is_basic, positions_from
from .shape import broadcast_to, ravel, reshape

__all__ = [
    "where", "take", "take_along_axis", "put_along_axis", "nonzero", "argwhere", "flatnonzero", "compress",
    "clip", "one_hot",
]  # fmt: skip


# --- views ----------------------------------------------------------------------------------------


@primitive(lambda g, index: getitem(g, index))
def _embed(g: Any, shape: tuple[int, ...], index: Any) -> Any:
    """Zeros of `shape` with g at a basic index."""
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.assign(_core.getitem(full, index), g)
    return full


@primitive(lambda g, shape, index: _embed(g, shape, index))
def _view(x: Any, index: Any) -> Any:
    return _core.getitem(x, index)


# --- integer arrays -------------------------------------------------------------------------------


@primitive(lambda g, shape, indices, axis: _scatter_zeros(g, shape, indices, axis))
def _gather(x: Any, indices: list[Any], axis: int) -> Any:
    return _core.gather(x, indices, axis)


@primitive(lambda g, indices, axis: _gather(g, indices, axis))
def _scatter_zeros(g: Any, shape: tuple[int, ...], indices: list[Any], axis: int) -> Any:
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.scatter(full, indices, axis, g, True)
    return full


def getitem(x: Any, index: Any) -> Any:
    """x[index]: a view for ints, slices, None and Ellipsis; a new array for arrays of positions.

    Masks wait for their values. Errors as in NumPy; an index that only the computation sees is checked there.
    """
    if is_basic(index):
        return _view(x, index)
    key = Key("getitem", x, entries_of("getitem", index, x.device))
    v = key.view(x)
    return _gather(v, key.positions(v), key.axis) if key.arrays else v


# --- assignment -----------------------------------------------------------------------------------


def setitem(x: Any, index: Any, value: Any) -> None:
    """x[index] = value, in place: broadcast and cast to x. A single mask among basic entries does not wait."""
    if _core.recording() and (x.node is not None or getattr(value, "node", None) is not None):
        raise RuntimeError("setitem: an array on the tape must not be written in place while recording")
    if is_basic(index):
        target = _core.getitem(x, index)
        single = target.ndim == 0 and not (index is ... or (isinstance(index, tuple) and ... in index))
        return _write(target, values_for("setitem", x, value, single))
    key = Key("setitem", x, entries_of("setitem", index, x.device))
    new = values_for("setitem", x, value)
    mask = key.arrays[0] if len(key.arrays) == 1 and key.arrays[0].dtype.kind == "b" else None
    if mask is not None and mask.ndim == x.ndim and _alone(index) and getattr(new, "ndim", 0) > 1:
        raise TypeError(f"setitem: values under a mask of the array's shape must have one axis, got shape {new.shape}")
    v = key.view(x)
    if not key.arrays:
        return _write(v, new)
    if is_array(mask) and mask.size:
        return _write_masked(v, mask, key.axis, new)
    return _write_at(v, key.positions(v), key.axis, new)


def _alone(index: Any) -> bool:
    return not isinstance(index, tuple) or len(index) == 1


def values_for(op: str, x: Any, value: Any, single: bool = False) -> Any:
    """What is to be written into x: a number that fits its dtype, or one of our arrays on its device.

    single: one element is to be written. TypeError, ValueError and OverflowError as NumPy's assignment.
    """
    if is_array(value):
        new = value if value.device == x.device else _core.copy(value, x.device)
    elif type(value) in _KINDS and x.dtype.kind in _KINDS[type(value)]:
        return value
    elif isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
        new = _core.from_numpy(value, x.device)
    elif _has_arrays(value):
        new = asarray(value, device=x.device)
    else:
        new = _core.from_numpy(_fit(op, x, value, single), x.device)
    if single and new.ndim:
        raise ValueError(f"{op}: an element must get one number, got shape {new.shape}")
    return new


_KINDS = {bool: "biufc", int: "biufc", float: "bfc", complex: "bc"}  # of arrays that take a Python number as it is


def _fit(op: str, x: Any, value: Any, single: bool) -> numpy.ndarray:
    """Numbers, or lists of them, in x's dtype, by NumPy's rules."""
    try:
        with numpy.errstate(all="ignore"):
            if not single and not isinstance(value, numpy.generic):
                return numpy.asarray(value, x.dtype)
            one = numpy.empty((), x.dtype)
            one[()] = value
            return one
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{op}: values must fit {x.dtype}, got {reprlib.repr(value)}") from None


def _write(target: Any, new: Any) -> None:
    _core.assign(target, _fitting(new, target.ndim) if is_array(new) else new)


def _write_at(v: Any, positions: list[Any], axis: int, new: Any) -> None:
    """v[..., positions, ...] = new, where positions pick from axes from `axis` on."""
    if not is_array(new):
        new = _core.full((), new, v.dtype, v.device)
    new = new if new.dtype == v.dtype else _core.cast(new, v.dtype)
    ndim = v.ndim - len(positions) + max(p.ndim for p in positions)
    _core.scatter(v, positions, axis, _fitting(new, ndim), False)


def _write_masked(v: Any, mask: Any, axis: int, new: Any) -> None:
    """v[..., mask, ...] = new without knowing the mask, which covers axes of v from `axis` on."""
    after = v.ndim - axis - mask.ndim
    if is_array(new):
        new = new if new.dtype == v.dtype else _core.cast(new, v.dtype)
        new = _fitting(new, axis + 1 + after)
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


def _fitting(value: Any, ndim: int) -> Any:
    """Leading axes of extent 1 that are too many are dropped, as in NumPy's assignment."""
    while value.ndim > ndim and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    return value


_core.set_hooks(getitem=getitem, setitem=setitem)


# --- functions ------------------------------------------------------------------------------------

_select = Elementwise(
    "select",
    "where",
    ("condition", "a", "b"),
    (
        lambda g: None,
        lambda g, condition: where(condition, g, 0),
        lambda g, condition: where(condition, 0, g),
    ),
    "a where the condition holds, b elsewhere.",
)


def where(condition: Any, a: Any = None, b: Any = None) -> Any:
    """a where the condition holds (is not zero), b elsewhere.

    All three broadcast; the dtypes of a and b are promoted. With the condition alone: `nonzero`, which waits.
    ValueError if shapes do not fit or only one of a and b is given.

    >>> from forerun import np
    >>> np.where([True, False], [1, 2], 0).tolist()
    [1, 0]
    """
    if a is None and b is None:
        return nonzero(condition)
    if a is None or b is None:
        raise ValueError("where: both a and b must be given, or none")
    return _select(asarray(condition), a, b)


def take(x: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at integer positions along `axis`, or of the flat array. indices may have any shape.

    mode: what happens to positions out of range: "raise" (IndexError where the result is read), "clip",
    "wrap".

    >>> from forerun import np
    >>> np.take([[1, 2], [3, 4]], [1, 1, 0], axis=0).tolist()
    [[3, 4], [3, 4], [1, 2]]
    """
    x = asarray(x)
    if axis is None:
        x, axis = ravel(x), 0
    a = axes_of("take", axis, x.ndim)[0]
    index = places_within("take", indices, x.shape[a], mode, x.device, "same_kind")
    return into("take", out, _gather(x, [index], a))


@primitive(lambda g, shape, indices, axis: _scatter_along(g, shape, indices, axis))
def _gather_along(x: Any, indices: Any, axis: int) -> Any:
    """Elements of x at integers along an axis; indices of x's shape but there, and where x has extent 1."""
    return _core.gather_along(x, indices, axis)


@primitive(lambda g, indices, axis: _gather_along(g, indices, axis))
def _scatter_along(g: Any, shape: tuple[int, ...], indices: Any, axis: int) -> Any:
    full = _core.full(shape, 0, g.dtype, g.device)
    _core.scatter_along(full, indices, axis, g, True)
    return full


def _across(op: str, x: Any, indices: Any, axis: int) -> Any:
    """Indices in x's shape but along the axis: repeated where theirs is 1, as x is where its is."""
    if any(x.shape[i] not in (1, n) and n != 1 for i, n in enumerate(indices.shape) if i != axis):
        raise ValueError(f"{op}: shapes must fit but along the axis, got {x.shape} and {indices.shape}")
    shape = tuple(n if i == axis else max(n, x.shape[i]) for i, n in enumerate(indices.shape))
    return indices if shape == indices.shape else broadcast_to(indices, shape)


def take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Any:
    """Elements of x at positions along `axis` that differ from place to place, as `argsort` gives them.

    ValueError if indices have not as many axes as x; IndexError where the result is read for a position out
    of range.

    >>> from forerun import np
    >>> np.take_along_axis(np.array([[3, 1], [2, 4]]), np.array([[1], [0]]), axis=1).tolist()
    [[1], [2]]
    """
    x, indices = asarray(x), asarray(indices)
    if axis is None:
        x, axis = ravel(x), 0
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: indices must have {x.ndim} axes, got shape {indices.shape}")
    a = axes_of("take_along_axis", axis, x.ndim)[0]
    return _gather_along(x, _across("take_along_axis", x, indices, a), a)


def put_along_axis(x: Any, indices: Any, values: Any, axis: int) -> None:
    """Writes values at positions along `axis` that differ from place to place, in place.

    Values are cast to x's dtype and broadcast.

    >>> from forerun import np
    >>> x = np.array([[3, 1], [2, 4]])
    >>> np.put_along_axis(x, np.array([[1], [0]]), 9, axis=1); x.tolist()
    [[3, 9], [9, 4]]
    """
    indices = asarray(indices)
    a = axes_of("put_along_axis", axis, x.ndim)[0]
    v = asarray(values, x.dtype, x.device)
    if x.ndim != indices.ndim:
        raise ValueError(f"put_along_axis: indices must have {x.ndim} axes, got shape {indices.shape}")
    _core.scatter_along(x, _across("put_along_axis", x, indices, a), a, v)


def nonzero(x: Any) -> tuple[Any, ...]:
    """Positions of the elements that are not zero, one int64 vector per axis.

    Their number depends on the values: this waits. ValueError of an array without axes.

    >>> from forerun import np
    >>> [i.tolist() for i in np.nonzero([[0, 2], [3, 0]])]
    [[0, 1], [1, 0]]
    """
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("nonzero: array must have at least one axis, got shape ()")
    return tuple(_core.from_numpy(i, x.device) for i in numpy.nonzero(x.numpy()))


def argwhere(x: Any) -> Any:
    """Positions of the elements that are not zero, as rows of an int64 matrix. Waits.

    >>> from forerun import np
    >>> np.argwhere([[0, 2], [3, 0]]).tolist()
    [[0, 1], [1, 0]]
    """
    x = asarray(x)
    return _core.from_numpy(numpy.argwhere(x.numpy()), x.device)


def flatnonzero(x: Any) -> Any:
    """Positions in the flat array of the elements that are not zero. int64. Waits.

    >>> from forerun import np
    >>> np.flatnonzero([[0, 2], [3, 0]]).tolist()
    [1, 2]
    """
    return nonzero(ravel(asarray(x)))[0]


def compress(condition: Any, x: Any, axis: int | None = None) -> Any:
    """Slices along `axis` where the condition (a vector) holds, or elements of the flat array. Waits.

    >>> from forerun import np
    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=1).tolist()
    [[2], [4]]
    """
    return take(x, flatnonzero(condition), axis)


def clip(
    x: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """x with values below a_min raised to it, and values above a_max lowered to it. NaN stays.

    Either may be None, a number or an array that broadcasts. min, max: other words for them.

    >>> from forerun import np
    >>> np.clip([1, 5, 9], 2, 6).tolist()
    [2, 5, 6]
    """
    from .arithmetic import maximum, minimum

    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    x = asarray(x)
    if low is None and high is None:
        x = copy(x)
    if low is not None:
        x = maximum(x, low)
    if high is not None:
        x = minimum(x, high)
    if out is not None:
        _core.assign(out, x)
        return out
    return x


def one_hot(
    indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = None
) -> Any:
    """A new last axis of extent `depth` with on_value at the index and off_value elsewhere.

    The default float by default. An index out of range has no on_value.

    >>> from forerun import npx
    >>> npx.one_hot([0, 2], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from .convert import as_dtype, default_float

    index = asarray(indices)
    want = as_dtype("one_hot", dtype) if dtype is not None else default_float()
    positions = _core.from_numpy(numpy.arange(depth), index.device)
    hit = reshape(index, (*index.shape, 1)) == positions
    return cast(where(hit, float(on_value), float(off_value)), want)
