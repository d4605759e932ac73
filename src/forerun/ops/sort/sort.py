"""Order among elements: extremes and where they are, sorting, searching, counting; as host tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    as_index_array,
    asarray,
    asarray_like_device,
    asarrays,
    axis_of,
    check_choice,
    count_of,
    device_of,
    is_array,
    is_whole,
    vector_of,
    write_out,
)
from .._base.host_task import host_op
from .._base.primitive import direct, numpy_when_small, plain_calls
from ..create.fill import zeros
from ..index.getitem import take_along_axis
from ..shape.flip_roll import flip
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Out

__all__ = [
    "argmax", "argmin", "argpartition", "argsort", "bincount", "lexsort", "nanargmax", "nanargmin", "partition",
    "searchsorted", "sort", "unique",
]  # fmt: skip


_CORE = {entry: plain_calls(entry) for entry in ("argmax", "argmin", "argsort", "sort")}


def _on_gpu(x: Array) -> bool:
    return x.device.device_type == "gpu"


def _by_core(entry: str, x: Array, axis: int) -> Any:
    """Return what the core makes of an array on a GPU, whose lines it sorts or searches there; else None."""
    if entry not in _CORE or not _on_gpu(x):
        return None
    if x.size == 0:  # of which there is no order
        return zeros(x.shape, "int64" if entry == "argsort" else x.dtype, device=x.device)
    values = _core.detach(x)
    # In a dtype that the core takes; the order is the same.
    return _CORE[entry](values.astype("float32") if x.dtype.name == "bfloat16" else values, axis)


def _without(shape: tuple[int, ...], axis: int, keepdims: bool) -> tuple[int, ...]:
    return shape[:axis] + ((1,) if keepdims else ()) + shape[axis + 1 :]


def _arg(name: str, fn: Callable[..., Any], x: ArrayLike, axis: int | None, out: Out, keepdims: bool) -> Array:
    x = asarray(x)
    if axis is None:
        shape = (1,) * x.ndim if keepdims else ()
    elif x.ndim == 0 and axis in (0, -1):
        shape = ()
    else:
        axis = axis_of(name, axis, x.ndim)
        shape = _without(x.shape, axis, keepdims)
    if (x.size if axis is None or x.ndim == 0 else x.shape[axis]) == 0:
        raise ValueError(f"{name}: reduced axes must not be empty, got shape {x.shape}")
    places = _by_core(name, reshape(x, -1) if axis is None or x.ndim == 0 else x, axis or 0)
    if places is not None:
        return write_out(name, reshape(places, shape), out)
    # Trusted not to write: NumPy would copy what is marked as read-only.
    task = lambda v: fn(v, axis=axis, keepdims=keepdims)
    found = _core.host(task, [x], [(shape, numpy.dtype("int64"))], None, name, "compute", True, cheap=True)[0]
    return write_out(name, found, out)


@direct("argmax")
def argmax(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) largest element along `axis`, or in the flat array. int64.

    NaN counts as the largest.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) largest element along `axis`.

    Raises
    ------
    ValueError
        If there is no element to choose from.

    Examples
    --------
    >>> from forerun import np
    >>> np.argmax([[1, 3], [4, 2]], axis=1).tolist(), np.argmax([[1, 3], [4, 2]]).item()
    ([1, 0], 2)
    """
    return _arg("argmax", numpy.argmax, a, axis, out, keepdims)


@direct("argmin")
def argmin(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) smallest element along `axis`, or in the flat array. int64.

    NaN counts as the smallest.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) smallest element along `axis`.

    Raises
    ------
    ValueError
        If there is no element to choose from.

    Examples
    --------
    >>> from forerun import np
    >>> np.argmin([[1, 3], [4, 2]], axis=0).tolist()
    [0, 1]
    """
    return _arg("argmin", numpy.argmin, a, axis, out, keepdims)


def nanargmax(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) largest element that is not NaN along `axis`, or in the flat array. int64.

    ValueError if there is no element; where the result is read if all are NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) largest element that is not NaN along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanargmax([[1.0, np.nan], [2.0, 3.0]], axis=1).tolist()
    [0, 1]
    """
    return _arg("nanargmax", numpy.nanargmax, a, axis, out, keepdims)


