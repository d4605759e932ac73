"""Products over axes. Their gradients are made of scans, which are sums' neighbours: hence a file of their own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from .._base import core as _core
from .._base.convert import asarray_like_device, axes_to_reduce, cast, is_inexact, write_out
from .._base.primitive import direct, primitive
from ..elementwise.arithmetic import conj_if_complex, multiply
from ..shape.axis_order import transpose
from ..shape.flip_roll import flip
from ..shape.join import concatenate
from ..shape.reshape import reshape
from .reduction import _accumulator, _chosen, _first, _spread
from .scan import cumprod

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = ["prod"]


@primitive(lambda g, y, x, axes, keepdims: _prod_grad(g, y, x, axes, keepdims), op="prod")
def _prod(x: Array, axes: tuple[int, ...], keepdims: bool = False, dtype: DTypeLike = None) -> Array:
    return _core.reduce(multiply, x, axes, dtype, keepdims, "prod")


def _prod_grad(g: Array, y: Array, x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Product of the others, right also where elements are zero: products from the left times products from
    the right."""
    rest = [i for i in range(x.ndim) if i not in axes]
    order = [*rest, *axes]
    n = math.prod(x.shape[i] for i in axes)
    if x.size == 0:
        return _core.full(x.shape, 0, x.dtype, x.device)
    rows = reshape(transpose(x, order), (*(x.shape[i] for i in rest), n))
    one = _core.full((*rows.shape[:-1], 1), 1, x.dtype, x.device)
    left = concatenate([one, cumprod(rows, -1)[..., :-1]], -1)
    right = flip(concatenate([one, cumprod(flip(rows, -1), -1)[..., :-1]], -1), -1)
    others = reshape(left * right, tuple(x.shape[i] for i in order))
    back = [int(i) for i in numpy.argsort(order)]
    return _spread(g, x.shape, axes, keepdims) * conj_if_complex(transpose(others, back))


@direct("total", multiply, 1)
def prod(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike = True,
) -> Array:  # fmt: skip
    """Return the product over axes (by default all). Integers are multiplied as int64 or uint64. Of no elements: 1.

    out, initial, where: as for `sum`.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes to reduce; by default all.
    dtype : dtype, optional
        The dtype to compute in, and of the result.
    out : array, optional
        An array of the result's shape, which is written and returned.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    initial : array_like, optional
        A further value to start from.
    where : array_like, optional
        A mask of the elements that count.

    Returns
    -------
    array
        The product over axes (by default all).

    Examples
    --------
    >>> from forerun import np
    >>> np.prod([[1, 2], [3, 4]], axis=1).tolist()
    [2, 12]
    """
    x = asarray_like_device(a, initial, where)
    want = _accumulator(x, dtype, "prod")
    if want != x.dtype and is_inexact(want):
        x = cast(x, want)
    x = _chosen(x, where, 1)
    result = _prod(x, axes_to_reduce("prod", axis, x.ndim), keepdims, want if want != x.dtype else None)
    return write_out("prod", result if initial is None else result * _first(initial, result), out)
