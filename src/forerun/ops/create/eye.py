"""Matrices of ones and zeros: ones on a diagonal, or at and below one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import check_choice, unsupported
from .._base.primitive import direct
from ..shape.axis_order import transpose
from .arguments import _device, _float_or
from .fill import zeros

if TYPE_CHECKING:
    from ...typing import Array, DeviceLike, DTypeLike

__all__ = ["eye", "identity", "tri"]


@direct("eye")
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None,
    like: None = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return ones on diagonal k (above the main one if positive) of an N by M matrix, zeros elsewhere.

    M is N and the dtype the default float unless given.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, optional
        The number of columns; by default that of rows.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    dtype : dtype, optional
        The dtype; by default the default float.
    order : str, optional
        The order of the elements in memory: "C" or "F".
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        Ones on diagonal k (above the main one if positive) of an N by M matrix.

    Raises
    ------
    ValueError
        If an extent is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    unsupported("eye", like=like)
    if order == "F":
        return transpose(eye(N if M is None else M, N, -k, dtype, device=device, ctx=ctx))
    check_choice("eye", "order", order, ("C", "F"))
    columns = N if M is None else M
    result = zeros((N, columns), dtype, device=device, ctx=ctx)
    length = max(0, min(N + min(k, 0), columns - max(k, 0)))
    if length:
        size = result.itemsize
        start = (max(-k, 0) * columns + max(k, 0)) * size
        _core.assign(_core.view(result, (length,), ((columns + 1) * size,), start), 1)
    return result


@direct("identity")
def identity(
    n: int, dtype: DTypeLike = None, *, like: None = None, device: DeviceLike = None, ctx: DeviceLike = None
) -> Array:
    """Return the n by n identity matrix, of the default float unless dtype is given.

    Parameters
    ----------
    n : int
        The number of rows, and of columns.
    dtype : dtype, optional
        The dtype; by default the default float.
    like : None, optional
        Must not be given.
    device : device, optional
        The device of the result; by default the current one.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The n by n identity matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype, device=device, like=like, ctx=ctx)


@direct("tri")
def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None, *, device: DeviceLike = None,
    like: None = None, ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Return ones at and below diagonal k of an N by M matrix, zeros above; the default float unless dtype is given.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, optional
        The number of columns; by default that of rows.
    k : int, optional
        The diagonal: 0 for the main one, positive above it, negative below it.
    dtype : dtype, optional
        The dtype; by default the default float.
    device : device, optional
        The device of the result; by default the current one.
    like : None, optional
        Must not be given.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        Ones at and below diagonal k of an N by M matrix.

    Examples
    --------
    >>> from forerun import np
    >>> np.tri(2, 3, dtype=int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    unsupported("tri", like=like)
    return _core.taken(numpy.tri(N, M, k, _float_or(dtype, "tri")), _device(device, ctx))
