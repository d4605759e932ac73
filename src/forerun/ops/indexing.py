"""Indexing: basic views, integer and boolean arrays, mixed; assignment; take, where and relatives."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .base import Elementwise, primitive
from .convert import asarray, axes_of, cast, copy, is_array, is_real_float, together, warn_of_lost_parts
from .shape import broadcast_to, moveaxis, ravel, reshape

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


class _Plan:
    """An index, read: first basic entries make a view, then integer arrays pick along neighbouring axes of
    it."""

    def __init__(self, x: Any, index: Any) -> None:
        entries = _expanded(x, index if isinstance(index, tuple) else (index,))
        self.basic = tuple(e if not is_array(e) else slice(None) for e in entries)
        self.arrays = [e for e in entries if is_array(e)]
        # Axes that the arrays index, in the view that the basic entries leave; and whether they stand together.
        axis, at = 0, []
        for e in entries:
            if is_array(e):
                at.append(axis)
                axis += 1
            elif e is None or isinstance(e, slice):
                axis += 1
        self.axes = at
        # As in NumPy, integers count as arrays beside arrays: what they pick stands at the place of the
        # first one if all are neighbours, and in front otherwise.
        places = [i for i, e in enumerate(entries) if is_array(e) or isinstance(e, int)]
        self.together = not places or places[-1] - places[0] + 1 == len(places)
        self.axis = at[0] if at and self.together else 0

    def view(self, x: Any) -> Any:
        """x seen through the basic entries, with the indexed axes next to each other."""
        v = getitem(x, self.basic) if any(e != slice(None) for e in self.basic) else x
        if not self.arrays:
            return v
        target = list(range(self.axis, self.axis + len(self.axes)))
        return v if self.axes == target else moveaxis(v, self.axes, target)


def _expanded(x: Any, index: tuple[Any, ...]) -> list[Any]:
    """Entries with Ellipsis written out, and lists, NumPy arrays and masks as integer arrays."""
    found = [_entry(x, e) for e in index]
    used = sum(map(_axes_taken, found))
    if used > x.ndim:
        raise IndexError(f"getitem: too many indices for shape {x.shape}, got {used}")
    dots = sum(1 for e in found if e is Ellipsis)
    if dots > 1:
        raise IndexError(f"getitem: an index must have at most one Ellipsis, got {dots}")
    entries: list[Any] = []
    axis = 0  # that the next entry indexes
    for e in found if dots else [*found, ...]:
        if e is Ellipsis:
            entries.extend([slice(None)] * (x.ndim - used))
            axis += x.ndim - used
        elif is_array(e) and e.dtype.kind == "b":
            _check_mask(x, e, axis)
            entries.extend(nonzero(e))
            axis += e.ndim
        else:
            entries.append(e)
            axis += _axes_taken(e)
    return entries


def _entry(x: Any, e: Any) -> Any:
    """One entry of an index as None, Ellipsis, a slice, an int, or an array of integers or bools."""
    if e is None or e is Ellipsis or isinstance(e, slice):
        return e
    if isinstance(e, (bool, numpy.bool_)) or (is_array(e) and e.dtype.kind == "b" and e.ndim == 0):
        raise NotImplementedError("getitem: an index must not be a single bool, got " + repr(e))
    return int(e) if isinstance(e, (int, numpy.integer)) else _index_array(x, e)


def _axes_taken(e: Any) -> int:
    """How many axes of the array an entry indexes."""
    if e is None or e is Ellipsis:
        return 0
    return int(e.ndim) if is_array(e) and e.dtype.kind == "b" else 1


def _check_mask(x: Any, mask: Any, axis: int) -> None:
    part = x.shape[axis : axis + mask.ndim]
    if mask.shape != part:
        what = "the array's leading shape" if axis == 0 else f"the shape of axes from {axis} on"
        raise IndexError(f"getitem: mask must have {what}, got {mask.shape} for {x.shape}")


def _index_arrays(x: Any, e: Any) -> list[Any]:
    e = _index_array(x, e)
    return list(nonzero(e)) if e.dtype.kind == "b" else [e]


def _index_array(x: Any, e: Any) -> Any:
    if not is_array(e):
        values = numpy.asarray(e)
        if values.size == 0 and is_real_float(values.dtype):
            values = values.astype("int64")
        if values.dtype.kind not in "iub":
            raise IndexError(f"getitem: indices must be integers or bools, got {values.dtype}")
        e = _core.from_numpy(values, x.device)
    if is_real_float(e.dtype):
        e = cast(e, numpy.dtype("int64"))  # MXNet's float indices
    if e.dtype.kind not in "iub":
        raise IndexError(f"getitem: indices must be integers or bools, got {e.dtype}")
    return e if e.device == x.device else _core.copy(e, x.device)


def _is_basic(index: Any) -> bool:
    entries = index if isinstance(index, tuple) else (index,)
    return all(
        e is None
        or e is Ellipsis
        or isinstance(e, slice)
        or (isinstance(e, (int, numpy.integer)) and not isinstance(e, bool))
        for e in entries
    )


def getitem(x: Any, index: Any) -> Any:
    """x[index]: a view for ints, slices, None and Ellipsis; a new array for integer arrays; masks wait for
    their values."""
    if _is_basic(index):
        return _view(x, index)
    plan = _Plan(x, index)
    v = plan.view(x)
    return _gather(v, plan.arrays, plan.axis) if plan.arrays else v


def setitem(x: Any, index: Any, value: Any) -> None:
    """x[index] = value, in place: broadcast and cast to x. A mask with a single value does not wait."""
    if _core.recording() and (x.node is not None or getattr(value, "node", None) is not None):
        raise RuntimeError("setitem: an array on the tape must not be written in place while recording")
    scalar = isinstance(value, (bool, int, float, complex))
    if not scalar:
        value = asarray(value, device=x.device) if not is_array(value) else value
        warn_of_lost_parts(value.dtype, x.dtype)
    if _is_basic(index):
        target = _core.getitem(x, index)
        _core.assign(target, _fitting(value, target.shape) if not scalar else _scalar(value, x.dtype))
        return
    mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(mask, numpy.ndarray) and mask.dtype.kind == "b":
        mask = _core.from_numpy(mask, x.device)
    if (
        is_array(mask)
        and mask.dtype.kind == "b"
        and mask.shape == x.shape[: mask.ndim]
        and (scalar or value.size == 1)
    ):
        wide = reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
        fill = _scalar(value, x.dtype) if scalar else cast(reshape(value, ()), x.dtype)
        _core.assign(x, where(wide, fill, x))
        return
    plan = _Plan(x, index)
    v = plan.view(x)
    if scalar:
        value = _core.full((), _scalar(value, x.dtype), x.dtype, x.device)
    value = value if value.dtype == x.dtype else _core.cast(value, x.dtype)
    shape = together("setitem", *(a.shape for a in plan.arrays))
    picked = (*v.shape[: plan.axis], *shape, *v.shape[plan.axis + len(plan.arrays) :])
    _core.scatter(v, plan.arrays, plan.axis, _fitting(value, picked), False)


def _scalar(value: Any, dtype: numpy.dtype) -> Any:
    """A Python scalar as NumPy would assign it: floats lose their fraction in integer arrays."""
    if dtype.kind in "iu" and isinstance(value, float):
        return int(value)
    return value


def _fitting(value: Any, shape: tuple[int, ...]) -> Any:
    """Leading axes of extent 1 that do not fit are dropped, as in NumPy's assignment."""
    while value.ndim > len(shape) and value.shape[0] == 1:
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
    index = _index_arrays(x, indices)[0] if not is_array(indices) or indices.dtype.kind != "b" else indices
    if mode == "clip":
        index = clip(index, 0, x.shape[a] - 1)
    elif mode == "wrap":
        index = index % x.shape[a]
    elif mode != "raise":
        raise ValueError(f'take: mode must be "raise", "clip" or "wrap", got {mode!r}')
    result = _gather(x, [index], a)
    if out is None:
        return result
    _core.assign(out, result)
    return out


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
    x: Any, min: Any = None, max: Any = None, out: Any = None, *, a_min: Any = None, a_max: Any = None
) -> Any:
    """x with values below min raised to it, and values above max lowered to it. NaN stays.

    Either may be None, a number or an array that broadcasts. a_min, a_max: other words for them.

    >>> from forerun import np
    >>> np.clip([1, 5, 9], 2, 6).tolist()
    [2, 5, 6]
    """
    from .arithmetic import maximum, minimum

    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    x = asarray(x)
    if x.dtype.kind in "iu":  # a bound beyond all values bounds nothing
        info = numpy.iinfo(x.dtype)
        low = info.min if type(low) is int and low < info.min else low
        high = info.max if type(high) is int and high > info.max else high
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
