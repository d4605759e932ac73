"""Distinct values as sets: whether elements are in one, and two of them together.

Where the number of results depends on the values, this waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .._base.convert import asarray, asarrays, check_choice, device_of, promote
from .._base.host_task import host_op
from .._base.primitive import numpy_when_small

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["isin", "intersect1d", "union1d", "setdiff1d", "setxor1d"]


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

    Raises
    ------
    ValueError
        For another kind, or "table" for dtypes other than integers.

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


@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: Literal[False] = False
) -> Array: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, return_indices: Literal[True]
) -> tuple[Array, Array, Array]: ...
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
    a, b = _values(ar1, ar2)
    options: dict[str, Any] = {"assume_unique": assume_unique, "return_indices": return_indices}
    found = numpy.intersect1d(a, b, **options)
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
    """Return the sorted distinct values that are in ar1 but not in ar2, in the dtype of ar1. Waits.

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
    a, b = asarray(ar1).numpy(), asarray(ar2).numpy()
    return asarray(numpy.setdiff1d(a, b, assume_unique), device=device_of(ar1, ar2))


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
    a, b = _values(ar1, ar2)
    return asarray(numpy.setxor1d(a, b, assume_unique), device=device_of(ar1, ar2))
