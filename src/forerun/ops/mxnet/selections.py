"""Elements selected along an axis: one for each slice, or the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .._base.convert import asarray, asarray_like_device, axis_of, cast
from ..index.getitem import _gather_along, take_along_axis
from ..shape.reshape import reshape
from ..sort.sort import argsort, argsort_from_largest

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["pick", "topk", "batch_take"]


def _one_each(op: str, x: Array, index: ArrayLike, axis: int) -> Array:
    """Return one position along the axis for each slice: integers with extent 1 there."""
    index = asarray_like_device(index, x)
    if index.dtype.kind != "i":
        index = cast(index, numpy.dtype("int64"))
    shape = x.shape
    before, after = shape[:axis], shape[axis + 1 :]
    if index.shape == (*before, 1, *after):
        return index
    if index.shape != before + after:
        raise ValueError(f"{op}: index must have x's shape without axis {axis}, got {index.shape} for {shape}")
    return reshape(index, (*before, 1, *after))


def pick(x: ArrayLike, index: ArrayLike, axis: int = -1, keepdims: bool = False) -> Array:
    """Return one element of each slice along `axis`: the one at the position that `index` gives.

    Parameters
    ----------
    x : array_like
        The values.
    index : array_like
        The positions, of x's shape without `axis`, or with extent 1 there. Those that are not integers are converted to
        int64.
    axis : int, optional
        The axis to pick along.
    keepdims : bool, optional
        Whether the axis stays, with extent 1.

    Returns
    -------
    array
        The picked elements, of x's shape without `axis`, or with extent 1 there if `keepdims` is True.

    Raises
    ------
    ValueError
        If `index` is of another shape.
    IndexError
        If the axis is out of range; where the result is read, if a position is not in [0, n), n being the extent of the
        axis: also for negative positions, which are most often padding.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.pick([[1, 2], [3, 4]], [0, 1]).tolist()
    [1, 4]
    """
    x = asarray_like_device(x, index)
    a = axis_of("pick", axis, x.ndim)
    picked = _gather_along(x, _one_each("pick", x, index, a), a, "pick", False)
    return picked if keepdims else reshape(picked, x.shape[:a] + x.shape[a + 1 :])


def batch_take(a: ArrayLike, indices: ArrayLike) -> Array:
    """Return one element of each row of a matrix.

    Parameters
    ----------
    a : array_like
        The matrix, of shape (rows, columns).
    indices : array_like
        The column of each row's element, of shape (rows,). Negative ones count from the end, and those of another dtype
        than integers are converted to int64.

    Returns
    -------
    array
        The elements, of shape (rows,), in the dtype of `a`.

    Raises
    ------
    ValueError
        If `a` is not a matrix, or `indices` has not one number for each row.
    IndexError
        Where the result is read, for a position that a row has not.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.batch_take([[1, 2], [3, 4]], [0, 1]).tolist()
    [1, 4]
    """
    x = asarray_like_device(a, indices)
    at = asarray_like_device(indices, x)
    if x.ndim != 2 or at.shape != x.shape[:1]:
        raise ValueError(f"batch_take: there must be one position for each row, got {at.shape} for {x.shape}")
    at = at if at.dtype.kind in "iu" else cast(at, numpy.dtype("int64"))
    return reshape(take_along_axis(x, reshape(at, (-1, 1)), 1), at.shape)


@overload
def topk(x: ArrayLike, k: int, axis: int, ret_typ: Literal["both"], is_ascend: bool = False) -> list[Array]: ...
@overload
def topk(
    x: ArrayLike, k: int = 1, axis: int = -1, *, ret_typ: Literal["both"], is_ascend: bool = False
) -> list[Array]: ...
@overload
def topk(
    x: ArrayLike, k: int = 1, axis: int = -1, ret_typ: Literal["indices", "value"] = "indices", is_ascend: bool = False
) -> Array: ...
def topk(x: ArrayLike, k: int = 1, axis: int = -1, ret_typ: str = "indices", is_ascend: bool = False) -> Any:
    """Return the k largest elements along `axis`, in descending order, or their positions.

    Parameters
    ----------
    x : array_like
        The values.
    k : int, optional
        The number of elements.
    axis : int, optional
        The axis to select along.
    ret_typ : str, optional
        The kind of result: "indices", "value", or "both".
    is_ascend : bool, optional
        Whether the k smallest elements are selected, in ascending order.

    Returns
    -------
    array, or list of arrays
        The positions along the axis (int64) for "indices", the elements in x's dtype for "value", or a list of elements
        and positions for "both". Their shape is x's with extent `k` along the axis.

    Raises
    ------
    ValueError
        If `ret_typ` is another word, or `k` is not between 1 and the extent of the axis.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.topk([3, 1, 2], 2).tolist(), npx.topk([3, 1, 2], 2, ret_typ="value").tolist()
    ([0, 2], [3, 2])
    """
    x = asarray(x)
    a = axis_of("topk", axis, x.ndim)
    if not 1 <= k <= x.shape[a]:
        raise ValueError(f"topk: k must be between 1 and {x.shape[a]}, got {k}")
    if ret_typ not in ("indices", "value", "both"):
        raise ValueError(f'topk: ret_typ must be "indices", "value" or "both", got {ret_typ!r}')
    order = (argsort(x, a) if is_ascend else argsort_from_largest(x, a))[(slice(None),) * a + (slice(0, k),)]
    if ret_typ == "indices":
        return order
    values = take_along_axis(x, order, a)
    return values if ret_typ == "value" else [values, order]
