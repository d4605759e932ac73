"""Host tasks: Python callables that workers run on zero-copy views; breadth from NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from ..device import Device, resolve
from .convert import (
    as_dtype,
    asarray,
    axes_of,
    count_of,
    default_float,
    is_inexact,
    is_real_float,
    one_of,
    store,
    vector_of,
    whole,
)

__all__ = [
    "host", "host_op", "sort", "argsort", "argmax", "argmin", "median", "quantile", "percentile",
    "searchsorted", "bincount", "unique", "partition", "argpartition", "lexsort", "nanargmax", "nanargmin",
    "nanmedian", "nanquantile", "nanpercentile",
]  # fmt: skip


def host(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    outs: Sequence[tuple[Sequence[int], Any]],
    *,
    device: Device | str | None = None,
    name: str = "host",
    queue: str = "compute",
) -> list[Any]:
    """Issues `fn` as an op: a worker calls it with the inputs as read-only NumPy arrays, when they are there.

    outs: shape and dtype of each result. `fn` returns the result, or a tuple where there is not exactly
    one. What it raises is raised by every read of the results. queue: "compute", or "io" for callables that
    read or write files.

    >>> from forerun import np
    >>> x = np.array([3.0, 1.0, 2.0])
    >>> host(numpy.sort, [x], [(x.shape, x.dtype)])[0].tolist()
    [1.0, 2.0, 3.0]
    """
    arrays = [asarray(a) for a in inputs]
    where = resolve(device) if device is not None or not arrays else None  # None: where the inputs are
    specs = [(tuple(shape), as_dtype(name, dtype)) for shape, dtype in outs]
    for shape, _ in specs:
        if min(shape, default=0) < 0:
            raise ValueError(f"{name}: extents must not be negative, got {shape}")
    results = _core.host(fn, arrays, specs, where, name, queue)
    no_gradient(name, arrays, results)
    return results


def no_gradient(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Lets the walk over the tape raise NotImplementedError where it would come through an op."""
    if _core.recording() and any(is_inexact(y.dtype) for y in outputs):
        _core.record(_NoGradient(name), tuple(inputs), tuple(outputs), None, 0)


class _NoGradient:
    """Stands on the tape for a callable: nobody knows its gradient, and zeros would be a lie."""

    stateless = True

    def __init__(self, name: str) -> None:
        self.name = name

    def gradients(self, g: Any, inputs: tuple[Any, ...], attrs: Any) -> Any:
        """Raises NotImplementedError: use autograd.Function to give a callable a gradient."""
        i = next(i for i, x in enumerate(inputs) if x.node is not None)
        raise NotImplementedError(f"{self.name}: gradient of operand {i} must be defined, got a host task")


def host_op(
    name: str, fn: Callable[..., Any], inputs: Sequence[Any], shape: Sequence[int], dtype: Any
) -> Any:
    """Issues a callable as `host` does, with one result of a shape and dtype, which is returned.

    >>> from forerun import np
    >>> host_op("twice", lambda v: 2 * v, [np.arange(3)], (3,), "int64").tolist()
    [0, 2, 4]
    """
    return host(fn, inputs, [(shape, dtype)], name=name)[0]


def _without(shape: tuple[int, ...], axis: int, keepdims: bool) -> tuple[int, ...]:
    return shape[:axis] + ((1,) if keepdims else ()) + shape[axis + 1 :]


