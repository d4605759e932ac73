"""Statistics: of data with NaN in it, of several variables together, and counts in bins."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from .. import _core
from .arithmetic import conjugate, fmax, fmin, isnan, maximum, sqrt
from .base import primitive
from .convert import (
    as_dtype,
    asarray,
    axes_of,
    axes_to_reduce,
    cast,
    count_of,
    default_float,
    is_inexact,
    is_real_float,
    one_of,
    promote,
    store,
    vector_of,
)
from .diagonals import diagonal
from .dtypes import finfo
from .host import checked, host, host_op
from .indexing import clip, where
from .indexing import where as _where  # `where` is a parameter of many
from .joining import concatenate
from .products import matmul
from .reduction import Axis, _chosen, _less, _over, _ties, max, min, prod, sum
from .scans import cumprod, cumsum
from .shape import atleast_2d, expand_dims, imag, real, transpose

__all__ = [
    "nanmax", "nanmin", "nanprod", "nanmean", "nanvar", "nanstd", "nancumsum", "nancumprod", "nan_to_num", "cov",
    "corrcoef", "digitize", "histogram",
]  # fmt: skip


# --- data with NaN in it --------------------------------------------------------------------------


@primitive(lambda g, y, x, axes, keepdims: _ties(g, y, x, axes, keepdims))
def _nanmax(x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    return _core.reduce(fmax, x, axes, None, keepdims, "nanmax")


@primitive(lambda g, y, x, axes, keepdims: _ties(g, y, x, axes, keepdims))
def _nanmin(x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    return _core.reduce(fmin, x, axes, None, keepdims, "nanmin")


def nanmax(
    a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The largest element over axes (by default all) that is not NaN; NaN if all are. `a`'s dtype.

    Equal largest elements share the gradient. ValueError if there is no element.

    >>> from forerun import np
    >>> np.nanmax([[1.0, np.nan], [3.0, 2.0]], axis=1).tolist()
    [1.0, 3.0]
    """
    x = asarray(a)
    if initial is not None or where is not True:
        lowest = _filled(x, -numpy.inf)
        return max(lowest, axis, out, keepdims, initial, where)
    axes = axes_to_reduce("nanmax", axis, x.ndim)
    if 0 in (x.shape[i] for i in axes):
        raise ValueError(f"nanmax: reduced axes must not be empty, got shape {x.shape}")
    return store("nanmax", _nanmax(x, axes, keepdims), out)


