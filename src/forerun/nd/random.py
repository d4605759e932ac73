"""Random arrays by MXNet 1.x's names: `shape` says how many, and results are float32.

>>> from forerun import nd
>>> nd.random.uniform(0, 1, shape=(2, 3)).shape
(2, 3)
"""

from __future__ import annotations

from typing import Any

from .. import np, npx

__all__ = ["seed", "uniform", "normal", "randn", "randint", "shuffle"]

seed = npx.random.seed


def uniform(low: Any = 0.0, high: Any = 1.0, shape: Any = None, dtype: Any = "float32", ctx: Any = None) -> Any:
    """Numbers in [low, high), each as likely."""
    return np.random.uniform(low, high, size=shape, dtype=dtype, ctx=ctx)


def normal(loc: Any = 0.0, scale: Any = 1.0, shape: Any = None, dtype: Any = "float32", ctx: Any = None) -> Any:
    """Numbers of the normal distribution."""
    return np.random.normal(loc, scale, size=shape, dtype=dtype, ctx=ctx)


def randn(*shape: int, loc: Any = 0.0, scale: Any = 1.0, dtype: Any = "float32", ctx: Any = None) -> Any:
    """The same, in a shape that is given extent by extent."""
    return np.random.normal(loc, scale, size=shape, dtype=dtype, ctx=ctx)


def randint(low: int, high: int, shape: Any = None, dtype: Any = "int32", ctx: Any = None) -> Any:
    """Integers in [low, high), each as likely."""
    return np.random.randint(low, high, size=shape, dtype=dtype, ctx=ctx)


def shuffle(data: Any) -> Any:
    """A copy with its rows in random order."""
    return np.random.permutation(data)
