"""Distinct values: whether they are in a set, and sets together.

Where the number of results depends on the values, this waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from .._base.convert import asarray, asarrays, check_choice, device_of, promote
from .._base.host_task import host_op
from .._base.primitive import numpy_when_small
from .._base.registry import registered_tuple
from .sort import unique

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "isin", "intersect1d", "union1d", "setdiff1d", "setxor1d", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip


@numpy_when_small(numpy.isin, "element test_elements assume_unique invert", "aebb")
def isin(
    element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *,
    kind: str | None = None,
) -> Array:  # fmt: skip
    """Test whether each element is in `test_elements`; with `invert`, whether it is not. The result is bool.

    Parameters
    ----------
    element : array_like
        The values to test.
    test_elements : array_like
        The values to look for.
    assume_unique : bool, optional
        Both hold distinct values, which saves time.
    invert : bool, optional
        Whether to test the opposite.
    kind : str, optional
        "sort" or "table", NumPy's algorithms (ValueError if another, or "table" for dtypes other than integers).

    Returns
    -------
    array
        Whether each element is in `test_elements`.

    Examples
    --------
    >>> from forerun import np
    >>> np.isin(np.array([1, 2, 3]), [3, 1]).tolist()
    [True, False, True]
    """
    x, others = asarrays(element, test_elements)
    if kind is not None:
        check_choice("isin", "kind", kind, ("sort", "table"))
        if kind == "table" and (x.dtype.kind not in "iub" or others.dtype.kind not in "iub"):
            raise ValueError(f"isin: kind must be sort but for integers, got {x.dtype} and {others.dtype}")
    found = lambda v, w: numpy.isin(v, w, assume_unique, invert, kind=kind)  # type: ignore[arg-type]
    return host_op("isin", found, [x, others], x.shape, "bool")


def _values(*arrays: ArrayLike) -> list[numpy.ndarray]:
    """Flat values, which this waits for, of one dtype."""
    known = [asarray(a).numpy().reshape(-1) for a in arrays]
    dtype = promote(*(v.dtype for v in known))
    return [v.astype(dtype, copy=False) for v in known]


@numpy_when_small(numpy.intersect1d, "ar1 ar2 assume_unique return_indices", "aabb", waits=True)
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted distinct values that are in both arrays, in their common dtype. Waits.

    Parameters
    ----------
    ar1 : array_like
        The first array.
    ar2 : array_like
        The second array.
    assume_unique : bool, optional
        Whether both arrays hold distinct values, which saves time.
    return_indices : bool, optional
        Also where each is first in either (flat), as int64.

    Returns
    -------
    array, or tuple of arrays
        The values, with `return_indices` also their positions.

    Examples
    --------
    >>> from forerun import np
    >>> np.intersect1d([3, 1, 2, 3], [2, 3, 5]).tolist()
    [2, 3]
    """
    found = numpy.intersect1d(*_values(ar1, ar2), assume_unique, return_indices)
    device = device_of(ar1, ar2)
    if return_indices:
        return tuple(asarray(f, device=device) for f in found)
    return asarray(found, device=device)


@numpy_when_small(numpy.union1d, "ar1 ar2", "aa", waits=True)
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Array:
    """Return the sorted distinct values that are in one of two arrays or both, in their common dtype. Waits.

    Parameters
    ----------
    ar1 : array_like
        The first array.
    ar2 : array_like
        The second array.

    Returns
    -------
    array
        The sorted distinct values that are in one of two arrays or both.

    Examples
    --------
    >>> from forerun import np
    >>> np.union1d([3, 1], [2, 3]).tolist()
    [1, 2, 3]
    """
    return asarray(numpy.union1d(*_values(ar1, ar2)), device=device_of(ar1, ar2))


@numpy_when_small(numpy.setdiff1d, "ar1 ar2 assume_unique", "aab", waits=True)
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Array:
    """Return the sorted distinct values that are in ar1 but not in ar2, in their common dtype. Waits.

    Parameters
    ----------
    ar1 : array_like
        The first array.
    ar2 : array_like
        The second array.
    assume_unique : bool, optional
        Whether both arrays hold distinct values, which saves time.

    Returns
    -------
    array
        The sorted distinct values that are in ar1 but not in ar2.

    Examples
    --------
    >>> from forerun import np
    >>> np.setdiff1d([3, 1, 2, 1], [2]).tolist()
    [1, 3]
    """
    return asarray(numpy.setdiff1d(*_values(ar1, ar2), assume_unique), device=device_of(ar1, ar2))


@numpy_when_small(numpy.setxor1d, "ar1 ar2 assume_unique", "aab", waits=True)
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Array:
    """Return the sorted distinct values that are in exactly one of two arrays, in their common dtype. Waits.

    Parameters
    ----------
    ar1 : array_like
        The first array.
    ar2 : array_like
        The second array.
    assume_unique : bool, optional
        Whether both arrays hold distinct values, which saves time.

    Returns
    -------
    array
        The sorted distinct values that are in exactly one of two arrays.

    Examples
    --------
    >>> from forerun import np
    >>> np.setxor1d([3, 1, 2], [2, 5]).tolist()
    [1, 3, 5]
    """
    return asarray(numpy.setxor1d(*_values(ar1, ar2), assume_unique), device=device_of(ar1, ar2))


@registered_tuple("UniqueAllResult")
class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


@registered_tuple("UniqueCountsResult")
class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Any
    counts: Any


@registered_tuple("UniqueInverseResult")
class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Any
    inverse_indices: Any


def unique_all(x: ArrayLike) -> UniqueAll:
    """Return the sorted distinct values, where each is first, which of them each element is, and their counts.

    Named values, indices (in the flat array), inverse_indices (in x's shape) and counts; the latter int64. Each NaN is
    a value of its own. Waits.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    UniqueAll
        The sorted distinct values.

    Examples
    --------
    >>> from forerun import np
    >>> found = np.unique_all([3, 1, 3])
    >>> found.values.tolist(), found.indices.tolist(), found.inverse_indices.tolist(), found.counts.tolist()
    ([1, 3], [1, 0], [1, 0, 1], [1, 2])
    """
    return UniqueAll(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: ArrayLike) -> UniqueCounts:
    """Return the sorted distinct values, and how often each occurs (int64): `values` and `counts`. Waits.

    Each NaN is a value of its own.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    UniqueCounts
        The sorted distinct values.

    Examples
    --------
    >>> from forerun import np
    >>> values, counts = np.unique_counts([3, 1, 3])
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: ArrayLike) -> UniqueInverse:
    """Return the sorted distinct values, and which of them each element is: `values` and `inverse_indices`. Waits.

    The latter are int64, in x's shape: values[inverse_indices] is x. Each NaN is a value of its own.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    UniqueInverse
        The sorted distinct values.

    Examples
    --------
    >>> from forerun import np
    >>> values, inverse = np.unique_inverse([3, 1, 3])
    >>> values.tolist(), inverse.tolist()
    ([1, 3], [1, 0, 1])
    """
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: ArrayLike) -> Array:
    """Return the sorted distinct values of the flat array. Each NaN is a value of its own. Waits.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The sorted distinct values of the flat array.

    Examples
    --------
    >>> from forerun import np
    >>> np.unique_values([3, 1, 3]).tolist()
    [1, 3]
    """
    values: Array = unique(x, equal_nan=False)
    return values