def nanmin(
    a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The smallest element over axes (by default all) that is not NaN; NaN if all are. `a`'s dtype.

    Equal smallest elements share the gradient. ValueError if there is no element.

    >>> from forerun import np
    >>> np.nanmin([[1.0, np.nan], [3.0, 2.0]], axis=1).tolist()
    [1.0, 2.0]
    """
    x = asarray(a)
    if initial is not None or where is not True:
        lowest = _filled(x, numpy.inf)
        return min(lowest, axis, out, keepdims, initial, where)
    axes = axes_to_reduce("nanmin", axis, x.ndim)
    if 0 in (x.shape[i] for i in axes):
        raise ValueError(f"nanmin: reduced axes must not be empty, got shape {x.shape}")
    return store("nanmin", _nanmin(x, axes, keepdims), out)


def _filled(x: Any, value: float) -> Any:
    """x with a number in place of NaN."""
    x = asarray(x)
    return where(isnan(x), value, x) if is_inexact(x.dtype) else x


def nanprod(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """The product over axes (by default all) with NaN counted as 1; otherwise as `prod`.

    >>> from forerun import np
    >>> np.nanprod([2.0, np.nan, 3.0]).item()
    6.0
    """
    return prod(_filled(a, 1), axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums along `axis`, or of the flat array, with NaN counted as 0.

    >>> from forerun import np
    >>> np.nancumsum([2.0, np.nan, 3.0]).tolist()
    [2.0, 2.0, 5.0]
    """
    return cumsum(_filled(a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products along `axis`, or of the flat array, with NaN counted as 1.

    >>> from forerun import np
    >>> np.nancumprod([2.0, np.nan, 3.0]).tolist()
    [2.0, 2.0, 6.0]
    """
    return cumprod(_filled(a, 1), axis, dtype, out)


def _numbers(x: Any, axes: tuple[int, ...], dtype: numpy.dtype) -> Any:
    """How many elements over axes are not NaN, as floats, with the axes kept."""
    return sum(cast(~isnan(x), dtype), axes, keepdims=True)


def _floats(x: Any) -> Any:
    x = asarray(x)
    return x if is_inexact(x.dtype) else cast(x, default_float())


def _real_dtype(x: Any) -> numpy.dtype:
    return numpy.empty(0, x.dtype).real.dtype


def _unmasked(a: Any, dtype: Any, mask: Any) -> Any:
    """Floats, with NaN in place of the elements that a mask leaves out. TypeError if others are asked of floats."""
    if dtype is not None and is_inexact(asarray(a).dtype) and not is_inexact(as_dtype("dtype", dtype)):
        raise TypeError(f"dtype: must be of floats as the array is, got {dtype}")
    x = _floats(a if dtype is None else asarray(a, dtype))
    return x if mask is True else _chosen(_over(x, mask), mask, numpy.nan)


def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """The mean over axes of the elements that are not NaN; NaN if all are. Of integers in the default float.

    where: a mask of the elements that count.

    >>> from forerun import np
    >>> np.nanmean(np.array([1.0, np.nan, 3.0])).item()
    2.0
    """
    x = _unmasked(a, dtype, where)
    axes = _axes("nanmean", a, axis)
    result = sum(_filled(x, 0), axes, keepdims=True) / _numbers(x, axes, _real_dtype(x))
    return store("nanmean", result if keepdims else _dropped(result, axes), out)


def _axes(op: str, a: Any, axis: Axis) -> tuple[int, ...]:
    """Axes to reduce; as in NumPy, only floats without axes may be reduced over axis 0."""
    x = asarray(a)
    return axes_to_reduce(op, axis, x.ndim) if is_inexact(x.dtype) else axes_of(op, axis, x.ndim)


def _dropped(x: Any, axes: tuple[int, ...]) -> Any:
    return x.reshape(tuple(n for i, n in enumerate(x.shape) if i not in axes))


def nanvar(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The variance over axes (by default all) of the elements that are not NaN.

    Squared deviations from their mean, divided by their number less ddof; NaN if there are not more than
    ddof. Of integers in the default float. where, mean, correction: as for `var`.

    >>> from forerun import np
    >>> np.nanvar([2.0, np.nan, 4.0]).item()
    1.0
    """
    x, less = _unmasked(a, dtype, where), _less("nanvar", ddof, correction)
    axes = _axes("nanvar", a, axis)
    n = _numbers(x, axes, _real_dtype(x))
    middle = sum(_filled(x, 0), axes, keepdims=True) / n if mean is None else asarray(mean)
    deviation = _filled(x - middle, 0)
    squares = real(deviation * conjugate(deviation)) if x.dtype.kind == "c" else deviation * deviation
    result = sum(squares, axes, keepdims=True) / _where(n > less, n - less, numpy.nan)
    return store("nanvar", result if keepdims else _dropped(result, axes), out)


def nanstd(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The standard deviation over axes of the elements that are not NaN: the root of `nanvar`.

    >>> from forerun import np
    >>> np.nanstd([1.0, np.nan, 5.0]).item()
    2.0
    """
    known = {"where": where, "mean": mean, "correction": correction}
    return store("nanstd", sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, **known)), out)


def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """x with `nan` in place of NaN, and `posinf` and `neginf` in place of infinities. x's dtype.

    posinf, neginf: by default the largest and smallest number of the dtype. copy: False writes them into x.

    >>> from forerun import np
    >>> np.nan_to_num([1.0, np.nan, np.inf], posinf=9).tolist()
    [1.0, 0.0, 9.0]
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        result = nan_to_num(real(x), True, nan, posinf, neginf) + 1j * nan_to_num(
            imag(x), True, nan, posinf, neginf
        )
    elif is_real_float(x.dtype):
        limits = finfo(x.dtype)
        high, low = (
            (float(limits.max) if posinf is None else posinf),
            (float(limits.min) if neginf is None else neginf),
        )
        result = where(isnan(x), nan, where(x == numpy.inf, high, where(x == -numpy.inf, low, x)))
    else:
        result = x.copy() if copy else x
    if copy:
        return result
    _core.assign(x, result)
    return x


# --- several variables together -------------------------------------------------------------------


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Floats with a row for each variable and a column for each observation."""
    found = _floats(m)
    if found.ndim > 2:
        raise ValueError(f"cov: observations must be a vector or a matrix, got shape {found.shape}")
    turned = not rowvar and found.ndim == 2
    rows = transpose(found) if turned else atleast_2d(found)
    if y is None:
        return rows
    more = atleast_2d(_floats(y))
    if more.ndim > 2:
        raise ValueError(f"cov: observations must be a vector or a matrix, got shape {more.shape}")
    return concatenate([rows, transpose(more) if not rowvar and more.shape[0] != 1 else more], 0)


def _per_observation(name: str, weights: Any, n: int) -> Any:
    """Weights, whose values are checked when they are there."""
    w = asarray(weights)
    if w.shape != (n,):
        raise RuntimeError(f"cov: {name} must be one for each of {n} observations, got shape {w.shape}")

    def check(v: numpy.ndarray) -> None:
        if name == "fweights" and not (v == numpy.around(v)).all():
            raise TypeError(f"cov: fweights must be whole numbers, got {v}")
        if (v < 0).any():
            raise ValueError(f"cov: {name} must not be negative, got {v.min()}")

    return checked(w, "cov", check)


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """The covariance matrix of variables, with an observation in each column; of one variable without axes.

    Variables are rows of m (columns, unless `rowvar`) and of y. Sums are divided by n - ddof; ddof is 1, or 0
    with `bias`, unless given. fweights: how often each observation occurs; aweights: how much it counts.
    ValueError if m has more than two axes or ddof is no whole number, RuntimeError if weights are not one for each
    observation; where the result is read, ValueError if one is negative, TypeError if a frequency is no whole number.

    >>> from forerun import np
    >>> np.cov(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = _observations(m, y, rowvar)
    x = x if dtype is None else asarray(x, dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    if not is_inexact(x.dtype):
        raise TypeError(f"cov: dtype must be of floats, got {x.dtype}")
    if less != int(less):
        raise ValueError(f"cov: ddof must be a whole number, got {ddof}")
    given = (("fweights", fweights), ("aweights", aweights))
    weights = [_per_observation(name, w, x.shape[1]) for name, w in given if w is not None]
    if not weights:
        n = builtins.max(x.shape[1] - less, 0)
        x = x - sum(x, 1, keepdims=True) / (x.shape[1] or numpy.nan)
        c = matmul(x, conjugate(transpose(x))) * (1 / n if n else numpy.inf)
    else:
        weights = [cast(w, _real_dtype(x)) for w in weights]
        w = weights[0] * weights[1] if len(weights) == 2 else weights[0]
        total = sum(w)
        taken = less if aweights is None else less * sum(w * weights[-1]) / total
        x = x - sum(x * w, 1, keepdims=True) / total
        c = matmul(x, conjugate(transpose(x * w))) / maximum(total - taken, 0)
    return c.reshape(()) if c.size == 1 else c


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlation coefficients of variables, between -1 and 1: `cov` divided by both standard deviations.

    Variables are rows of x (columns, unless `rowvar`) and of y, with an observation in each column.

    >>> from forerun import np
    >>> np.corrcoef([[0, 1, 2], [2, 1, 0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    size = sqrt(real(diagonal(c)))
    c = c / expand_dims(size, 1) / size
    if c.dtype.kind == "c":
        return clip(real(c), -1, 1) + 1j * clip(imag(c), -1, 1)
    return clip(c, -1, 1)


# --- bins -----------------------------------------------------------------------------------------


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """In which bin each number lies: i with bins[i-1] <= x < bins[i]; with `right`, bins[i-1] < x <= bins[i].

    int64, of x's shape. Bins are a vector that rises or falls; ValueError where the result is read if it does
    not.

    >>> from forerun import np
    >>> np.digitize([0.5, 1.0, 2.5], [1.0, 2.0]).tolist()
    [0, 1, 2]
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"digitize: numbers must be real, got {x.dtype}")
    bins = vector_of("digitize", bins)
    return host_op("digitize", lambda v, b: numpy.digitize(v, b, right), [x, bins], x.shape, "int64")


_RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def _estimated(x: Any, rule: str, limits: Any, weights: Any) -> int:
    """How many bins a rule of NumPy's finds right for these values. Waits."""
    one_of("histogram", "bins", rule, _RULES)
    if weights is not None:
        raise TypeError(f"histogram: weights must not be given where bins are estimated, got bins {rule!r}")
    known = x if x.dtype.kind != "V" else cast(x, numpy.dtype("float32"))
    with numpy.errstate(all="ignore"):
        return numpy.histogram_bin_edges(known.numpy(), rule, limits).size - 1


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any]:
    """How many of the numbers lie in each bin, and the edges of the bins.

    bins: a number of equal bins over `range` (by default from the smallest number to the largest), or the
    edges; or a word for a rule that finds a number, which waits: "auto", "doane", "fd", "rice", "scott", "sqrt",
    "stone", "sturges" (TypeError with weights). density: counts are divided by the width of the bin and the sum of
    all. weights: how much each number counts. Counts are int64, or of the weights' dtype; densities are of the default
    float. ValueError where the result is read if edges do not rise.

    >>> from forerun import np
    >>> counts, edges = np.histogram(np.array([0.0, 0.2, 0.9, 1.0]), 2)
    >>> counts.tolist(), edges.tolist()
    ([2, 2], [0.0, 0.5, 1.0])
    """
    x = asarray(a)
    if isinstance(bins, str):
        bins = _estimated(x, bins, range, weights)
    inputs = [x]
    if weights is not None:
        inputs.append(asarray(weights))
        if inputs[1].shape != x.shape:
            raise ValueError(f"histogram: weights must have shape {x.shape}, got {inputs[1].shape}")
    if numpy.ndim(bins):
        edges = vector_of("histogram", bins)
        inputs.append(edges)
        count, dtype = edges.size - 1, edges.dtype
    else:
        edges, count = None, count_of("histogram", "bins", bins)
        dtype = x.dtype if is_inexact(x.dtype) else default_float()
    if count < 1:
        raise ValueError(f"histogram: there must be at least one bin, got {count}")
    if range is not None and not range[0] <= range[1]:
        raise ValueError(f"histogram: range must not fall, got {tuple(range)}")
    counts = numpy.dtype("int64") if weights is None else inputs[1].dtype
    counts = promote(counts, default_float()) if density else counts

    def counted(*values: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        known = bins if edges is None else values[-1]
        given = None if weights is None else values[1]
        found, ends = numpy.histogram(values[0], known, range, density, given)
        return found.astype(counts, copy=False), ends.astype(dtype, copy=False)

    found, ends = host(counted, inputs, [((count,), counts), ((count + 1,), dtype)], name="histogram")
    return found, ends
