"""Elements in order, all of them or up to a place, and the positions that give this order; as host tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarrays, axis_of, check_choice, is_whole
from .._base.host_task import host_op
from .._base.primitive import direct, numpy_when_small, plain_calls
from ..elementwise.arithmetic import negative
from ..elementwise.bitwise import invert
from ..index.getitem import take_along_axis
from ..shape.flip_roll import flip
from ..shape.reshape import reshape
from .on_gpu import _by_core, _on_gpu

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort"]


def _flat_if_none(op: str, x: ArrayLike, axis: int | None, lone: bool = False) -> tuple[Any, int]:
    """Return the array and the axis to sort along. lone: as in NumPy, an array without axes may stand for a vector."""
    x = asarray(x)
    lone = lone and x.ndim == 0 and type(axis) is int and axis in (0, -1)
    return (reshape(x, -1), 0) if axis is None or lone else (x, axis_of(op, axis, x.ndim))


def _descending_keys(x: Array) -> Array:
    """Return values whose ascending order is the descending order of x, NaN last in both; done twice, x itself."""
    return invert(x) if x.dtype.kind in "biu" else negative(x)


_KINDS = ("quicksort", "heapsort", "mergesort", "stable")


def _check_sort(op: str, kind: str | None, order: None, stable: bool | None) -> None:
    if kind is not None:
        check_choice(op, "kind", kind, _KINDS)
    if order is not None:
        raise ValueError(f"{op}: order must not be given for arrays without fields, got {order!r}")
    if kind is not None and stable is not None:
        raise ValueError(f"{op}: kind and stable must not both be given, got {kind!r} and {stable}")


# For kinds of sorting that the core does not know.
_STABLE = plain_calls("numpy", numpy.ndarray.argsort, ("a", "axis", "kind"), "ais", "biuf", False, None)


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
        Whether to sort in descending order. NaN is last in both orders, as in NumPy.

    Returns
    -------
    array
        Positions that sort `a` along `axis`.

    Raises
    ------
    ValueError
        If both are given, or kind is not one of NumPy's.

    Examples
    --------
    >>> from forerun import np
    >>> np.argsort([3, 1, 2]).tolist(), np.argsort([3, 1, 2], descending=True).tolist()
    ([1, 2, 0], [0, 2, 1])
    """
    kind, descending = (None, kind) if isinstance(kind, bool) else (kind, descending)
    if kind in ("stable", "mergesort") and order is None and stable is None and not descending:
        found = _STABLE(a, axis, kind)
        if found is not None:
            return cast("Array", found)
    x, a = _flat_if_none("argsort", a, axis, True)
    _check_sort("argsort", kind, order, stable)
    if descending:
        x = _descending_keys(x)
    places = _by_core("argsort", x, a)
    if places is not None:
        return cast("Array", places)
    as_numpys = _core.numpy_rules() and not (stable or descending)
    how: Any = (kind or "quicksort") if as_numpys else "stable"
    return host_op("argsort", lambda v: numpy.argsort(v, axis=a, kind=how), [x], x.shape, "int64")


def argsort_from_largest(x: Array, axis: int) -> Array:
    """Return positions in descending order, of which those of NaN are the first; equal elements keep their order.

    >>> argsort_from_largest(asarray([3.0, 1.0, 3.0, numpy.nan]), 0).tolist()
    [3, 0, 2, 1]
    """
    places = flip(argsort(flip(x, axis), axis), axis)
    return x.shape[axis] - 1 - places


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
        A kind of NumPy's, all of which sort stably here.
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

    Raises
    ------
    ValueError
        For another kind.

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
    if descending:
        return _descending_keys(sort(_descending_keys(x), a))
    ascending = _by_core("sort", x, a)
    if ascending is not None:
        return cast("Array", ascending.astype(x.dtype))
    return host_op("sort", lambda v: numpy.sort(v, a), [x], x.shape, x.dtype)


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
def lexsort(keys: Sequence[ArrayLike] | Array, axis: int = -1) -> Array:
    """Return positions that sort by several keys along `axis`: by the last one first.

    Where it is equal by the one before it, and so on. int64.

    Parameters
    ----------
    keys : array_like
        Arrays of one shape, or the rows of an array.
    axis : int, optional
        The axis to sort along.

    Returns
    -------
    array
        Positions that sort by several keys along `axis`.

    Raises
    ------
    ValueError
        If shapes differ, or there is no key.

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
