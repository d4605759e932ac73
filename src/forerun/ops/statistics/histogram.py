"""Counts in bins of one axis or several, and bits packed into bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy

from .._base import core as _core
from .._base.convert import (
    asarray,
    asarray_like_device,
    asarrays,
    axis_of,
    cast,
    check_choice,
    count_of,
    default_float,
    is_array,
    is_inexact,
    promote,
    vector_of,
)
from .._base.host_task import host_op, host_ops
from .._base.primitive import numpy_when_small
from ..create.arguments import _known
from ..shape.axis_order import transpose
from ..shape.join import stack
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "packbits", "unpackbits",
]  # fmt: skip


@numpy_when_small(numpy.digitize, "x bins right", "aab")
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Array:
    """Return the bin of each number: i with bins[i-1] <= x < bins[i]; with `right`, bins[i-1] < x <= bins[i].

    int64, of x's shape. Bins are a vector that rises or falls.

    Parameters
    ----------
    x : array_like
        The numbers.
    bins : int or array
        The edges of the bins: a vector that rises or falls.
    right : bool, optional
        Whether a bin contains its right edge, and not its left one.

    Returns
    -------
    array
        The bin of each number.

    Raises
    ------
    ValueError
        Where the result is read, if bins neither rise nor fall.

    Examples
    --------
    >>> from forerun import np
    >>> np.digitize([0.5, 1.0, 2.5], [1.0, 2.0]).tolist()
    [0, 1, 2]
    """
    x, bins = asarrays(x, bins)
    if x.dtype.kind == "c":
        raise TypeError(f"digitize: numbers must be real, got {x.dtype}")
    bins = vector_of("digitize", bins)
    return host_op("digitize", lambda v, b: numpy.digitize(v, b, right), [x, bins], x.shape, "int64")


_MANY_BYTES = 1 << 14  # from which it is worth it to count them by their values first
_RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def _estimated(x: Any, rule: str, limits: Any, weights: Any) -> int:
    """Return how many bins a rule of NumPy's finds right for these values. Waits."""
    check_choice("histogram", "bins", rule, _RULES)
    if weights is not None:
        raise TypeError(f"histogram: weights must not be given where bins are estimated, got bins {rule!r}")
    known = x if x.dtype.kind != "V" else cast(x, numpy.dtype("float32"))
    with numpy.errstate(all="ignore"):
        return numpy.histogram_bin_edges(known.numpy(), rule, limits).size - 1