def _arg(name: str, fn: Callable[..., Any], x: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    x = asarray(x)
    if axis is None:
        shape = (1,) * x.ndim if keepdims else ()
    elif x.ndim == 0 and axis in (0, -1):
        shape = ()
    else:
        axis = axes_of(name, axis, x.ndim)[0]
        shape = _without(x.shape, axis, keepdims)
    if (x.size if axis is None or x.ndim == 0 else x.shape[axis]) == 0:
        raise ValueError(f"{name}: reduced axes must not be empty, got shape {x.shape}")
    # Trusted not to write: NumPy would copy what is marked as read-only.
    task = lambda v: fn(v, axis=axis, keepdims=keepdims)
    found = _core.host(task, [x], [(shape, numpy.dtype("int64"))], None, name, "compute", True)[0]
    return store(name, found, out)


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Position of the (first) largest element along `axis`, or in the flat array. int64.

    ValueError if there is no element to choose from. NaN counts as the largest.

    >>> from forerun import np
    >>> np.argmax([[1, 3], [4, 2]], axis=1).tolist(), np.argmax([[1, 3], [4, 2]]).item()
    ([1, 0], 2)
    """
    return _arg("argmax", numpy.argmax, a, axis, out, keepdims)


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Position of the (first) smallest element along `axis`, or in the flat array. int64.

    ValueError if there is no element to choose from. NaN counts as the smallest.

    >>> from forerun import np
    >>> np.argmin([[1, 3], [4, 2]], axis=0).tolist()
    [0, 1]
    """
    return _arg("argmin", numpy.argmin, a, axis, out, keepdims)


def _flat_if_none(op: str, x: Any, axis: int | None) -> tuple[Any, int]:
    from .shape import ravel

    x = asarray(x)
    return (ravel(x), 0) if axis is None else (x, axes_of(op, axis, x.ndim)[0])


_KINDS = ("quicksort", "heapsort", "mergesort", "stable")


def _check_sort(op: str, kind: str | None, order: None, stable: bool | None) -> None:
    if kind is not None:
        one_of(op, "kind", kind, _KINDS)
    if order is not None:
        raise ValueError(f"{op}: order must not be given for arrays without fields, got {order!r}")
    if kind is not None and stable is not None:
        raise ValueError(f"{op}: kind and stable must not both be given, got {kind!r} and {stable}")


def argsort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None,
    descending: bool = False,
) -> Any:  # fmt: skip
    """Positions that sort `a` along `axis`; None: the flat array. int64; equal elements keep their order.

    kind and stable change nothing: sorting is stable. ValueError if both are given, or kind is none of NumPy's.

    >>> from forerun import np
    >>> np.argsort([3, 1, 2]).tolist(), np.argsort([3, 1, 2], descending=True).tolist()
    ([1, 2, 0], [0, 2, 1])
    """
    x, a = _flat_if_none("argsort", a, axis)
    _check_sort("argsort", kind, order, stable)

    def positions(v: numpy.ndarray) -> numpy.ndarray:
        if not descending:
            return numpy.argsort(v, axis=a, kind="stable")
        turned = numpy.flip(numpy.argsort(numpy.flip(v, a), axis=a, kind="stable"), a)
        return v.shape[a] - 1 - turned

    return host_op("argsort", positions, [x], x.shape, "int64")


def sort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None,
    descending: bool = False,
) -> Any:  # fmt: skip
    """`a` with its elements in ascending order along `axis`; None: the flat array. Differentiable.

    >>> from forerun import np
    >>> np.sort([[3, 1], [0, 2]]).tolist(), np.sort([3, 1, 2], descending=True).tolist()
    ([[1, 3], [0, 2]], [3, 2, 1])
    """
    from .indexing import take_along_axis

    x, a = _flat_if_none("sort", a, axis)
    _check_sort("sort", kind, order, stable)
    if _core.recording() and x.node is not None:
        return take_along_axis(x, argsort(x, a, descending=descending), a)
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
        if not isinstance(k, (int, numpy.integer)):
            raise TypeError(f"{op}: kth must be an integer, got {k!r}")
        if not -n <= k < n:
            raise ValueError(f"{op}: kth must be in [{-n}, {n}), got {k}")
    return tuple(int(k) % n for k in places)


