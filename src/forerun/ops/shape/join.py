"""Arrays put together, along an axis that they have or along a new one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import (
    NUMBERS,
    as_dtype,
    asarray,
    asarray_like_device,
    asarrays,
    axis_of,
    cast,
    copy,
    promote,
    write_out,
)
from .._base.primitive import direct
from .._base.registry import register
from .reshape import atleast_1d, atleast_2d, atleast_3d, expand_dims, reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike, Out

__all__ = ["column_stack", "concatenate", "dstack", "hstack", "stack", "vstack", "block"]


def _part(axis: int, begin: int, end: int) -> tuple[slice, ...]:
    """Return the index of a part along an axis."""
    return (*(slice(None),) * axis, slice(begin, end))


class _Concatenate:
    """Concatenation takes any number of arrays, so it records itself."""

    name = "concatenate"
    stateless = True

    def gradients(self, g: Array, inputs: tuple[Any, ...], axis: int) -> list[Any]:
        """Return the parts that the inputs had."""
        ends = list(itertools.accumulate(x.shape[axis] for x in inputs))
        return [g[_part(axis, end - x.shape[axis], end)] for x, end in zip(inputs, ends)]

    def exported_attributes(self, axis: int) -> int:
        """Return the arguments of `repeated` besides the inputs."""
        return axis

    def repeated(self, inputs: Sequence[Any], axis: int) -> Array:
        """Return the op once more."""
        return self(inputs, axis)

    def __call__(self, arrays: Sequence[Any], axis: int) -> Array:
        out = _core.concatenate(arrays, axis)
        if _core.recording():
            _core.record(self, tuple(arrays), (out,), axis, 0)
        return out


_concatenate = _Concatenate()
register(__name__, _concatenate)


def _some(op: str, arrays: Sequence[Any]) -> list[Any]:
    """Return the operands as arrays. ValueError without any."""
    all_ = asarrays(*arrays)
    if not all_:
        raise ValueError(f"{op}: there must be at least one array, got none")
    return all_


def _common(op: str, arrays: list[Any], out: Any, dtype: Any, casting: Any) -> list[Any]:
    """Return arrays of one dtype: the requested one, or the promotion of theirs. TypeError if casting forbids it."""
    if out is not None and dtype is not None:
        raise TypeError(f"{op}: out and dtype must not both be given, got {dtype}")
    want = as_dtype(op, dtype) if dtype is not None else promote(*(a.dtype for a in arrays))
    into = want if out is None else out.dtype
    for a in arrays:
        if (dtype is not None or out is not None) and not numpy.can_cast(a.dtype, into, casting):
            raise TypeError(f"{op}: casting must be possible by rule {casting!r}, got {a.dtype} to {into}")
    return [a if a.dtype == want else cast(a, want) for a in arrays]


@direct("concatenate")
def concatenate(
    arrays: Sequence[ArrayLike], /, axis: int | None = 0, out: Out = None, *, dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Array:  # fmt: skip
    """Return the arrays one after the other along an existing axis; None: all flat. Their dtypes are promoted.

    Parameters
    ----------
    arrays : sequence of arrays
        The arrays to put together.
    axis : int, optional
        The axis to put arrays together along; None for all flat.
    out : array, optional
        An array for it.
    dtype : dtype, optional
        That of the result.
    casting : str, optional
        NumPy's rule for either (TypeError if it forbids that).

    Returns
    -------
    array
        The arrays one after the other along an existing axis.

    Raises
    ------
    ValueError
        If no arrays are given, or if they differ in shape along another axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.concatenate([[[1, 2]], [[3, 4], [5, 6]]]).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    all_ = _some("concatenate", arrays)
    if axis is None:
        all_, axis = [reshape(a, -1) for a in all_], 0
    all_ = _common("concatenate", all_, out, dtype, casting)
    result = _concatenate(all_, axis_of("concatenate", axis, all_[0].ndim))
    return result if out is None else write_out("concatenate", cast(result, out.dtype), out)