def _distinct_bytes(x: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The distinct integers in an array of one byte each, in the order of their bits without a sign, and how often each
    occurs. Two are counted at once."""
    flat = numpy.ascontiguousarray(x).reshape(-1).view(numpy.uint8)
    pairs = numpy.bincount(flat[: flat.size // 2 * 2].view(numpy.uint16), minlength=1 << 16).reshape(256, 256)
    counts = pairs.sum(0) + pairs.sum(1)
    counts[flat[flat.size // 2 * 2 :]] += 1
    there = numpy.flatnonzero(counts)
    return there.astype(numpy.uint8).view(x.dtype), counts[there]


def _counted(
    x: numpy.ndarray, count: int, limits: Any, density: bool | None, weights: numpy.ndarray | None
) -> tuple[numpy.ndarray, numpy.ndarray] | None:
    """Return what NumPy's histogram returns for bins of one width, bit for bit; None for dtypes that are NumPy's."""
    floats = ("float32", "float64")
    if x.dtype not in floats or not (weights is None or weights.dtype in floats):
        return None
    edges = numpy.histogram_bin_edges(x, count, limits)
    first, last = (edges[0], edges[-1]) if limits is None else limits
    width = float(last - first if first != last else (last + 0.5) - (first - 0.5))
    vector = numpy.ascontiguousarray(x, edges.dtype).reshape(-1)
    found = numpy.zeros(count, "int64" if weights is None else weights.dtype)
    more: tuple[Any, ...] = () if weights is None else (numpy.ascontiguousarray(weights).reshape(-1),)
    _core.count_in_bins(vector, edges, width, found, *more)
    if density:
        with numpy.errstate(all="ignore"):
            found = found / numpy.diff(edges).astype(float) / found.sum()
    return found, edges


@numpy_when_small(numpy.histogram, "a bins", "ac", "f")
def histogram(
    a: ArrayLike, bins: ArrayLike | str = 10, range: tuple[float, float] | None = None, density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Count the numbers in each bin. Return the counts and the edges of the bins.

    Counts are int64, or of the weights' dtype; densities are of the default float.

    Parameters
    ----------
    a : array_like
        The numbers.
    bins : int, str or array, optional
        A number of equal bins over `range` (by default from the smallest number to the largest), or the edges; or a
        word for a rule that finds a number, which waits: "auto", "doane", "fd", "rice", "scott", "sqrt", "stone",
        "sturges" (TypeError with weights).
    range : pair of floats, optional
        The lower end of the first bin, and the upper end of the last.
    density : bool, optional
        Counts are divided by the width of the bin and the sum of all.
    weights : array_like, optional
        How much each number counts.

    Returns
    -------
    tuple of arrays
        The counts, and the edges of the bins.

    Raises
    ------
    ValueError
        Where the result is read if edges do not rise.

    Examples
    --------
    >>> from forerun import np
    >>> counts, edges = np.histogram(np.array([0.0, 0.2, 0.9, 1.0]), 2)
    >>> counts.tolist(), edges.tolist()
    ([2, 2], [0.0, 0.5, 1.0])
    """
    x = asarray_like_device(a, bins, weights)
    if isinstance(bins, str):
        bins = _estimated(x, bins, range, weights)
    inputs = [x]
    if weights is not None:
        inputs.append(asarray_like_device(weights, x))
        if inputs[1].shape != x.shape:
            raise ValueError(f"histogram: weights must have shape {x.shape}, got {inputs[1].shape}")
    given_bins: Any = bins
    if numpy.ndim(given_bins):
        edges = vector_of("histogram", asarray_like_device(bins, x))
        inputs.append(edges)
        count, dtype = edges.size - 1, edges.dtype
    else:
        edges, count = None, count_of("histogram", "bins", bins)
        dtype = x.dtype if is_inexact(x.dtype) else default_float()
        if range is not None:
            range = (_known(range[0]), _known(range[1]))
            if x.dtype.kind == "f":
                dtype = numpy.result_type(dtype, *range)
    if count < 1:
        raise ValueError(f"histogram: there must be at least one bin, got {count}")
    if range is not None and not range[0] <= range[1]:
        raise ValueError(f"histogram: range must not fall, got ({range[0]}, {range[1]})")
    counts = numpy.dtype("int64") if weights is None else inputs[1].dtype
    counts = promote(counts, default_float()) if density else counts

    def counted(*values: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        known: Any = count if edges is None else values[-1]
        given = None if weights is None else values[1]
        numbers = values[0]
        quick = _counted(numbers, count, range, density, given) if edges is None else None
        if given is None and numbers.dtype.itemsize == 1 and numbers.dtype.kind != "b" and numbers.size > _MANY_BYTES:
            numbers, given = _distinct_bytes(numbers)
        options: dict[str, Any] = {"density": density, "weights": given}  # NumPy's overloads know literals
        found, ends = quick or numpy.histogram(numbers, known, range, **options)
        return found.astype(counts, copy=False), ends.astype(dtype, copy=False)

    found, ends = host_ops("histogram", counted, inputs, [((count,), counts), ((count + 1,), dtype)])
    return found, ends


def histogram_bin_edges(
    a: ArrayLike, bins: ArrayLike | str = 10, range: tuple[float, float] | None = None, weights: ArrayLike | None = None
) -> Array:
    """Return the edges of the bins that `histogram` uses, with its parameters and errors.

    Parameters
    ----------
    a : array_like
        The numbers.
    bins : int, str or array, optional
        The number of bins, their edges, or a word for a rule, as in `histogram`.
    range : pair of floats, optional
        The lower and the upper end of the bins.
    weights : array_like, optional
        How much each number counts.

    Returns
    -------
    array
        The edges of the bins that `histogram` uses.

    Examples
    --------
    >>> from forerun import np
    >>> np.histogram_bin_edges([0.0, 4.0], 2).tolist()
    [0.0, 2.0, 4.0]
    """
    edges: Array = histogram(a, bins, range, weights=weights)[1]
    return edges


def _columns(sample: ArrayLike, *others: Any) -> Array:
    """Points as rows, of a matrix, a vector of numbers, or a sequence of coordinates, on the device of the others."""
    if not is_array(sample) and isinstance(sample, (list, tuple)):
        given = [asarray_like_device(v, sample, *others) for v in sample]
        if given and not any(v.ndim for v in given):  # the numbers themselves
            return reshape(stack(given), (-1, 1))
        vectors = [reshape(v, -1) for v in given]
        if any(v.size != vectors[0].size for v in vectors):
            raise ValueError(f"histogramdd: coordinates must be of one length, got {[v.size for v in vectors]}")
        return transpose(stack(vectors))
    found = asarray_like_device(sample, *others)
    if found.ndim > 2 or found.ndim == 0:
        raise ValueError(f"histogramdd: sample must be a vector or a matrix, got shape {found.shape}")
    return found.reshape(-1, 1) if found.ndim == 1 else found


def _edges(bins: ArrayLike, x: Array) -> list[Any]:
    """For each axis of points the number of bins, or their edges as an array. Does not read values."""
    n = x.shape[1]
    if isinstance(bins, str) or not numpy.iterable(bins):
        return [count_of("histogramdd", "bins", bins)] * n
    given: list[Any] = list(bins)
    if words := [b for b in given if isinstance(b, str)]:
        raise TypeError(f"histogramdd: bins must be numbers or edges, got {words[0]!r}")
    if len(given) != n:
        raise ValueError(f"histogramdd: bins must be given for each of {n} axes, got {len(given)}")
    known = [asarray_like_device(b, x) for b in given]
    return [vector_of("histogramdd", b) if b.ndim else count_of("histogramdd", "bins", _known(b).item()) for b in known]


def histogramdd(
    sample: ArrayLike, bins: ArrayLike = 10, range: Sequence[Any] | None = None, density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    """Count the points in each cell of a grid. Return the counts, and a tuple of the edges of the bins along each axis.

    density, weights: as for `histogram`. Counts are of the default float, edges too unless given. ValueError if bins do
    not fit the axes; where the result is read if edges do not rise.

    Parameters
    ----------
    sample : array_like
        Points as rows of a matrix, or a sequence with the coordinates of each axis.
    bins : int or array, optional
        A number for all axes, or for each axis a number or the edges (as in NumPy no word for a rule: TypeError).
    range : sequence of pairs, optional
        For each axis (low, high) or None.
    density : bool, optional
        Whether to divide counts by the volume of the cell and the sum of all.
    weights : array_like, optional
        How much each point counts.

    Returns
    -------
    tuple of array and tuple of arrays
        The counts, and the edges of the bins along each axis.

    Raises
    ------
    ValueError
        If bins do not fit the axes; where the result is read, if edges do not rise.
    TypeError
        If bins are given by a word.

    Examples
    --------
    >>> from forerun import np
    >>> counts, edges = np.histogramdd([[0.0, 0.2, 1.0], [0.0, 0.9, 1.0]], 2)
    >>> counts.tolist(), edges[0].tolist()
    ([[1.0, 1.0], [0.0, 1.0]], [0.0, 0.5, 1.0])
    """
    x = _columns(sample, bins, weights)
    n, grid = x.shape[1], _edges(bins, x)
    counts = tuple(b.size - 1 if is_array(b) else b for b in grid)
    if min(counts, default=1) < 1:
        raise ValueError(f"histogramdd: there must be at least one bin, got {counts}")
    if range is not None and len(range) != n:
        raise ValueError(f"histogramdd: range must be given for each of {n} axes, got {len(range)}")
    for limits in range or ():
        if limits is not None and not limits[0] <= limits[1]:
            raise ValueError(f"histogramdd: range must not fall, got {tuple(limits)}")
    inputs = [x, *(b for b in grid if is_array(b))]
    if weights is not None:
        inputs.append(asarray_like_device(weights, x))
        if inputs[-1].shape != x.shape[:1]:
            raise ValueError(f"histogramdd: weights must have shape {x.shape[:1]}, got {inputs[-1].shape}")
    dtype = default_float()
    kinds = [promote(b.dtype, dtype) if is_array(b) else dtype for b in grid]

    def counted(points: numpy.ndarray, *more: numpy.ndarray) -> tuple[numpy.ndarray, ...]:
        known = iter(more)
        where = [next(known) if is_array(b) else b for b in grid]
        found, ends = numpy.histogramdd(points, where, range, density, next(known, None))
        return found.astype(dtype), *(e.astype(k) for e, k in zip(ends, kinds))

    outs = [(counts, dtype), *(((k + 1,), kind) for k, kind in zip(counts, kinds))]
    found, *ends = host_ops("histogramdd", counted, inputs, outs)
    return found, tuple(ends)


def _of_few(x: numpy.ndarray, y: numpy.ndarray, bins: int = 10) -> tuple[numpy.ndarray, ...]:
    """Return NumPy's two-dimensional histogram, with everything in the default float."""
    counts, *edges = numpy.histogram2d(x, y, bins)
    return tuple(v.astype(default_float()) for v in (counts, *edges))


@numpy_when_small(_of_few, "x y bins", "ddc", "D")
def histogram2d(
    x: ArrayLike, y: ArrayLike, bins: ArrayLike = 10, range: Sequence[Sequence[float]] | None = None,
    density: bool | None = None, weights: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Count the points (x, y) in each cell of a grid. Return the counts and the edges of the bins along both axes.

    Otherwise as `histogramdd`.

    Parameters
    ----------
    x : array_like
        The first coordinate of each point.
    y : array_like
        The second coordinate of each point.
    bins : int or array, optional
        A number for both axes, the edges for both, or a pair of either.
    range : pair of pairs, optional
        The lower and the upper end of the bins along each axis.
    density : bool, optional
        Whether to divide counts by the area of the cell and the sum of all.
    weights : array_like, optional
        How much each point counts.

    Returns
    -------
    tuple of arrays
        The counts, and the edges of the bins along both axes.

    Raises
    ------
    ValueError
        If x and y differ in length.

    Examples
    --------
    >>> from forerun import np
    >>> np.histogram2d([0.0, 0.2, 1.0], [0.0, 0.9, 1.0], 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    x, y = (vector_of("histogram2d", asarray_like_device(v, x, y, bins, weights)) for v in (x, y))
    if x.size != y.size:
        raise ValueError(f"histogram2d: x and y must be of one length, got {x.size} and {y.size}")
    both = not isinstance(bins, str) and numpy.iterable(bins) and len(list(bins)) not in (1, 2)
    counts, edges = histogramdd([x, y], [bins, bins] if both else bins, range, density, weights)
    return counts, edges[0], edges[1]


# --- bits -----------------------------------------------------------------------------------------


def _flat(op: str, x: Array, axis: int | None) -> tuple[Any, int]:
    return (reshape(x, -1), 0) if axis is None or (x.ndim == 0 and axis in (0, -1)) else (x, axis_of(op, axis, x.ndim))


@numpy_when_small(numpy.packbits, "a axis bitorder", "ais", "biu")
def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: Literal["big", "little"] = "big") -> Array:
    """Return eight elements in each byte, a bit for each that is not zero, along `axis` or of the flat array. uint8.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    bitorder : str, optional
        Whether the first one is the highest bit ("big") or the lowest ("little"); ValueError if another.

    Returns
    -------
    array
        Eight elements in each byte.

    Raises
    ------
    TypeError
        If the dtype is neither an integer nor bool.

    Examples
    --------
    >>> from forerun import np
    >>> np.packbits([1, 0, 0, 0, 0, 0, 1, 1, 1]).tolist()
    [131, 128]
    """
    check_choice("packbits", "bitorder", bitorder, ("big", "little"))
    x = asarray(a)
    if x.dtype.kind not in "biu":
        raise TypeError(f"packbits: array must be of integers or bools, got {x.dtype}")
    x, along = _flat("packbits", x, axis)
    shape = (*x.shape[:along], -(-x.shape[along] // 8), *x.shape[along + 1 :])
    return host_op("packbits", lambda v: numpy.packbits(v, along, bitorder), [x], shape, "uint8")


@numpy_when_small(numpy.unpackbits, "a axis count bitorder", "aiis", "u")
def unpackbits(
    a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: Literal["big", "little"] = "big"
) -> Array:
    """Return the bits of bytes as elements that are 0 or 1, along `axis` or of the flat array. uint8.

    bitorder: as for `packbits`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    count : int, optional
        How many to give, zeros where there are no more; if negative, how many to leave out at the end.
    bitorder : str, optional
        The order of the bits, as in `packbits`.

    Returns
    -------
    array
        The bits of bytes as elements that are 0 or 1.

    Raises
    ------
    TypeError
        If the dtype is not uint8.
    ValueError
        If more are left out than there are.

    Examples
    --------
    >>> from forerun import np
    >>> np.unpackbits(np.array([5], "uint8"), count=-4).tolist(), np.unpackbits(np.array([5], "uint8")).sum().item()
    ([0, 0, 0, 0], 2)
    """
    check_choice("unpackbits", "bitorder", bitorder, ("big", "little"))
    x = asarray(a)
    if x.dtype != numpy.uint8:
        raise TypeError(f"unpackbits: array must be of uint8, got {x.dtype}")
    x, along = _flat("unpackbits", x, axis)
    bits = 8 * x.shape[along]
    n = bits if count is None else count if count >= 0 else bits + count
    if n < 0:
        raise ValueError(f"unpackbits: count must be at least {-bits}, got {count}")
    shape = (*x.shape[:along], n, *x.shape[along + 1 :])
    return host_op("unpackbits", lambda v: numpy.unpackbits(v, along, count, bitorder), [x], shape, "uint8")
