"""Statistics: of several variables together, and counts in bins."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy

from .arithmetic import conjugate, maximum, sqrt
from .base import numpy_when_small
from .convert import (
    asarray,
    asarrays,
    beside,
    cast,
    count_of,
    default_float,
    is_inexact,
    one_of,
    promote,
    vector_of,
)
from .diagonals import diagonal
from .dtype_rules import real_of
from .host import checked, host_op, host_ops
from .indexing import clip
from .joining import concatenate
from .products import matmul
from .reduction import _floating, sum
from .shape import atleast_2d, expand_dims, imag, real, transpose

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["corrcoef", "cov", "digitize", "histogram"]


# --- several variables together -------------------------------------------------------------------


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Floats with a row for each variable and a column for each observation."""
    found = _floating(m, None, "cov")
    if found.ndim > 2:
        raise ValueError(f"cov: observations must be a vector or a matrix, got shape {found.shape}")
    turned = not rowvar and found.ndim == 2
    rows = transpose(found) if turned else atleast_2d(found)
    if y is None:
        return rows
    more = atleast_2d(_floating(y, None, "cov"))
    if more.ndim > 2:
        raise ValueError(f"cov: observations must be a vector or a matrix, got shape {more.shape}")
    return concatenate([rows, transpose(more) if not rowvar and more.shape[0] != 1 else more], 0)


def _conjugate(x: Any) -> Any:
    """x itself, if it is real: there is nothing to copy."""
    return conjugate(x) if x.dtype.kind == "c" else x


def _per_observation(name: str, weights: Any, n: int) -> Any:
    """Weights, whose values are checked when they are there."""
    w = weights
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
) -> Array:  # fmt: skip
    """The covariance matrix of variables, with an observation in each column; of one variable without axes.

    Variables are rows of m (columns, unless `rowvar`) and of y. Sums are divided by n - ddof; ddof is 1, or 0
    with `bias`, unless given. fweights: how often each observation occurs; aweights: how much it counts.
    ValueError if m has more than two axes or ddof is no whole number, RuntimeError if weights are not one for each
    observation; where the result is read, ValueError if one is negative, TypeError if a frequency is no whole number.

    >>> from forerun import np
    >>> np.cov(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    m, y, fweights, aweights = asarrays(m, y, fweights, aweights)
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
        c = matmul(x, _conjugate(transpose(x))) * (1 / n if n else numpy.inf)
    else:
        weights = [cast(w, real_of(x.dtype)) for w in weights]
        w = weights[0] * weights[1] if len(weights) == 2 else weights[0]
        total = sum(w)
        taken = less if aweights is None else less * sum(w * weights[-1]) / total
        x = x - sum(x * w, 1, keepdims=True) / total
        c = matmul(x, conjugate(transpose(x * w))) / maximum(total - taken, 0)
    return c.reshape(()) if c.size == 1 else c


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
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


@numpy_when_small(numpy.digitize, "x bins right", "aab")
def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """In which bin each number lies: i with bins[i-1] <= x < bins[i]; with `right`, bins[i-1] < x <= bins[i].

    int64, of x's shape. Bins are a vector that rises or falls; ValueError where the result is read if it does
    not.

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
    """How many bins a rule of NumPy's finds right for these values. Waits."""
    one_of("histogram", "bins", rule, _RULES)
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


@numpy_when_small(numpy.histogram, "a bins", "ac", "f")
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
    x = beside(a, bins, weights)
    if isinstance(bins, str):
        bins = _estimated(x, bins, range, weights)
    inputs = [x]
    if weights is not None:
        inputs.append(beside(weights, x))
        if inputs[1].shape != x.shape:
            raise ValueError(f"histogram: weights must have shape {x.shape}, got {inputs[1].shape}")
    if numpy.ndim(bins):
        edges = vector_of("histogram", beside(bins, x))
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
        numbers = values[0]
        if given is None and numbers.dtype.itemsize == 1 and numbers.dtype.kind != "b" and numbers.size > _MANY_BYTES:
            numbers, given = _distinct_bytes(numbers)
        found, ends = numpy.histogram(numbers, known, range, density, given)
        return found.astype(counts, copy=False), ends.astype(dtype, copy=False)

    found, ends = host_ops("histogram", counted, inputs, [((count,), counts), ((count + 1,), dtype)])
    return found, ends
