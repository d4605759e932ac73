"""Distinct values, where they are and how often they occur.

Where the number of results depends on the values, this waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of
from .._base.primitive import numpy_when_small
from .._base.registry import registered_tuple

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"]

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
        first[places[::-1]] = numpy.arange(flat.size)[::-1]  # the value that is written last is first in the array
        found.append(first[positions])
    if inverse:
        found.append((numpy.cumsum(there) - 1)[places].reshape(x.shape))
    if number is not None:
        found.append(number[positions])
    return found[0] if len(found) == 1 else tuple(found)


@overload
def unique(
    ar: ArrayLike, return_index: Literal[False] = False, return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False, axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Array: ...  # fmt: skip
@overload
def unique(
    ar: ArrayLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> tuple[Array, ...]: ...  # fmt: skip
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
        The values, and the other requested results.

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
        options: dict[str, Any] = {"axis": along, "equal_nan": equal_nan}
        options |= zip(("return_index", "return_inverse", "return_counts"), wanted, strict=True)
        found = numpy.unique(values, **options)
    if isinstance(found, tuple):
        return tuple(_core.taken(f, x.device) for f in found)
    return _core.taken(found, x.device)


@registered_tuple("UniqueAllResult")
class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


@registered_tuple("UniqueCountsResult")
class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Array
    counts: Array


@registered_tuple("UniqueInverseResult")
class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


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