@direct("stack")
def stack(
    arrays: Sequence[ArrayLike], axis: int = 0, out: Out = None, *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Array:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of arrays
        The arrays to put together.
    axis : int, optional
        The position of the new axis in the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If shapes differ or there is no array.

    Examples
    --------
    >>> from forerun import np
    >>> np.stack([[1, 2], [3, 4]]).tolist(), np.stack([[1, 2], [3, 4]], axis=1).tolist()
    ([[1, 2], [3, 4]], [[1, 3], [2, 4]])
    """
    all_ = _some("stack", arrays)
    if any(a.shape != all_[0].shape for a in all_):
        raise ValueError(f"stack: arrays must have one shape, got {sorted({a.shape for a in all_})}")
    wide = [expand_dims(a, axis) for a in all_]
    return concatenate(wide, axis, out, dtype=dtype, casting=casting)


@direct("vstack")
def vstack(tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind", out: Out = None) -> Array:
    """Stack arrays row by row; vectors count as rows.

    dtype, casting, out: as for `concatenate`.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If widths differ or there is no array.

    Examples
    --------
    >>> from forerun import np
    >>> np.vstack([[1, 2], [[3, 4], [5, 6]]]).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    rows = [atleast_2d(a) for a in _some("vstack", tup)]
    return concatenate(rows, 0, out, dtype=dtype, casting=casting)


@direct("hstack")
def hstack(tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Stack arrays column by column; vectors end to end.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.
    dtype : dtype, optional
        The dtype of the result.
    casting : str, optional
        NumPy's rule for casts that are allowed.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If shapes do not fit or there is no array.

    Examples
    --------
    >>> from forerun import np
    >>> np.hstack([[1, 2], [3]]).tolist(), np.hstack([[[1], [2]], [[3], [4]]]).tolist()
    ([1, 2, 3], [[1, 3], [2, 4]])
    """
    tup = list(tup)
    if dtype is None and any(type(x) in NUMBERS for x in tup):  # so others are vectors, or numbers too
        return concatenate([[x] if type(x) in NUMBERS else atleast_1d(x) for x in tup])
    all_ = [atleast_1d(a) for a in _some("hstack", tup)]
    return concatenate(all_, 0 if all_[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Sequence[ArrayLike]) -> Array:
    """Return arrays put together along the third axis; those with fewer axes as `atleast_3d` makes them.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.

    Returns
    -------
    array
        Arrays put together along the third axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.dstack([[1, 2], [3, 4]]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return concatenate([atleast_3d(a) for a in _some("dstack", tup)], 2)


def column_stack(tup: Sequence[ArrayLike]) -> Array:
    """Stack vectors as the columns of a matrix; matrices are joined along their second axis.

    Parameters
    ----------
    tup : sequence of arrays
        The arrays to put together.

    Returns
    -------
    array
        The matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.column_stack([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    all_ = _some("column_stack", tup)
    return concatenate([reshape(a, (a.size, 1)) if a.ndim < 2 else a for a in all_], 1)


def _depth(blocks: ArrayLike) -> int:
    """Return how many lists there are around each array. ValueError if not the same for all."""
    if not isinstance(blocks, list):
        return 0
    depths = {_depth(b) for b in blocks}
    if len(depths) != 1:
        raise ValueError("block: lists must not be empty and all of one depth, got " + repr(sorted(depths)))
    return depths.pop() + 1


def block(arrays: Array) -> Array:
    """Return an array from nested lists of blocks.

    Blocks in the innermost lists are joined along the last axis, the results along the second to last, and so on.

    Parameters
    ----------
    arrays : nested lists of arrays
        Nested lists of arrays.

    Returns
    -------
    array
        An array from nested lists of blocks.

    Raises
    ------
    ValueError
        If lists are empty or not of one depth, or shapes do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> a = np.ones((2, 2), "int64")
    >>> np.block([[a, 0 * a], [5 * a[:1], a[:1]]]).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [5, 5, 1, 1]]
    """
    depth = _depth(arrays)

    def leaves(blocks: ArrayLike) -> list[Any]:
        return (
            [x for b in blocks for x in leaves(b)]
            if isinstance(blocks, list)
            else [asarray_like_device(blocks, arrays)]
        )

    ndim = max(depth, *(x.ndim for x in leaves(arrays)))

    def joined(blocks: ArrayLike, level: int) -> Array:
        if isinstance(blocks, list):
            return concatenate([joined(b, level - 1) for b in blocks], -level)
        x = asarray_like_device(blocks, arrays)
        return reshape(x, (1,) * (ndim - x.ndim) + x.shape)

    return joined(arrays, depth) if depth else copy(asarray(arrays))