def argpartition(
    a: Any, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Any:
    """Positions that partition `a` along `axis` as `partition` does. int64. Errors as there.

    >>> from forerun import np
    >>> x = np.array([5, 1, 4, 2])
    >>> x[np.argpartition(x, 1)][1].item()
    2
    """
    x, a = _flat_if_none("argpartition", a, axis)
    one_of("argpartition", "kind", kind, ("introselect",))
    _check_sort("argpartition", None, order, None)
    places = _orders("argpartition", kth, x.shape[a])
    return host_op("argpartition", lambda v: numpy.argpartition(v, places, a), [x], x.shape, "int64")


def partition(
    a: Any, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Any:
    """`a` with the element that is kth in sorted order at place kth along `axis`. Differentiable.

    None larger stands before it and none smaller after it, in any order. Several kth may be given. Axis None:
    of the flat array. TypeError if kth is no integer, ValueError if it is out of range.

    >>> from forerun import np
    >>> np.partition([5, 1, 4, 2], 2)[2].item()
    4
    """
    from .indexing import take_along_axis

    x, a = _flat_if_none("partition", a, axis)
    one_of("partition", "kind", kind, ("introselect",))
    _check_sort("partition", None, order, None)
    _orders("partition", kth, x.shape[a])
    return take_along_axis(x, argpartition(_core.detach(x), kth, a), a)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """Positions that sort by several keys along `axis`: by the last one first.

    Where it is equal by the one before it, and so on. int64. keys: arrays of one shape, or the rows of an
    array; ValueError if shapes differ or there is no key.

    >>> from forerun import np
    >>> np.lexsort(([2, 1, 0], [0, 0, 1])).tolist()
    [1, 0, 2]
    """
    arrays = [asarray(k) for k in keys]
    if not arrays or any(k.shape != arrays[0].shape for k in arrays):
        raise ValueError(f"lexsort: keys must be arrays of one shape, got {[k.shape for k in arrays]}")
    if arrays[0].ndim == 0:
        raise ValueError("lexsort: keys must have at least one axis, got shape ()")
    a = axes_of("lexsort", axis, arrays[0].ndim)[0]
    return host_op("lexsort", lambda *v: numpy.lexsort(v, a), arrays, arrays[0].shape, "int64")


def _statistic(
    name: str, fn: Callable[..., Any], x: Any, extra: tuple[int, ...], axis: Any, keepdims: bool
) -> Any:
    x = asarray(x)
    at = axes_of(name, axis, x.ndim)
    shape = tuple(1 if i in at else n for i, n in enumerate(x.shape) if keepdims or i not in at)
    dtype = x.dtype if is_inexact(x.dtype) else default_float()
    return host_op(name, lambda v: numpy.asarray(fn(v, at)).astype(dtype), [x], extra + shape, dtype)


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle value along axes (by default all), of an even number the mean of two.

    In `a`'s dtype, or the default float if `a` is not of floats.

    overwrite_input changes nothing.

    >>> from forerun import np
    >>> np.median([[1, 5, 2], [4, 3, 8]], axis=1).tolist(), np.median([1, 2]).item()
    ([2.0, 4.0], 1.5)
    """
    middle = lambda v, at: numpy.median(v, at, keepdims=keepdims)
    return store("median", _statistic("median", middle, a, (), axis, keepdims), out)


_METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
    "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip


_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")  # give one of the elements


def _quantile(
    op: str, x: Any, q: Any, most: int, axis: Any, out: Any, method: str, keepdims: bool, weights: Any
) -> Any:
    """`quantile` and its relatives: `most` is what q is counted to."""
    one_of(op, "method", method, _METHODS)
    x, q = asarray(x), numpy.asarray(q, "float64")
    if not ((q >= 0) & (q <= most)).all():
        raise ValueError(f"{op}: q must be in [0, {most}], got {q}")
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: array must be of real numbers, got {x.dtype}")
    at = axes_of(op, axis, x.ndim)
    fn = numpy.nanquantile if op.startswith("nan") else numpy.quantile
    if fn is numpy.quantile and any(x.shape[i] == 0 for i in at):
        raise IndexError(f"{op}: reduced axes must not be empty, got shape {x.shape}")
    options = {"method": method, "keepdims": keepdims}
    found = lambda v, w=None: _quiet(fn, v, q / most, at, weights=w, **options)
    shape = q.shape + tuple(1 if i in at else n for i, n in enumerate(x.shape) if keepdims or i not in at)
    kept = is_real_float(x.dtype) or (method in _DISCRETE and x.dtype.kind in "iu" and fn is numpy.quantile)
    dtype = x.dtype if kept else default_float()
    inputs = [x] if weights is None else [x, _weights(op, x, weights, at, axis, method)]
    task = lambda *values: numpy.broadcast_to(numpy.asarray(found(*values)).astype(dtype), shape)
    return store(op, host_op(op, task, inputs, shape, dtype), out)


def _quiet(fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function of NumPy's gives, without warnings: the values say what there is to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return fn(*args, **options)


def _weights(op: str, x: Any, weights: Any, at: tuple[int, ...], axis: Any, method: str) -> Any:
    if method != "inverted_cdf":
        raise ValueError(f"{op}: method must be inverted_cdf with weights, got {method!r}")
    w = asarray(weights, device=x.device)
    if w.dtype.kind == "c":
        raise TypeError(f"{op}: weights must be real numbers, got {w.dtype}")
    if w.shape == x.shape:
        return w
    if axis is None:
        raise TypeError(f"{op}: axis must be given as weights have another shape, got {w.shape} for {x.shape}")
    if w.shape != tuple(x.shape[i] for i in at):
        raise ValueError(f"{op}: weights must have the shape of axes, got {w.shape} for {x.shape} along {axis}")
    order = [int(i) for i in numpy.argsort(at)]
    full = tuple(n if i in at else 1 for i, n in enumerate(x.shape))
    return w.transpose(order).reshape(full).broadcast_to(x.shape)


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The q-th quantiles (q between 0 and 1) along axes (by default all); `a`'s dtype or the default float.

    Axes of q, which may be an array, stand first in the result. method: what is between two elements:
    "linear", "lower", "higher", "nearest", "midpoint" or another of NumPy's; those that give an element keep
    the dtype of integers. weights: how much each element counts,
    with method "inverted_cdf" only. ValueError if q is out of range or the method is another, IndexError if there
    is no element, TypeError of complex numbers. overwrite_input changes nothing.

    >>> from forerun import np
    >>> np.quantile([0, 1, 2, 3], [0.5, 1]).tolist(), np.quantile([0, 1, 2, 3], 0.5, method="lower").item()
    ([1.5, 3.0], 1)
    """
    return _quantile("quantile", a, q, 1, axis, out, method, keepdims, weights)


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The q-th percentiles (q between 0 and 100) along axes; otherwise as `quantile`.

    >>> from forerun import np
    >>> np.percentile([0, 1, 2, 3, 4], [25, 50]).tolist()
    [1.0, 2.0]
    """
    return _quantile("percentile", a, q, 100, axis, out, method, keepdims, weights)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The q-th quantiles of the elements that are not NaN; NaN if all are. Otherwise as `quantile`.

    >>> from forerun import np
    >>> np.nanquantile([0.0, np.nan, 2.0], 0.5).item()
    1.0
    """
    return _quantile("nanquantile", a, q, 1, axis, out, method, keepdims, weights)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The q-th percentiles of the elements that are not NaN; NaN if all are. Otherwise as `percentile`.

    >>> from forerun import np
    >>> np.nanpercentile([0.0, np.nan, 2.0], [0, 100]).tolist()
    [0.0, 2.0]
    """
    return _quantile("nanpercentile", a, q, 100, axis, out, method, keepdims, weights)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle one of the values along axes that are not NaN; NaN if all are. Otherwise as `median`.

    >>> from forerun import np
    >>> np.nanmedian([1.0, np.nan, 2.0, 5.0]).item()
    2.0
    """
    middle = lambda v, at: _quiet(numpy.nanmedian, v, at, keepdims=keepdims)
    return store("nanmedian", _statistic("nanmedian", middle, a, (), axis, keepdims), out)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Position of the (first) largest element that is not NaN along `axis`, or in the flat array. int64.

    ValueError if there is no element; where the result is read if all are NaN.

    >>> from forerun import np
    >>> np.nanargmax([[1.0, np.nan], [2.0, 3.0]], axis=1).tolist()
    [0, 1]
    """
    return _arg("nanargmax", numpy.nanargmax, a, axis, out, keepdims)


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Position of the (first) smallest element that is not NaN along `axis`, or in the flat array. int64.

    Errors: as for `nanargmax`.

    >>> from forerun import np
    >>> np.nanargmin([[np.nan, 1.0], [2.0, 3.0]], axis=1).tolist()
    [1, 0]
    """
    return _arg("nanargmin", numpy.nanargmin, a, axis, out, keepdims)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Positions at which v would keep the sorted vector `a` sorted: int64, of the shape of v.

    side: before ("left") or after ("right") equal elements. sorter: positions that sort `a`, as `argsort` gives
    them (TypeError if no integers). ValueError if `a` is no vector.

    >>> from forerun import np
    >>> np.searchsorted([1, 3, 5], [0, 3, 6]).tolist(), np.searchsorted([1, 3, 5], 3, side="right").item()
    ([0, 1, 3], 2)
    """
    one_of("searchsorted", "side", side, ("left", "right"))
    x, values = vector_of("searchsorted", a), asarray(v)
    if sorter is not None:
        order = vector_of("searchsorted", sorter)
        if order.dtype.kind not in "iu":
            raise TypeError(f"searchsorted: sorter must be of integers, got {order.dtype}")
        if order.shape != x.shape:
            raise ValueError(f"searchsorted: sorter must have shape {x.shape}, got {order.shape}")
        from .indexing import take

        x = take(x, order)
    return host_op(
        "searchsorted", lambda a, v: numpy.searchsorted(a, v, side), [x, values], values.shape, "int64"
    )


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on occurs in a vector: int64.

    If weights are given, sums of them: float64. At least `minlength` counts. Their number depends on the
    values: this waits. TypeError if numbers are no integers, ValueError if one is negative or weights have
    another shape.

    >>> from forerun import np
    >>> np.bincount([0, 2, 2]).tolist(), np.bincount([0, 2, 2], weights=[0.5, 1, 2]).tolist()
    ([1, 0, 2], [0.5, 0.0, 3.0])
    """
    x, minlength = vector_of("bincount", whole(x)), count_of("bincount", "minlength", minlength)
    if x.dtype.kind not in "iub":
        raise TypeError(f"bincount: array must be of integers, got {x.dtype}")
    if weights is not None and asarray(weights).shape != x.shape:
        raise ValueError(f"bincount: weights must have shape {x.shape}, got {asarray(weights).shape}")
    values = x.numpy()
    if values.min(initial=0) < 0:
        raise ValueError(f"bincount: numbers must not be negative, got {values.min()}")
    counts = numpy.bincount(values, None if weights is None else asarray(weights).numpy(), minlength)
    return asarray(counts, device=x.device)


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """The sorted distinct values of the flat array. Their number depends on the values: this waits.

    With the others, a tuple: also where each is first (flat), which of them each element is (in ar's shape),
    and how often each occurs; all int64. axis: distinct slices along it. equal_nan: whether NaN are one value.
    sorted changes nothing: they are.

    >>> from forerun import np
    >>> [v.tolist() for v in np.unique([3, 1, 3], return_counts=True)]
    [[1, 3], [1, 2]]
    >>> np.unique([[1, 2], [1, 2], [0, 5]], axis=0).tolist()
    [[0, 5], [1, 2]]
    """
    x = asarray(ar)
    along = None if axis is None else axes_of("unique", axis, x.ndim)[0]
    wanted = (return_index, return_inverse, return_counts)
    found = numpy.unique(x.numpy(), *wanted, along, equal_nan=equal_nan)
    if isinstance(found, tuple):
        return tuple(asarray(f, device=x.device) for f in found)
    return asarray(found, device=x.device)
