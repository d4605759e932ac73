"""Operations between ranks: issued at once, in the program's order, beside everything else that runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from ..extend import primitive
from ._peers import rank, size
from ._world import issue
from .groups import Group

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DTypeLike, Shape

__all__ = ["all_to_all", "allgather", "allreduce", "barrier", "broadcast", "recv", "reduce_scatter", "send"]

_OPS = ("sum", "mean", "max", "min")


def _operand(x: Any) -> tuple[Any, numpy.dtype]:
    """An array as MPI takes it, in one piece, and the dtype of the result. Floats of 16 bits travel as float32."""
    x = np.asarray(x)
    dtype = x.dtype
    short = dtype.itemsize == 2 and dtype.kind not in "iu"
    return np.ascontiguousarray(x.astype("float32") if short else x).reshape(x.shape), dtype


def _checked(name: str, op: str, x: Array) -> None:
    if op not in _OPS:
        raise ValueError(f"{name}: op must be one of {', '.join(_OPS)}, got {op!r}")
    if op in ("max", "min") and x.dtype.kind == "c":
        raise TypeError(f"{name}: {op} must be of real numbers, got {x.dtype}")
    if x.dtype.kind == "b":
        raise TypeError(f"{name}: x must be of numbers, got {x.dtype}; x.astype('int64') has the number of ranks")


def _members(name: str, group: Group | None) -> tuple[int, int]:
    """The number of ranks that take part, and of the group, in which this rank must be."""
    if group is None:
        return size(), 0
    if group.rank < 0:
        raise ValueError(f"{name}: this rank must be in the group, got rank {rank()} and {group}")
    return group.size, group.number


def _place(group: Group | None, number: int) -> int:
    """The place of a rank in a group."""
    return number if group is None else group.ranks.index(number)


def _parts(name: str, x: Array, ranks: int) -> int:
    """How many rows each rank has of an array with parts for all."""
    if x.ndim == 0 or len(x) % ranks:
        raise ValueError(f"{name}: the first axis must divide by {ranks} ranks, got shape {x.shape}")
    return len(x) // ranks


def _reduced(name: str, x: object, op: str, shape: tuple[int, ...], group: Group | None, label: str = "") -> Any:
    sent, dtype = _operand(x)
    reduction = "sum" if op == "mean" else op
    ranks, number = _members(name, group)
    y = issue(name, reduction, 0, math.prod(shape), sent, (shape, sent.dtype), number, label)
    if sent.dtype != dtype:
        y = y.astype(dtype)
    return y / ranks if op == "mean" else y


@primitive(lambda g, op, group: _allreduce(g, op, group))
def _allreduce(x: Array, op: str, group: Group | None) -> Array:
    y: Array = _reduced("allreduce", x, op, x.shape, group)
    return y


def _to_root(g: Array, root: int, group: Group | None) -> Array:
    """The gradient of an array that one rank broadcast: the sum of all gradients on that rank, zero on the others."""
    total = _allreduce(g, "sum", group)
    return total if rank() == root else np.zeros_like(total)


@primitive(_to_root)
def _broadcast(x: Array, root: int, group: Group | None) -> Array:
    sent, dtype = _operand(x)
    y = sent.copy()
    issue("broadcast", "none", _place(group, root), y.size, None, y, _members("broadcast", group)[1])
    same: Array = y.astype(dtype, copy=False)
    return same


@primitive(lambda g, group: _reduce_scatter(g, "sum", group)[0])
def _allgather(x: Array, group: Group | None) -> Array:
    sent, dtype = _operand(x)
    ranks, number = _members("allgather", group)
    y = issue("allgather", "none", 0, sent.size, sent, ((ranks, *sent.shape), sent.dtype), number)
    found: Array = y.astype(dtype, copy=False)
    return found


def _all_rows(g: Array, op: str, group: Group | None) -> Array:
    """The gradient of a sum of which each rank has a part of the rows, or of a mean."""
    every = _allgather(g, group)
    rows: Array = every.reshape((-1, *g.shape[1:]))
    return rows / len(every) if op == "mean" else rows


@primitive(_all_rows)
def _reduce_scatter(x: Array, op: str, group: Group | None) -> Array:
    rows = len(x) // _members("reduce_scatter", group)[0]
    y: Array = _reduced("reduce_scatter", x, op, (rows, *x.shape[1:]), group)
    return y


@primitive(lambda g, group: _all_to_all(g, group))
def _all_to_all(x: Array, group: Group | None) -> Array:
    sent, dtype = _operand(x)
    ranks, number = _members("all_to_all", group)
    y = issue("all_to_all", "none", 0, sent.size // ranks, sent, (sent.shape, sent.dtype), number)
    found: Array = y.astype(dtype, copy=False)
    return found


def allreduced(x: Array, op: str, group: Group | None, label: str) -> Array:
    """Return the all-reduce of x, not recorded for gradients. label: as for `allreduce_into`."""
    y: Array = _reduced("allreduce", x, op, x.shape, group, label)
    return y


def allreduce_into(x: Array, op: str = "sum", group: Group | None = None, label: str = "") -> None:
    """Put the sum of the arrays of all ranks, or their mean, maximum or minimum, in the place of this rank's array.

    label: a name of the contents, to detect ranks that exchange different arrays of the same size. Not recorded for
    gradients.
    """
    _checked("allreduce", op, x)
    ranks, number = _members("allreduce", group)
    if ranks == 1:
        return
    sent, dtype = _operand(x)
    here = x if sent.dtype == dtype and x.flags.c_contiguous else sent
    issue("allreduce", "sum" if op == "mean" else op, 0, here.size, here, here, number, label)
    if op == "mean":
        here /= ranks
    if here is not x:
        x[...] = here


def allreduce(x: ArrayLike, op: str = "sum", group: Group | None = None) -> Array:
    """Return the sum of the arrays of all ranks, or their mean, maximum or minimum: the all-reduce of MPI.

    The gradient of a sum is the sum of the ranks' gradients, that of a mean their mean; maxima and minima have no
    gradient.

    Parameters
    ----------
    x : array_like
        Of numbers, with the same shape and dtype on each rank.
    op : {"sum", "mean", "max", "min"}
        The function of the ranks' arrays.
    group : Group, optional
        The ranks that take part; all by default.

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
    if _members("allreduce", group)[0] == 1:
        return found
    if op in ("sum", "mean"):
        return _allreduce(found, op, group)
    y: Array = _reduced("allreduce", found, op, found.shape, group)
    return y