def nanargmin(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """Return the position of the (first) smallest element that is not NaN along `axis`, or in the flat array. int64.

    Errors: as for `nanargmax`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        The position of the (first) smallest element that is not NaN along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.nanargmin([[np.nan, 1.0], [2.0, 3.0]], axis=1).tolist()
    [1, 0]
    """
    return _arg("nanargmin", numpy.nanargmin, a, axis, out, keepdims)


def _flat_if_none(op: str, x: ArrayLike, axis: int | None, lone: bool = False) -> tuple[Any, int]:
    """Return the array and the axis to sort along. lone: as in NumPy, an array without axes may stand for a vector."""
    x = asarray(x)
    lone = lone and x.ndim == 0 and type(axis) is int and axis in (0, -1)
    return (reshape(x, -1), 0) if axis is None or lone else (x, axis_of(op, axis, x.ndim))


_KINDS = ("quicksort", "heapsort", "mergesort", "stable")


def _check_sort(op: str, kind: str | None, order: None, stable: bool | None) -> None:
    if kind is not None:
        check_choice(op, "kind", kind, _KINDS)
    if order is not None:
        raise ValueError(f"{op}: order must not be given for arrays without fields, got {order!r}")
    if kind is not None and stable is not None:
        raise ValueError(f"{op}: kind and stable must not both be given, got {kind!r} and {stable}")


@direct("argsort")
def argsort(
    a: ArrayLike, axis: int | None = -1, kind: str | bool | None = None, order: None = None, *,
    stable: bool | None = None, descending: bool = False,
) -> Array:  # fmt: skip
    """Return positions that sort `a` along `axis`; None: the flat array. int64; equal elements keep their order.

    kind and stable change nothing: sorting is stable; but a bool as kind is `descending`, as in MXNet.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    kind : str, optional
        A kind of NumPy's, all of which sort stably here; ValueError for another word.
    order : str, optional
        Must not be given: arrays have no fields.
    stable : bool, optional
        Has no effect: sorting is stable.
    descending : bool, optional
        Whether to sort in descending order.

    Returns
    -------
    array
        Positions that sort `a` along `axis`.

    Raises
    ------
    ValueError
        If both are given, or kind is none of NumPy's.

    Examples
    --------
    >>> from forerun import np
    >>> np.argsort([3, 1, 2]).tolist(), np.argsort([3, 1, 2], descending=True).tolist()
    ([1, 2, 0], [0, 2, 1])
    """
    kind, descending = (None, kind) if isinstance(kind, bool) else (kind, descending)
    x, a = _flat_if_none("argsort", a, axis, True)
    _check_sort("argsort", kind, order, stable)

    places = _by_core("argsort", flip(x, a) if descending else x, a)
    if places is not None:
        ascending: Array = places
        return x.shape[a] - 1 - flip(places, a) if descending else ascending

    def positions(v: numpy.ndarray) -> numpy.ndarray:
        if not descending:
            ascending: numpy.ndarray = numpy.argsort(v, axis=a, kind="stable")
            return ascending
        turned = numpy.flip(numpy.argsort(numpy.flip(v, a), axis=a, kind="stable"), a)
        found: numpy.ndarray = v.shape[a] - 1 - turned
        return found

    return host_op("argsort", positions, [x], x.shape, "int64")


@direct("sort")
def sort(
    a: ArrayLike, axis: int | None = -1, kind: str | bool | None = None, order: None = None, *,
    stable: bool | None = None, descending: bool = False,
) -> Array:  # fmt: skip
    """Return `a` with its elements in ascending order along `axis`; None: the flat array. Differentiable.

    kind, stable, descending: as of `argsort`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    kind : str, optional
        A kind of NumPy's, all of which sort stably here; ValueError for another word.
    order : str, optional
        Must not be given: arrays have no fields.
    stable : bool, optional
        Has no effect: sorting is stable.
    descending : bool, optional
        Whether to sort in descending order.

    Returns
    -------
    array
        `a` with its elements in ascending order along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.sort([[3, 1], [0, 2]]).tolist(), np.sort([3, 1, 2], descending=True).tolist()
    ([[1, 3], [0, 2]], [3, 2, 1])
    """
    kind, descending = (None, kind) if isinstance(kind, bool) else (kind, descending)
    x, a = _flat_if_none("sort", a, axis)
    _check_sort("sort", kind, order, stable)
    if _core.recording() and x.node is not None:
        return take_along_axis(x, argsort(x, a, descending=descending), a)
    ascending = _by_core("sort", x, a)
    if ascending is not None:
        return (flip(ascending, a) if descending else ascending).astype(x.dtype)
    return host_op(
        "sort",
        lambda v: numpy.flip(numpy.sort(v, a), a) if descending else numpy.sort(v, a),
        [x],
        x.shape,
        x.dtype,
    )


def _orders(op: str, kth: int | Sequence[int], n: int) -> tuple[int, ...]:
    """Places in sorted order as numbers from 0 to n - 1."""
    places = tuple(kth) if isinstance(kth, (tuple, list)) else (kth,)
    for k in places:
        if not is_whole(k):
            raise TypeError(f"{op}: kth must be an integer, got {k!r}")
        if not -n <= k < n:
            raise ValueError(f"{op}: kth must be in [{-n}, {n}), got {k}")
    return tuple(int(k) % n for k in places)


@numpy_when_small(numpy.ndarray.argpartition, "a kth axis", "aii")
def argpartition(
    a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """Return positions that partition `a` along `axis` as `partition` does. int64. Errors as there.

    Parameters
    ----------
    a : array_like
        The values.
    kth : int or sequence of ints
        The positions in sorted order.
    axis : int, optional
        The axis; None for the flat array.
    kind : str, optional
        Must be "introselect".
    order : str, optional
        Must not be given: arrays have no fields.

    Returns
    -------
    array
        Positions that partition `a` along `axis` as `partition` does.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([5, 1, 4, 2])
    >>> x[np.argpartition(x, 1)][1].item()
    2
    """
    x, a = _flat_if_none("argpartition", a, axis, True)
    check_choice("argpartition", "kind", kind, ("introselect",))
    _check_sort("argpartition", None, order, None)
    places = _orders("argpartition", kth, x.shape[a])
    if _on_gpu(x):
        return argsort(x, a)
    return host_op("argpartition", lambda v: numpy.argpartition(v, places, a), [x], x.shape, "int64")


@numpy_when_small(numpy.partition, "a kth axis", "aii")
def partition(
    a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """Return `a` with the element that is kth in sorted order at place kth along `axis`. Differentiable.

    No larger element comes before it and no smaller one after it, in any order. Several kth may be given. Axis None: of
    the flat array.

    Parameters
    ----------
    a : array_like
        The values.
    kth : int or sequence of ints
        The positions in sorted order.
    axis : int, optional
        The axis; None for the flat array.
    kind : str, optional
        Must be "introselect".
    order : str, optional
        Must not be given: arrays have no fields.

    Returns
    -------
    array
        `a` with the element that is kth in sorted order at place kth along `axis`.

    Raises
    ------
    TypeError
        If kth is not an integer.
    ValueError
        If `kth` is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.partition([5, 1, 4, 2], 2)[2].item()
    4
    """
    x, a = _flat_if_none("partition", a, axis)
    check_choice("partition", "kind", kind, ("introselect",))
    _check_sort("partition", None, order, None)
    places = _orders("partition", kth, x.shape[a])
    if _on_gpu(x):
        return sort(x, a)
    if not (_core.recording() and x.node is not None):
        return host_op("partition", lambda v: numpy.partition(v, places, a), [x], x.shape, x.dtype)
    return take_along_axis(x, argpartition(_core.detach(x), kth, a), a)


@numpy_when_small(numpy.lexsort, "keys axis", "li")
def lexsort(keys: Any, axis: int = -1) -> Array:
    """Return positions that sort by several keys along `axis`: by the last one first.

    Where it is equal by the one before it, and so on. int64.

    Parameters
    ----------
    keys : array_like
        Arrays of one shape, or the rows of an array; ValueError if shapes differ or there is no key.
    axis : int, optional
        The axis to sort along.

    Returns
    -------
    array
        Positions that sort by several keys along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.lexsort(([2, 1, 0], [0, 0, 1])).tolist()
    [1, 0, 2]
    """
    arrays = asarrays(*keys)
    if not arrays or any(k.shape != arrays[0].shape for k in arrays):
        raise ValueError(f"lexsort: keys must be arrays of one shape, got {[k.shape for k in arrays]}")
    if arrays[0].ndim == 0:
        raise ValueError("lexsort: keys must have at least one axis, got shape ()")
    a = axis_of("lexsort", axis, arrays[0].ndim)
    return host_op("lexsort", lambda *v: numpy.lexsort(v, a), arrays, arrays[0].shape, "int64")


@numpy_when_small(numpy.ndarray.searchsorted, "a v side", "hns")
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Array:
    """Return positions at which v would keep the sorted vector `a` sorted: int64, of the shape of v.

    Parameters
    ----------
    a : array_like
        A sorted vector.
    v : array_like
        The values to find places for.
    side : str, optional
        Before ("left") or after ("right") equal elements.
    sorter : array_like, optional
        Positions that sort `a`, as `argsort` gives them (TypeError if no vector of integers).

    Returns
    -------
    array
        Positions at which v would keep the sorted vector `a` sorted.

    Raises
    ------
    ValueError
        If `a` is not a vector, or where the result is read if a position of the sorter is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.searchsorted([1, 3, 5], [0, 3, 6]).tolist(), np.searchsorted([1, 3, 5], 3, side="right").item()
    ([0, 1, 3], 2)
    """
    check_choice("searchsorted", "side", side, ("left", "right"))
    x, values = vector_of("searchsorted", asarray_like_device(a, v, sorter)), asarray_like_device(v, a, sorter)
    inputs = [x, values]
    if sorter is not None:
        order = sorter if is_array(sorter) else as_index_array(sorter, x.device)
        if order.dtype.kind not in "iu" or order.ndim != 1:
            raise TypeError(f"searchsorted: sorter must be a vector of integers, got {order.dtype}, {order.shape}")
        if order.shape != x.shape:
            raise ValueError(f"searchsorted: sorter must have shape {x.shape}, got {order.shape}")
        inputs.append(order)
    found = lambda a, v, order=None: numpy.searchsorted(a, v, side, order)
    return host_op("searchsorted", found, inputs, values.shape, "int64")


@numpy_when_small(numpy.bincount, "x weights minlength", "rAc", waits=True)
def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0) -> Array:
    """Count how often each number from 0 on occurs in a vector. The result is int64.

    If weights are given, sums of them: float64. At least `minlength` counts. Their number depends on the values: this
    waits.

    Parameters
    ----------
    x : array_like
        A vector of integers, none negative.
    weights : array_like, optional
        How much each number counts.
    minlength : int, optional
        The least number of counts.

    Returns
    -------
    array
        The counts, or the sums of weights.

    Raises
    ------
    TypeError
        If numbers are not integers.
    ValueError
        If one is negative or weights have another shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.bincount([0, 2, 2]).tolist(), np.bincount([0, 2, 2], weights=[0.5, 1, 2]).tolist()
    ([1, 0, 2], [0.5, 0.0, 3.0])
    """
    there = device_of(x, weights)
    x, minlength = vector_of("bincount", as_index_array(x)), count_of("bincount", "minlength", minlength)
    if x.dtype.kind not in "iub":
        raise TypeError(f"bincount: array must be of integers, got {x.dtype}")
    weights = None if weights is None else asarray(weights)
    if weights is not None and weights.shape != x.shape:
        raise ValueError(f"bincount: weights must have shape {x.shape}, got {weights.shape}")
    values = x.numpy()
    try:
        counts = numpy.bincount(values, None if weights is None else weights.numpy(), minlength)
    except ValueError:
        raise ValueError(f"bincount: numbers must not be negative, got {values.min()}") from None
    return _core.taken(counts, there)


_BYTES = 64  # of a table for each element, at most


def _counted(x: numpy.ndarray, index: bool, inverse: bool, counts: bool) -> Any:
    """Return the result of `numpy.unique` for integers of a small range, by a table with a place for each value.

    None if the table would be too large.
    """
    flat = x.reshape(-1)
    if flat.size == 0:
        return None
    low, high = flat.min(), flat.max()
    if (int(high) - int(low)) * (8 if index or inverse or counts else 1) > _BYTES * flat.size:
        return None
    places = (flat - low if x.dtype.kind == "u" else flat.astype(numpy.intp, copy=False) - int(low)).astype(
        numpy.intp, copy=False
    )
    extent = int(high) - int(low) + 1
    number = numpy.bincount(places, minlength=extent) if counts else None
    there = numpy.zeros(extent, numpy.bool_)
    if number is None:
        there[places] = True
    else:
        numpy.not_equal(number, 0, out=there)
    positions = numpy.flatnonzero(there)
    found = [(positions.astype(x.dtype) + low).astype(x.dtype, copy=False)]
    if index:
        first = numpy.empty(extent, numpy.intp)
        first[places[::-1]] = numpy.arange(flat.size)[::-1]  # what is written last is first in the array
        found.append(first[positions])
    if inverse:
        found.append((numpy.cumsum(there) - 1)[places].reshape(x.shape))
    if number is not None:
        found.append(number[positions])
    return found[0] if len(found) == 1 else tuple(found)


@numpy_when_small(numpy.unique, "ar return_index return_inverse return_counts axis", "abbbi", waits=True)
def unique(
    ar: ArrayLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """Return the sorted distinct values of the flat array. Their number depends on the values: this waits.

    With the others, a tuple: also where each is first (flat), which of them each element is (in ar's shape), and how
    often each occurs; all int64. sorted changes nothing: they are.

    Parameters
    ----------
    ar : array_like
        The values.
    return_index : bool, optional
        Whether to return the first position of each value.
    return_inverse : bool, optional
        Whether to return the number of the value for each element.
    return_counts : bool, optional
        Whether to return how often each value occurs.
    axis : int, optional
        Distinct slices along it.
    equal_nan : bool, optional
        Whether NaN are one value.
    sorted : bool, optional
        Has no effect: the values are sorted.

    Returns
    -------
    array, or tuple of arrays
        The values, and what else was asked for.

    Examples
    --------
    >>> from forerun import np
    >>> [v.tolist() for v in np.unique([3, 1, 3], return_counts=True)]
    [[1, 3], [1, 2]]
    >>> np.unique([[1, 2], [1, 2], [0, 5]], axis=0).tolist()
    [[0, 5], [1, 2]]
    """
    x = asarray(ar)
    along = None if axis is None else axis_of("unique", axis, x.ndim)
    wanted = (return_index, return_inverse, return_counts)
    values = x.numpy()
    found: Any = _counted(values, *wanted) if along is None and values.dtype.kind in "iu" else None
    if found is None:
        found = numpy.unique(values, *wanted, along, equal_nan=equal_nan)
    if isinstance(found, tuple):
        return tuple(asarray(f, device=x.device) for f in found)
    return asarray(found, device=x.device)
