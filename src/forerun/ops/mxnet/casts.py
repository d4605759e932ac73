"""Casts among floats, as training in mixed precision needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.convert import as_dtype, asarray, asarrays, cast, is_inexact, promote

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = ["amp_cast", "amp_multicast"]


def amp_cast(data: ArrayLike, dtype: DTypeLike) -> Array:
    """Return an array of floats in another dtype, and an array of another kind unchanged.

    Parameters
    ----------
    data : array_like
        The values.
    dtype : dtype
        The dtype that floats, and complex numbers, are converted to.

    Returns
    -------
    array
        `data` in that dtype if it has floats or complex numbers; otherwise, or if it has that dtype already, `data`
        itself.

    Raises
    ------
    TypeError
        For a dtype that arrays cannot have.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.amp_cast(np.ones(2), "float16").dtype, npx.amp_cast(np.arange(2), "float16").dtype
    (dtype('float16'), dtype('int64'))
    """
    x, want = asarray(data), as_dtype("amp_cast", dtype)
    return cast(x, want) if is_inexact(x.dtype) and x.dtype != want else x


def amp_multicast(*arrays: Array, num_outputs: int | None = None, cast_narrow: bool = False) -> list[Array]:
    """Return arrays in one dtype: the widest that those of floats among them have, or the narrowest.

    Arrays that are not of floats are returned unchanged.

    Parameters
    ----------
    *arrays : array_like
        The arrays.
    num_outputs : int, optional
        The number of arrays, which is checked if it is given.
    cast_narrow : bool, optional
        False converts to the dtype that the dtypes of floats are promoted to; True to the one with the smallest
        elements.

    Returns
    -------
    list of arrays
        The arrays in that dtype, in the order of the arguments.

    Raises
    ------
    ValueError
        If `num_outputs` is given and is not the number of arrays.

    Examples
    --------
    >>> from forerun import np, npx
    >>> [x.dtype.name for x in npx.amp_multicast(np.ones(2), np.ones(2, dtype="float16"))]
    ['float32', 'float32']
    """
    given = asarrays(*arrays)
    if num_outputs not in (None, len(given)):
        raise ValueError(f"amp_multicast: num_outputs must be the number of arrays, got {num_outputs} for {len(given)}")
    dtypes = [x.dtype for x in given if is_inexact(x.dtype)]
    if not dtypes:
        return list(given)
    want = min(dtypes, key=lambda d: d.itemsize) if cast_narrow else promote(*dtypes)
    return [amp_cast(x, want) for x in given]
