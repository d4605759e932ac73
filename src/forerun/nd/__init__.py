"""The functions of MXNet 1.x's `nd`, and of `F` in `hybrid_forward`, that mean the same over arrays of `np`.

>>> from forerun import nd
>>> nd.concat(nd.ones((1, 2)), nd.zeros((1, 2)), dim=0).tolist(), nd.relu(nd.array([-1.0, 2.0])).tolist()
([[1.0, 1.0], [0.0, 0.0]], [0.0, 2.0])

Arrays are those of `np`: the same type, with NumPy's methods. For anything else use `np` and `npx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import np, npx
from .._display.namespaces import dir_of
from . import random as random

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

NDArray = np.ndarray
save, load, waitall = npx.save, npx.load, npx.waitall
_SAME_IN_NP = {
    "eye", "linspace", "zeros_like", "ones_like", "nansum", "nanprod", "exp", "expm1",
    "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square", "abs", "sign", "floor", "ceil", "trunc", "rint", "sin",
    "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees",
    "radians", "maximum", "minimum", "where", "sum", "mean", "max", "min", "prod", "clip", "squeeze", "expand_dims",
    "broadcast_to", "tile", "repeat", "flip", "add", "subtract", "multiply", "divide", "power",
}  # fmt: skip
_SAME_IN_NPX = {"relu", "sigmoid", "softmax", "log_softmax", "one_hot", "pick", "batch_dot", "gather_nd", "topk", "erf"}

__all__ = [
    "arange", "array", "concat", "dot", "empty", "full", "load", "NDArray", "norm", "ones", "random", "save",
    "stack", "transpose", "waitall", "zeros",
]  # fmt: skip
__dir__ = dir_of(__name__, *_SAME_IN_NP, *_SAME_IN_NPX)


def array(source: ArrayLike, ctx: DeviceLike = None, dtype: DTypeLike = None) -> Array:
    """Return an array of values.

    Parameters
    ----------
    source : array_like
        The values.
    ctx : Device or str, optional
        The device; None for the current one.
    dtype : dtype, optional
        None for the dtype of an array, and float32 for anything else.

    Returns
    -------
    array
        A new array.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.array([1, 2]).dtype
    dtype('float32')
    """
    return np.array(source, dtype=dtype or getattr(source, "dtype", "float32"), ctx=ctx)


def zeros(shape: Shape, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return an array of zeros.

    Parameters
    ----------
    shape : int or sequence of ints
        The extents.
    ctx : Device or str, optional
        The device; None for the current one.
    dtype : dtype, optional
        The dtype.

    Returns
    -------
    array
        Zeros, in this shape.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.zeros((1, 2)).tolist()
    [[0.0, 0.0]]
    """
    return np.zeros(shape, dtype, ctx=ctx)


def ones(shape: Shape, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return an array of ones.

    Parameters
    ----------
    shape : int or sequence of ints
        The extents.
    ctx : Device or str, optional
        The device; None for the current one.
    dtype : dtype, optional
        The dtype.

    Returns
    -------
    array
        Ones, in this shape.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.ones((1, 2)).tolist()
    [[1.0, 1.0]]
    """
    return np.ones(shape, dtype, ctx=ctx)


def empty(shape: Shape, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return an array whose values are not set.

    Parameters
    ----------
    shape : int or sequence of ints
        The extents.
    ctx : Device or str, optional
        The device; None for the current one.
    dtype : dtype, optional
        The dtype.

    Returns
    -------
    array
        Any values, in this shape.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.empty((1, 2)).shape
    (1, 2)
    """
    return np.empty(shape, dtype, ctx=ctx)


def full(shape: Shape, val: ArrayLike, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return an array with one value everywhere.

    Parameters
    ----------
    shape : int or sequence of ints
        The extents.
    val : number
        The value.
    ctx : Device or str, optional
        The device; None for the current one.
    dtype : dtype, optional
        The dtype.

    Returns
    -------
    array
        The value, in this shape.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.full(2, 7).tolist()
    [7.0, 7.0]
    """
    return np.full(shape, val, dtype, ctx=ctx)


def arange(
    start: float, stop: float | None = None, step: float = 1.0, ctx: DeviceLike = None, dtype: DTypeLike = "float32"
) -> Array:
    """Return numbers at equal distances, without the end.

    Parameters
    ----------
    start : float
        The first number; the end, with 0 as the first number, if no end is given.
    stop : float, optional
        The end.
    step : float, optional
        The distance.
    ctx : Device or str, optional
        The device; None for the current one.
    dtype : dtype, optional
        The dtype.

    Returns
    -------
    array
        The numbers along one axis.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.arange(3).tolist()
    [0.0, 1.0, 2.0]
    """
    first, last = (0, start) if stop is None else (start, stop)
    return np.arange(first, last, step, dtype=dtype, ctx=ctx)


def concat(*data: Array, dim: int = 1) -> Array:
    """Return arrays one after the other along an axis.

    Parameters
    ----------
    *data : array
        The arrays.
    dim : int, optional
        The axis: the second by default.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If the arrays differ in another extent.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.concat(nd.ones((1, 1)), nd.zeros((1, 2))).tolist()
    [[1.0, 0.0, 0.0]]
    """
    return np.concatenate(data, axis=dim)


def stack(*data: ArrayLike, axis: int = 0) -> Array:
    """Return arrays one after the other along a new axis.

    Parameters
    ----------
    *data : array_like
        Arrays of one shape.
    axis : int, optional
        The place of the new axis.

    Returns
    -------
    array
        The joined array.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.stack(nd.ones(2), nd.zeros(2)).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    return np.stack(data, axis=axis)


def transpose(data: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Return a view of an array with its axes in another order.

    Parameters
    ----------
    data : array_like
        The array.
    axes : sequence of ints, optional
        The order; None or an empty one reverses the axes.

    Returns
    -------
    array
        A view.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.transpose(nd.ones((2, 3))).shape
    (3, 2)
    """
    return np.transpose(data, axes or None)


def dot(lhs: Array, rhs: Array) -> Array:
    """Return the product of vectors and matrices.

    Parameters
    ----------
    lhs : array
        The first operand, of one or two axes.
    rhs : array
        The second operand, of one or two axes.

    Returns
    -------
    array
        The product.

    Raises
    ------
    ValueError
        For more than two axes, where the function of MXNet 1.x meant something else.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.dot(nd.array([1, 2]), nd.array([3, 4])).item()
    11.0
    """
    if lhs.ndim > 2 or rhs.ndim > 2:
        raise ValueError(f"nd.dot: arrays must have one or two axes, got {lhs.shape} and {rhs.shape}; use np.tensordot")
    return np.dot(lhs, rhs)


def norm(data: Array) -> Array:
    """Return the square root of the sum of squares of all elements.

    Parameters
    ----------
    data : array
        The array.

    Returns
    -------
    array
        One element, along one axis.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.norm(nd.array([3, 4])).tolist()
    [5.0]
    """
    return np.sqrt((data * data).sum()).reshape(1)


def __getattr__(name: str) -> Any:
    source = np if name in _SAME_IN_NP else npx if name in _SAME_IN_NPX else None
    if source is not None and hasattr(source, name):
        return getattr(source, name)
    raise AttributeError(
        f"nd.{name} is not provided: use np.{name} or npx.{name} where there is one (docs/howto/frameworks.md)"
    )
