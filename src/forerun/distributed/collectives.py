"""Operations between ranks: issued at once, in the program's order, beside everything else that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from ..extend import primitive
from ._peers import rank, size
from ._world import issue

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DTypeLike, Shape

__all__ = ["all_to_all", "allgather", "allreduce", "barrier", "broadcast", "recv", "reduce_scatter", "send"]

_OPS = ("sum", "mean", "max", "min")


def _operand(x: Any) -> tuple[Any, numpy.dtype]:
    """An array as MPI takes it, in one piece, and the dtype of the result. Floats of 16 bits travel as float32."""
    x = np.asarray(x)
    short = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
    return np.ascontiguousarray(x.astype("float32") if short else x).reshape(x.shape), x.dtype


def _checked(name: str, op: str, x: Array) -> None:
    if op not in _OPS:
        raise ValueError(f"{name}: op must be one of {', '.join(_OPS)}, got {op!r}")
    if op in ("max", "min") and x.dtype.kind == "c":
        raise TypeError(f"{name}: {op} must be of real numbers, got {x.dtype}")
    if x.dtype.kind == "b":
        raise TypeError(f"{name}: x must be of numbers, got {x.dtype}; x.astype('int64') has the number of ranks")


def _parts(name: str, x: Array) -> int:
    """How many rows each rank has of an array with parts for all."""
    if x.ndim == 0 or len(x) % size():
        raise ValueError(f"{name}: the first axis must divide by {size()} ranks, got shape {x.shape}")
    return len(x) // size()


def _reduced(name: str, x: object, op: str, shape: tuple[int, ...]) -> Any:
    sent, dtype = _operand(x)
    reduction = "sum" if op == "mean" else op
    count = int(numpy.prod(shape, dtype=int))
    y = issue(name, reduction, 0, count, sent, (shape, sent.dtype)).astype(dtype, copy=False)
    return y / size() if op == "mean" else y


@primitive(lambda g, op: _allreduce(g, op))
def _allreduce(x: Array, op: str) -> Array:
    y: Array = _reduced("allreduce", x, op, x.shape)
    return y


def allreduce(x: ArrayLike, op: str = "sum") -> Array:
    """Return the sum of the arrays of all ranks, or their mean, maximum or minimum.

    The gradient of a sum is the sum of the ranks' gradients, that of a mean their mean; maxima and minima have none.

    Parameters
    ----------
    x : array_like
        Of numbers, with the same shape and dtype on each rank.
    op : {"sum", "mean", "max", "min"}
        The function of the ranks' arrays.

    Returns
    -------
    array
        The same bits on all ranks. `x` itself, if there is one rank.

    Raises
    ------
    RankFailed
        Where the result is read: another rank has ended, or does something else.
    ValueError, TypeError
        `op` is another word, or cannot be computed of such numbers.

    Examples
    --------
    >>> from forerun import distributed as dist, np
    >>> dist.allreduce(np.array([1.0, 2.0])).tolist()      # of one rank
    [1.0, 2.0]
    """
    found = np.asarray(x)
    _checked("allreduce", op, found)
    if size() == 1:
        return found
    return _allreduce(found, op) if op in ("sum", "mean") else _reduced("allreduce", found, op, found.shape)


def broadcast(x: ArrayLike, root: int = 0) -> Array:
    """Return the array of one rank on all ranks.

    Parameters
    ----------
    x : array_like
        On each rank an array of the same shape and dtype.
    root : int
        The rank whose values are returned.

    Returns
    -------
    array
        A new array; `x` itself, if there is one rank.

    Raises
    ------
    ValueError
        There is no such rank.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.broadcast([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    _there("broadcast", "root", root)
    found = np.asarray(x)
    if size() == 1:
        return found
    sent, dtype = _operand(found)
    y = sent.copy()
    issue("broadcast", "none", root, y.size, None, y)
    same: Array = y.astype(dtype, copy=False)
    return same


def _there(name: str, parameter: str, number: int) -> None:
    if not 0 <= number < size():
        raise ValueError(f"{name}: {parameter} must be a rank in [0, {size()}), got {number}")


def allgather(x: ArrayLike) -> Array:
    """Return the arrays of all ranks, stacked along a new first axis.

    Parameters
    ----------
    x : array_like
        Of the same shape and dtype on each rank.

    Returns
    -------
    array
        Of shape `(size(), *x.shape)`.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.allgather([1.0, 2.0]).tolist()
    [[1.0, 2.0]]
    """
    sent, dtype = _operand(x)
    if size() == 1:
        return np.asarray(sent[None], dtype)
    y = issue("allgather", "none", 0, sent.size, sent, ((size(), *sent.shape), sent.dtype))
    found: Array = y.astype(dtype, copy=False)
    return found


def reduce_scatter(x: ArrayLike, op: str = "sum") -> Array:
    """Return this rank's part of the sum of the arrays of all ranks, or of their mean, maximum or minimum.

    Parameters
    ----------
    x : array_like
        Of numbers. The first axis has as many rows for each rank, in their order.
    op : {"sum", "mean", "max", "min"}
        The function of the ranks' arrays.

    Returns
    -------
    array
        Of shape `(len(x) // size(), *x.shape[1:])`.

    Raises
    ------
    ValueError
        The first axis does not divide by the number of ranks.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.reduce_scatter([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    found = np.asarray(x)
    _checked("reduce_scatter", op, found)
    rows = _parts("reduce_scatter", found)
    return found if size() == 1 else _reduced("reduce_scatter", found, op, (rows, *found.shape[1:]))


def all_to_all(x: ArrayLike) -> Array:
    """Send each rank its part of an array, and return the parts that all ranks have for this one.

    Parameters
    ----------
    x : array_like
        The first axis has as many rows for each rank, in their order.

    Returns
    -------
    array
        Of the shape of `x`: the parts of rank 0, of rank 1, and so on.

    Raises
    ------
    ValueError
        The first axis does not divide by the number of ranks.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.all_to_all([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    sent, dtype = _operand(x)
    _parts("all_to_all", sent)
    if size() == 1:
        return np.asarray(sent, dtype)
    y = issue("all_to_all", "none", 0, sent.size // size(), sent, (sent.shape, sent.dtype))
    found: Array = y.astype(dtype, copy=False)
    return found


def send(x: ArrayLike, to: int) -> None:
    """Send an array to another rank, which must call `recv`.

    Parameters
    ----------
    x : array_like
        Its values at this place of the program are sent.
    to : int
        The rank that gets it.

    Raises
    ------
    ValueError
        There is no such rank, or it is this one.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.send([1.0], to=0)
    Traceback (most recent call last):
    ValueError: send: to must be another rank, got 0
    """
    _other("send", "to", to)
    sent, _ = _operand(x)
    issue("send", "none", to, sent.size, sent, None)


def _other(name: str, parameter: str, number: int) -> None:
    _there(name, parameter, number)
    if number == rank():
        raise ValueError(f"{name}: {parameter} must be another rank, got {number}")


def recv(shape: Shape, dtype: DTypeLike = "float32", source: int = 0) -> Array:
    """Return an array that another rank sends.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array that is sent.
    dtype : dtype_like
        Its dtype.
    source : int
        The rank that sends it.

    Returns
    -------
    array
        A new array, which is computed when the values have arrived.

    Raises
    ------
    ValueError
        There is no such rank, or it is this one.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.recv((2,), source=0)
    Traceback (most recent call last):
    ValueError: recv: source must be another rank, got 0
    """
    _other("recv", "source", source)
    y, wanted = _operand(np.empty(shape, dtype))
    issue("recv", "none", source, y.size, None, y)
    found: Array = y.astype(wanted, copy=False)
    return found


def barrier() -> None:
    """Let operations between ranks that are issued later begin when all ranks have come to this one.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.barrier()
    """
    if size() > 1:
        issue("barrier", "none", 0, 0, None, None)
