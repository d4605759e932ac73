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


def array(source: Any, ctx: DeviceLike = None, dtype: DTypeLike = None) -> Array:
    """Return an array of values, float32 unless they are an array of another dtype.

    >>> nd_array = array([1, 2]); nd_array.dtype
    dtype('float32')
    """
    return np.array(source, dtype=dtype or getattr(source, "dtype", "float32"), ctx=ctx)


def zeros(shape: Shape, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return zeros."""
    return np.zeros(shape, dtype, ctx=ctx)


def ones(shape: Shape, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return ones."""
    return np.ones(shape, dtype, ctx=ctx)


def empty(shape: Shape, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return an array with any values."""
    return np.empty(shape, dtype, ctx=ctx)


def full(shape: Shape, val: ArrayLike, ctx: DeviceLike = None, dtype: DTypeLike = "float32") -> Array:
    """Return an array with one value everywhere."""
    return np.full(shape, val, dtype, ctx=ctx)


def arange(
    start: float, stop: float | None = None, step: float = 1.0, ctx: DeviceLike = None, dtype: DTypeLike = "float32"
) -> Array:
    """Return numbers from start to stop, without it, as float32.

    >>> arange(3).tolist()
    [0.0, 1.0, 2.0]
    """
    first, last = (0, start) if stop is None else (start, stop)
    return np.arange(first, last, step, dtype=dtype, ctx=ctx)


def concat(*data: Array, dim: int = 1) -> Array:
    """Return arrays one after the other, along an axis: the second, by default."""
    return np.concatenate(data, axis=dim)


def stack(*data: ArrayLike, axis: int = 0) -> Array:
    """Return arrays one after the other, along a new axis."""
    return np.stack(data, axis=axis)


def transpose(data: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Return the array with its axes in another order: reversed by default."""
    return np.transpose(data, axes or None)


def dot(lhs: Array, rhs: Array) -> Array:
    """Return the product of vectors and matrices.

    ValueError for more than two axes, where MXNet's meant something else.
    """
    if lhs.ndim > 2 or rhs.ndim > 2:
        raise ValueError(f"nd.dot: arrays must have one or two axes, got {lhs.shape} and {rhs.shape}; use np.tensordot")
    return np.dot(lhs, rhs)


def norm(data: Array) -> Array:
    """Return the square root of the sum of squares of all elements, as an array of one element."""
    return np.sqrt((data * data).sum()).reshape(1)


def __getattr__(name: str) -> Any:
    source = np if name in _SAME_IN_NP else npx if name in _SAME_IN_NPX else None
    if source is not None and hasattr(source, name):
        return getattr(source, name)
    raise AttributeError(
        f"nd.{name} is not provided: use np.{name} or npx.{name} where there is one (docs/howto/mxnet.md)"
    )


def __dir__() -> list[str]:
    return sorted([*globals(), *_SAME_IN_NP, *_SAME_IN_NPX])
