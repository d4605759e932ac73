"""Positions of elements: of triangles and diagonals, of grids, in flat arrays and in shaped ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy

from ..._runtime.device import resolve
from .._base import core as _core
from .._base.convert import (
    as_index_array,
    asarray,
    asarray_like_device,
    asarrays,
    broadcast_shapes,
    check_choice,
    count_of,
    extents_of,
    vector_of,
)
from .._base.host_task import host_op, host_ops
from .._base.primitive import numpy_when_small
from ..elementwise.select import nonzero
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DeviceLike, Shape

__all__ = [
    "diag_indices", "diag_indices_from", "ix_", "ravel_multi_index", "tril_indices", "tril_indices_from",
    "triu_indices", "triu_indices_from", "unravel_index",
]  # fmt: skip


def _placed(arrays: Sequence[numpy.ndarray], device: DeviceLike) -> tuple[Array, ...]:
    return tuple(_core.taken(a, resolve(device)) for a in arrays)


def tril_indices(n: int, k: int = 0, m: int | None = None, *, device: DeviceLike = None) -> tuple[Array, ...]:
    """Return rows and columns of the elements at and below diagonal k of an n by m matrix (m = n by default). int64.

    Parameters
    ----------
    n : int
        The number of rows.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    m : int, optional
        The number of columns; by default that of rows.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    tuple of arrays
        Rows and columns of the elements at and below diagonal k of an n by m matrix (m = n by default).

    Raises
    ------
    TypeError
        If an extent is not an integer.
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> [i.tolist() for i in np.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    rows = count_of("tril_indices", "n", n)
    columns = rows if m is None else count_of("tril_indices", "m", m)
    return _placed(numpy.tril_indices(rows, k, columns), device)


def triu_indices(n: int, k: int = 0, m: int | None = None, *, device: DeviceLike = None) -> tuple[Array, ...]:
    """Return rows and columns of the elements at and above diagonal k of an n by m matrix (m = n by default). int64.

    Parameters
    ----------
    n : int
        The number of rows.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    m : int, optional
        The number of columns; by default that of rows.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    tuple of arrays
        Rows and columns of the elements at and above diagonal k of an n by m matrix (m = n by default).

    Raises
    ------
    TypeError
        If an extent is not an integer.
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> [i.tolist() for i in np.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    rows = count_of("triu_indices", "n", n)
    columns = rows if m is None else count_of("triu_indices", "m", m)
    return _placed(numpy.triu_indices(rows, k, columns), device)


def _matrix(op: str, x: ArrayLike) -> Any:
    x = asarray(x)
    if x.ndim != 2:
        raise ValueError(f"{op}: array must be a matrix, got shape {x.shape}")
    return x


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """Return rows and columns of the elements at and below diagonal k of a matrix.

    Parameters
    ----------
    arr : array_like
        An array whose shape is used.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    tuple of arrays
        Rows and columns of the elements at and below diagonal k of a matrix.

    Raises
    ------
    ValueError
        If `arr` is not a matrix.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> x[np.tril_indices_from(x)].tolist()
    [1, 3, 4]
    """
    x = _matrix("tril_indices_from", arr)
    return tril_indices(x.shape[0], k, x.shape[1], device=x.device)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """Return rows and columns of the elements at and above diagonal k of a matrix.

    Parameters
    ----------
    arr : array_like
        An array whose shape is used.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.

    Returns
    -------
    tuple of arrays
        Rows and columns of the elements at and above diagonal k of a matrix.

    Raises
    ------
    ValueError
        If `arr` is not a matrix.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> x[np.triu_indices_from(x)].tolist()
    [1, 2, 4]
    """
    x = _matrix("triu_indices_from", arr)
    return triu_indices(x.shape[0], k, x.shape[1], device=x.device)


def diag_indices(n: int, ndim: int = 2, *, device: DeviceLike = None) -> tuple[Array, ...]:
    """Return positions of the main diagonal of an array with ndim axes of extent n, one int64 vector for each axis.

    Parameters
    ----------
    n : int
        The extent of each axis.
    ndim : int, optional
        The number of axes.
    device : device, optional
        The device of the result; by default the current one.

    Returns
    -------
    tuple of arrays
        Positions of the main diagonal of an array with ndim axes of extent n.

    Examples
    --------
    >>> from forerun import np
    >>> [i.tolist() for i in np.diag_indices(3)]
    [[0, 1, 2], [0, 1, 2]]
    """
    (positions,) = _placed([numpy.arange(count_of("diag_indices", "n", n))], device)
    return (positions,) * count_of("diag_indices", "ndim", ndim)


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """Return positions of the main diagonal of an array whose axes have one extent, as `diag_indices`.

    Parameters
    ----------
    arr : array_like
        An array whose shape is used.

    Returns
    -------
    tuple of arrays
        Positions of the main diagonal of an array whose axes have one extent.

    Raises
    ------
    ValueError
        If they have not, or there are not two.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> x[np.diag_indices_from(x)].tolist()
    [1, 4]
    """
    x = asarray(arr)
    if x.ndim < 2 or len(set(x.shape)) != 1:
        raise ValueError(f"diag_indices_from: array must have two or more equal axes, got shape {x.shape}")
    return diag_indices(x.shape[0], x.ndim, device=x.device)


def ix_(*args: Any) -> tuple[Array, ...]:
    """Return vectors of positions, shaped so that together they pick all combinations.

    A mask is replaced by the positions of its true elements, which waits for it.

    Parameters
    ----------
    *args : array_like
        Vectors of positions, or masks.

    Returns
    -------
    tuple of arrays
        Vectors of positions.

    Raises
    ------
    ValueError
        If an argument is not a vector.

    Examples
    --------
    >>> from forerun import np
    >>> np.arange(6).reshape(2, 3)[np.ix_([0, 1], [0, 2])].tolist()
    [[0, 2], [3, 5]]
    """
    if args and all(type(v) is list and v and all(type(i) is int for i in v) for v in args):
        return tuple(_core.from_numpy(v) for v in numpy.ix_(*args))
    found = [
        vector_of("ix_", asarray_like_device(numpy.asarray(v, "int64") if _is_empty(v) else v, *args)) for v in args
    ]
    found = [nonzero(v)[0] if v.dtype.kind == "b" else v for v in found]
    return tuple(reshape(v, tuple(-1 if i == k else 1 for i in range(len(found)))) for k, v in enumerate(found))


def _is_empty(v: Array) -> bool:
    return isinstance(v, (list, tuple)) and not v


@numpy_when_small(numpy.unravel_index, "indices shape order", "nts")
def unravel_index(indices: ArrayLike, shape: Shape, order: Literal["C", "F"] = "C") -> tuple[Array, ...]:
    """Convert positions in the flat array to positions along each axis of a shape: int64, one array per axis.

    Parameters
    ----------
    indices : array_like
        The positions in the flat array.
    shape : int or tuple of ints
        The shape of the array.
    order : str, optional
        "F" if the first axis runs fastest in the flat array.

    Returns
    -------
    tuple of arrays
        The positions along each axis.

    Raises
    ------
    TypeError
        If positions are not integers.
    ValueError
        Where they are read if one is out of range.

    Examples
    --------
    >>> from forerun import np
    >>> [i.tolist() for i in np.unravel_index([5, 3], (2, 3))]
    [[1, 1], [2, 0]]
    """
    x = as_index_array(indices)
    extents = tuple(count_of("unravel_index", "extents", n) for n in extents_of("unravel_index", "shape", shape))
    if x.dtype.kind not in "iu":
        raise TypeError(f"unravel_index: positions must be integers, got {x.dtype}")
    check_choice("unravel_index", "order", order, ("C", "F"))

    def found(v: numpy.ndarray) -> tuple[numpy.ndarray, ...]:
        return tuple(map(numpy.asarray, numpy.unravel_index(v, extents, order)))

    if len(extents) == 1:
        return (host_op("unravel_index", lambda v: found(v)[0], [x], x.shape, "int64"),)
    return tuple(host_ops("unravel_index", found, [x], [(x.shape, "int64")] * len(extents)))


@numpy_when_small(numpy.ravel_multi_index, "multi_index dims mode order", "ltss")
def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    dims: Sequence[int],
    mode: Literal["raise", "wrap", "clip"] = "raise",
    order: Literal["C", "F"] = "C",
) -> Array:
    """Convert positions along each axis of an array of shape `dims` to positions in the flat array. int64.

    Parameters
    ----------
    multi_index : tuple of arrays
        The positions along each axis.
    dims : tuple of ints
        The shape of the array.
    mode : str, optional
        The treatment of positions out of range: "raise" (ValueError where the result is read), "clip", "wrap".
    order : str, optional
        "F" if the first axis runs fastest in the flat array.

    Returns
    -------
    array
        The positions in the flat array.

    Raises
    ------
    ValueError
        If there is not an array of positions for each axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.ravel_multi_index(([1, 1], [2, 0]), (2, 3)).tolist()
    [5, 3]
    """
    check_choice("ravel_multi_index", "mode", mode, ("raise", "clip", "wrap"))
    check_choice("ravel_multi_index", "order", order, ("C", "F"))
    extents = tuple(count_of("ravel_multi_index", "dims", n) for n in dims)
    arrays = asarrays(*multi_index)
    if len(arrays) != len(extents):
        raise ValueError(f"ravel_multi_index: there must be {len(extents)} arrays of positions, got {len(arrays)}")
    shape = broadcast_shapes("ravel_multi_index", *(a.shape for a in arrays))

    def found(*v: numpy.ndarray) -> numpy.ndarray:
        return numpy.asarray(numpy.ravel_multi_index(v, extents, mode, order))

    return host_op("ravel_multi_index", found, arrays, shape, "int64")
