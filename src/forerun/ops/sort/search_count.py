"""Places of values in a sorted vector; how often each integer occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy

from .._base import core as _core
from .._base.convert import (
    as_index_array,
    asarray,
    asarray_like_device,
    check_choice,
    count_of,
    device_of,
    is_array,
    vector_of,
)
from .._base.host_task import host_op
from .._base.primitive import numpy_when_small

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["bincount", "searchsorted"]


@numpy_when_small(numpy.ndarray.searchsorted, "a v side", "hns")
def searchsorted(
    a: ArrayLike, v: ArrayLike, side: Literal["left", "right"] = "left", sorter: ArrayLike | None = None
) -> Array:
    """Return positions at which v would keep the sorted vector `a` sorted: int64, of the shape of v.

    Parameters
    ----------
    a : array_like
        A sorted vector.
    v : array_like
        The values to find places for.
    side : str, optional
        Before ("left") or after ("right") equal elements.
    sorter : array_like, optional
        Positions that sort `a`, as `argsort` gives them (TypeError if no vector of integers).

    Returns
    -------
    array
        Positions at which v would keep the sorted vector `a` sorted.

    Raises
    ------
    ValueError
        If `a` is not a vector, or where the result is read if a position of the sorter is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> np.searchsorted([1, 3, 5], [0, 3, 6]).tolist(), np.searchsorted([1, 3, 5], 3, side="right").item()
    ([0, 1, 3], 2)
    """
    check_choice("searchsorted", "side", side, ("left", "right"))
    x, values = vector_of("searchsorted", asarray_like_device(a, v, sorter)), asarray_like_device(v, a, sorter)
    inputs = [x, values]
    if sorter is not None:
        order = sorter if is_array(sorter) else as_index_array(sorter, x.device)
        if order.dtype.kind not in "iu" or order.ndim != 1:
            raise TypeError(f"searchsorted: sorter must be a vector of integers, got {order.dtype}, {order.shape}")
        if order.shape != x.shape:
            raise ValueError(f"searchsorted: sorter must have shape {x.shape}, got {order.shape}")
        inputs.append(order)
    found = lambda a, v, order=None: numpy.searchsorted(a, v, side, order)
    return host_op("searchsorted", found, inputs, values.shape, "int64")


@numpy_when_small(numpy.bincount, "x weights minlength", "rAc", waits=True)
def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0) -> Array:
    """Count how often each number from 0 on occurs in a vector. The result is int64.

    If weights are given, sums of them: float64. At least `minlength` counts. Their number depends on the values: this
    waits.

    Parameters
    ----------
    x : array_like
        A vector of integers, none negative.
    weights : array_like, optional
        How much each number counts.
    minlength : int, optional
        The least number of counts.

    Returns
    -------
    array
        The counts, or the sums of weights.

    Raises
    ------
    TypeError
        If numbers are not integers.
    ValueError
        If one is negative or weights have another shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.bincount([0, 2, 2]).tolist(), np.bincount([0, 2, 2], weights=[0.5, 1, 2]).tolist()
    ([1, 0, 2], [0.5, 0.0, 3.0])
    """
    there = device_of(x, weights)
    x, minlength = vector_of("bincount", as_index_array(x)), count_of("bincount", "minlength", minlength)
    if x.dtype.kind not in "iub":
        raise TypeError(f"bincount: array must be of integers, got {x.dtype}")
    weights = None if weights is None else asarray(weights)
    if weights is not None and weights.shape != x.shape:
        raise ValueError(f"bincount: weights must have shape {x.shape}, got {weights.shape}")
    if x.dtype == numpy.uint64 and x.size and (most := x.numpy().max()) >= 1 << 63:
        raise ValueError(f"bincount: numbers must fit into int64, got {most}")
    values = numpy.ascontiguousarray(x.numpy(), numpy.int64)
    more: Any = () if weights is None else (numpy.ascontiguousarray(weights.numpy(), numpy.float64),)
    counts: Any = _core.count_numbers(values, minlength, *more)
    return _core.taken(counts, there)
