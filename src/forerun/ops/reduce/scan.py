"""Scans along an axis: running sums and products, and differences of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarray_like_device, axis_of, cast, count_of, write_out
from .._base.primitive import primitive
from ..elementwise.arithmetic import add, conj_if_complex, multiply
from ..elementwise.select import where
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_to
from ..shape.flip_roll import flip
from ..shape.join import concatenate
from ..shape.reshape import reshape
from .reduction import _accumulator, sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...typing import Array, ArrayLike, DTypeLike, Out

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff"]


def _reverse_cumsum(g: Array, axis: int) -> Array:
    return flip(_cumsum(flip(g, axis), axis), axis)


@primitive(lambda g, axis: _reverse_cumsum(g, axis), op="cumsum")
def _cumsum(x: Array, axis: int, dtype: DTypeLike = None) -> Array:
    return _core.scan(add, x, axis, dtype, "cumsum")


@primitive(lambda g, y, x, axis: _cumprod_grad(g, y, x, axis), op="cumprod")
def _cumprod(x: Array, axis: int, dtype: DTypeLike = None) -> Array:
    return _core.scan(multiply, x, axis, dtype, "cumprod")


def _cumprod_grad(g: Array, y: Array, x: Array, axis: int) -> Array:
    """Return the gradient: where no element is zero, the sum of g * y from i on, divided by x[i].

    Elements that are zero need the products of the others, which a matrix of all pairs gives.
    """
    n = x.shape[axis]
    rows = moveaxis(x, axis, -1)
    # products[..., i, k]: of all elements up to k but i, for k >= i
    eye = _core.from_numpy(numpy.eye(n, dtype=bool), x.device)
    later = _core.from_numpy(numpy.tril(numpy.ones((n, n), bool)).T, x.device)
    spread = where(eye, 1, rows[..., None, :])
    products = where(later, _cumprod(spread, x.ndim), 0)
    return moveaxis(sum(conj_if_complex(products) * moveaxis(g, axis, -1)[..., None, :], -1), -1, axis)


def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """Return running sums along `axis`, or of the flat array. Integers are summed as int64 or uint64.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Running sums along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.cumsum([[1, 2], [3, 4]]).tolist(), np.cumsum([[1, 2], [3, 4]], axis=1).tolist()
    ([1, 3, 6, 10], [[1, 3], [3, 7]])
    """
    x = asarray(a)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = reshape(x, -1), 0
    want = _accumulator(x, dtype, "cumsum")
    x = x if want == x.dtype else cast(x, want)
    return write_out("cumsum", _cumsum(x, axis_of("cumsum", axis, x.ndim)), out)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """Return running products along `axis`, or of the flat array. Integers are multiplied as int64 or uint64.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.

    Returns
    -------
    array
        Running products along `axis`.

    Examples
    --------
    >>> from forerun import np
    >>> np.cumprod([1, 2, 3, 4]).tolist()
    [1, 2, 6, 24]
    """
    x = asarray(a)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = reshape(x, -1), 0
    want = _accumulator(x, dtype, "cumprod")
    x = x if want == x.dtype else cast(x, want)
    return write_out("cumprod", _cumprod(x, axis_of("cumprod", axis, x.ndim)), out)


def _cumulative(
    op: str, scan: Callable[..., Any], first: int, x: ArrayLike, axis: int | None, dtype: DTypeLike, include: bool
) -> Any:
    x = asarray(x)
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise ValueError(f"{op}: axis must be one, got {axis}")
        (axis,) = axis
    if x.ndim == 0 and axis in (0, -1):
        x = reshape(x, -1)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{op}: axis must be given but for vectors, got shape {x.shape}")
        x, axis = reshape(x, -1), 0
    a = axis_of(op, axis, x.ndim)
    result = scan(x, a, dtype)
    if not include:
        return result
    edge = (*x.shape[:a], 1, *x.shape[a + 1 :])
    return concatenate([_core.full(edge, first, result.dtype, x.device), result], a)


def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: Out = None, include_initial: bool = False
) -> Array:
    """Return running sums along `axis`, which must be given but for vectors (ValueError). Dtypes as `cumsum`.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    include_initial : bool, optional
        With a 0 before them, so the axis is longer by one.

    Returns
    -------
    array
        Running sums along `axis`.

    Raises
    ------
    ValueError
        If `axis` is not given, and `x` is not a vector.

    Examples
    --------
    >>> from forerun import np
    >>> np.cumulative_sum([1, 2, 3], include_initial=True).tolist()
    [0, 1, 3, 6]
    """
    return write_out("cumulative_sum", _cumulative("cumulative_sum", cumsum, 0, x, axis, dtype, include_initial), out)


def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: Out = None, include_initial: bool = False
) -> Array:
    """Return running products along `axis`, which must be given but for vectors (ValueError). Dtypes as `cumprod`.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int, optional
        The axis; None for the flat array.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    include_initial : bool, optional
        With a 1 before them, so the axis is longer by one.

    Returns
    -------
    array
        Running products along `axis`.

    Raises
    ------
    ValueError
        If `axis` is not given, and `x` is not a vector.

    Examples
    --------
    >>> from forerun import np
    >>> np.cumulative_prod([2, 3], include_initial=True).tolist()
    [1, 2, 6]
    """
    return write_out(
        "cumulative_prod", _cumulative("cumulative_prod", cumprod, 1, x, axis, dtype, include_initial), out
    )


def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Array:
    """Return differences of neighbours along `axis`, n times over; each time the axis is shorter by one.

    Of bools: whether neighbours differ.

    Parameters
    ----------
    a : array_like
        The values.
    n : int, optional
        The number of times that differences are taken.
    axis : int, optional
        The axis to work along; counted from the last if negative.
    prepend, append : array_like, optional
        Values before and after the array along the axis.

    Returns
    -------
    array
        Differences of neighbours along `axis`.

    Raises
    ------
    ValueError
        If n is negative.

    Examples
    --------
    >>> from forerun import np
    >>> np.diff([1, 4, 9, 16]).tolist(), np.diff([1, 4, 9, 16], n=2).tolist()
    ([3, 5, 7], [2, 2])
    """
    x = asarray_like_device(a, prepend, append)
    if count_of("diff", "n", n) == 0:
        return x
    if x.ndim == 0:
        raise ValueError("diff: array must have at least one axis, got shape ()")
    a = axis_of("diff", axis, x.ndim)
    head = (slice(None),) * a
    if prepend is not None or append is not None:
        edge = (*x.shape[:a], 1, *x.shape[a + 1 :])
        ends = [None if e is None else asarray(e, device=x.device) for e in (prepend, append)]
        wide = [e if e is None or e.ndim else broadcast_to(e, edge) for e in ends]
        x = concatenate([part for part in (wide[0], x, wide[1]) if part is not None], a)
    for _ in range(n):
        later, earlier = x[(*head, slice(1, None))], x[(*head, slice(None, -1))]
        x = later != earlier if x.dtype.kind == "b" else later - earlier
    return x
