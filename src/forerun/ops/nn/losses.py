"""Losses of each element or slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import core as _core
from .._base.convert import as_real_float, asarray, asarray_like_device, axis_of
from .._base.one_module import one_module
from .._base.primitive import nondifferentiable, primitive
from ..elementwise.exponential import exp, log
from ..elementwise.select import where
from ..index.getitem import _gather_along, _scatter_along
from ..mxnet.selections import _one_each
from ..reduce.reduction import _max, _sum
from ..shape.reshape import reshape
from .softmax import _softmax

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["cross_entropy", "smooth_l1"]


def _cross_entropy_grad(g: Array, x: Array, index: Array, axis: int, e: Array, z: Array) -> Array:
    """Return (softmax(x) - 1 at the index) * g."""
    if _core.recording():  # to be differentiated itself
        return g * _softmax(x, axis) - _scatter_along(g, x.shape, index, axis)
    d = e * (g / z)
    _core.scatter_along(d, index, axis, -g, True)
    return d


@primitive(_cross_entropy_grad, nondifferentiable, kept=("e", "z"), op="cross_entropy")
@one_module
def _cross_entropy(x: Array, index: Array, axis: int) -> tuple[Array, ...]:
    shifted = x - _max(x, (axis,), True)
    e = exp(shifted)
    z = _sum(e, (axis,), True)
    return log(z) - _gather_along(shifted, index, axis, "cross_entropy", False), e, z


def cross_entropy(x: ArrayLike, index: ArrayLike, axis: int = -1, keepdims: bool = False) -> Array:
    """Return -log(softmax(x)) at one position of each slice along an axis.

    Positions and errors are as for `pick`.

    Parameters
    ----------
    x : array_like
        The values, before the softmax.
    index : array_like
        The position for each slice: of the shape of `x` without the axis, or with extent 1 there. Numbers that are not
        integers are converted to int64.
    axis : int, optional
        The axis.
    keepdims : bool, optional
        True keeps the axis, with extent 1.

    Returns
    -------
    array
        The losses, of the shape of `x` without the axis, or with extent 1 there. Of integers they have the default
        float, otherwise the dtype of `x`.

    Raises
    ------
    ValueError
        If `index` has another shape.
    IndexError
        Where the result is read, if a position is not in [0, n), where n is the extent of the axis: also for negative
        ones, which are most often padding. In the call, if `x` lacks the axis.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.cross_entropy(np.zeros((2, 4)), [0, 3])
    array([1.3862944, 1.3862944])
    """
    x = as_real_float("cross_entropy", asarray_like_device(x, index))
    a = axis_of("cross_entropy", axis, x.ndim)
    wide = _one_each("cross_entropy", x, index, a)
    losses: Array = _cross_entropy(x, wide, a)  # type: ignore[assignment]  # the primitive gives the first one
    return losses if keepdims else reshape(losses, x.shape[:a] + x.shape[a + 1 :])


def smooth_l1(x: ArrayLike, scalar: float = 1.0) -> Array:
    """Return (s x)^2 / 2 where |x| < 1 / s^2, and |x| - 1 / (2 s^2) elsewhere; s is `scalar`.

    It is the loss of Girshick 2015, where s is 1.

    Parameters
    ----------
    x : array_like
        The values, of real numbers.
    scalar : float, optional
        The number s: the function is quadratic within 1 / s^2 of 0, and linear beyond.

    Returns
    -------
    array
        The result for each element, of x's shape.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.smooth_l1([0.5, 2.0]).tolist()
    [0.125, 1.5]
    """
    x = asarray(x)
    s2 = scalar * scalar
    return where(abs(x) < 1 / s2, 0.5 * s2 * (x * x), abs(x) - 0.5 / s2)
