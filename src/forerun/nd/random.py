"""Random arrays by MXNet 1.x's names: `shape` says how many, and results are float32.

>>> from forerun import nd
>>> nd.random.uniform(0, 1, shape=(2, 3)).shape
(2, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import np, npx

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = ["seed", "uniform", "normal", "randn", "randint", "shuffle"]

seed = npx.random.seed


def uniform(
    low: ArrayLike = 0.0, high: ArrayLike = 1.0, shape: Shape | None = None, dtype: DTypeLike = "float32",
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers in [low, high), each as likely."""
    return np.random.uniform(low, high, size=shape, dtype=dtype, ctx=ctx)


def normal(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Shape | None = None, dtype: DTypeLike = "float32",
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the normal distribution."""
    return np.random.normal(loc, scale, size=shape, dtype=dtype, ctx=ctx)


def randn(
    *shape: int, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, dtype: DTypeLike = "float32", ctx: DeviceLike = None
) -> Array:
    """Return the same, in a shape that is given extent by extent."""
    return np.random.normal(loc, scale, size=shape, dtype=dtype, ctx=ctx)


def randint(
    low: int, high: int, shape: Shape | None = None, dtype: DTypeLike = "int32", ctx: DeviceLike = None
) -> Array:
    """Return integers in [low, high), each as likely."""
    return np.random.randint(low, high, size=shape, dtype=dtype, ctx=ctx)


def shuffle(data: ArrayLike) -> Array:
    """Return a copy with its rows in random order."""
    return np.random.permutation(data)