def broadcast(x: ArrayLike, root: int = 0, group: Group | None = None) -> Array:
    """Return the array of one rank on all ranks.

    The gradient is the sum of all ranks' gradients on that rank, and zero on the others.

    Parameters
    ----------
    x : array_like
        On each rank an array of the same shape and dtype.
    root : int
        The rank whose values are returned.
    group : Group, optional
        The ranks that take part; all by default.

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
    _there("broadcast", "root", root, group)
    found = np.asarray(x)
    return found if _members("broadcast", group)[0] == 1 else _broadcast(found, root, group)


def _there(name: str, parameter: str, number: int, group: Group | None) -> None:
    if not 0 <= number < size():
        raise ValueError(f"{name}: {parameter} must be a rank in [0, {size()}), got {number}")
    if group is not None and number not in group.ranks:
        raise ValueError(f"{name}: {parameter} must be a rank of the group, got {number} and {group}")


def allgather(x: ArrayLike, group: Group | None = None) -> Array:
    """Return the arrays of all ranks, stacked along a new first axis.

    The gradient is the sum of the parts of the ranks' gradients that belong to this rank's array.

    Parameters
    ----------
    x : array_like
        Of the same shape and dtype on each rank.
    group : Group, optional
        The ranks that take part; all by default.

    Returns
    -------
    array
        Of shape `(size(), *x.shape)`, or with the size of the group.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.allgather([1.0, 2.0]).tolist()
    [[1.0, 2.0]]
    """
    found = np.asarray(x)
    if _members("allgather", group)[0] == 1:
        alone: Array = found[None].copy()
        return alone
    return _allgather(found, group)


def reduce_scatter(x: ArrayLike, op: str = "sum", group: Group | None = None) -> Array:
    """Return this rank's part of the sum of the arrays of all ranks, or of their mean, maximum or minimum.

    The gradient of a sum is the ranks' gradients, one after the other, that of a mean the same divided by the number of
    ranks; maxima and minima have no gradient.

    Parameters
    ----------
    x : array_like
        Of numbers, with the same shape and dtype on each rank. The first axis has as many rows for each rank, in their
        order.
    op : {"sum", "mean", "max", "min"}
        The function of the ranks' arrays.
    group : Group, optional
        The ranks that take part; all by default.

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
    ranks, _ = _members("reduce_scatter", group)
    rows = _parts("reduce_scatter", found, ranks)
    if ranks == 1:
        return found
    if op in ("sum", "mean"):
        return _reduce_scatter(found, op, group)
    y: Array = _reduced("reduce_scatter", found, op, (rows, *found.shape[1:]), group)
    return y


def all_to_all(x: ArrayLike, group: Group | None = None) -> Array:
    """Send each rank its part of an array, and return the parts that all ranks have for this one.

    The gradient sends each rank its part back.

    Parameters
    ----------
    x : array_like
        Of the same shape and dtype on each rank. The first axis has as many rows for each rank, in their order.
    group : Group, optional
        The ranks that take part; all by default.

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
    found = np.asarray(x)
    ranks, _ = _members("all_to_all", group)
    _parts("all_to_all", found, ranks)
    return found if ranks == 1 else _all_to_all(found, group)


def send(x: ArrayLike, to: int) -> None:
    """Send an array to another rank, which must call `recv`. No gradient comes back.

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
    sent = np.asarray(x)
    sent = np.ascontiguousarray(sent).reshape(sent.shape)
    issue("send", "none", to, sent.size, sent, None)


def _other(name: str, parameter: str, number: int) -> None:
    _there(name, parameter, number, None)
    if number == rank():
        raise ValueError(f"{name}: {parameter} must be another rank, got {number}")


def recv(shape: Shape, dtype: DTypeLike = "float32", source: int = 0) -> Array:
    """Return an array that another rank sends: a constant, for gradients.

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
    RankFailed
        Where the result is read: the shape or dtype is another than that of the `send`, or the other rank has ended.
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
    y = np.empty(shape, dtype)
    issue("recv", "none", source, y.size, None, y)
    return y


def barrier(group: Group | None = None) -> None:
    """Let operations between ranks that are issued later begin when all ranks have come to this one.

    Parameters
    ----------
    group : Group, optional
        The ranks that take part; all by default.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.barrier()
    """
    ranks, number = _members("barrier", group)
    if ranks > 1:
        issue("barrier", "none", 0, 0, None, None, number)
