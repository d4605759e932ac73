"""Random arrays by MXNet 1.x's names: `shape` says how many, and results are float32.

>>> from forerun import nd
>>> nd.random.uniform(0, 1, shape=(2, 3)).shape
(2, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import np, npx
from .._display.namespaces import dir_of

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = ["seed", "uniform", "normal", "randn", "randint", "shuffle"]
__dir__ = dir_of(__name__)

seed = npx.random.seed


def uniform(
    low: ArrayLike = 0.0, high: ArrayLike = 1.0, shape: Shape | None = None, dtype: DTypeLike = "float32",
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers evenly spread over [low, high).

    Parameters
    ----------
    low : array_like, optional
        The lower end.
    high : array_like, optional
        The upper end.
    shape : int or sequence of ints, optional
        The extents; None for a single number.
    dtype : dtype, optional
        The dtype.
    ctx : Device or str, optional
        The device; None for the current one.

    Returns
    -------
    array
        The numbers.

    Raises
    ------
    ValueError
        For ends that are not finite.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.random.uniform(0, 1, shape=(2, 3)).shape
    (2, 3)
    """
    return np.random.uniform(low, high, size=shape, dtype=dtype, ctx=ctx)


def normal(
    loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Shape | None = None, dtype: DTypeLike = "float32",
    ctx: DeviceLike = None,
) -> Array:  # fmt: skip
    """Draw numbers from the normal distribution.

    Parameters
    ----------
    loc : array_like, optional
        The mean.
    scale : array_like, optional
        The standard deviation.
    shape : int or sequence of ints, optional
        The extents; None for a single number.
    dtype : dtype, optional
        The dtype.
    ctx : Device or str, optional
        The device; None for the current one.

    Returns
    -------
    array
        The numbers.

    Raises
    ------
    ValueError
        For a negative standard deviation.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.random.normal(0, 1, shape=4).shape
    (4,)
    """
    return np.random.normal(loc, scale, size=shape, dtype=dtype, ctx=ctx)


def randn(
    *shape: int, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, dtype: DTypeLike = "float32", ctx: DeviceLike = None
) -> Array:
    """Draw numbers from the normal distribution, in a shape that is given extent by extent.

    Parameters
    ----------
    *shape : int
        The extents.
    loc : array_like, optional
        The mean.
    scale : array_like, optional
        The standard deviation.
    dtype : dtype, optional
        The dtype.
    ctx : Device or str, optional
        The device; None for the current one.

    Returns
    -------
    array
        The numbers.

    Raises
    ------
    ValueError
        For a negative standard deviation.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.random.randn(2, 3).shape
    (2, 3)
    """
    return np.random.normal(loc, scale, size=shape, dtype=dtype, ctx=ctx)


def randint(
    low: int, high: int, shape: Shape | None = None, dtype: DTypeLike = "int32", ctx: DeviceLike = None
) -> Array:
    """Draw integers in [low, high), each as likely.

    Parameters
    ----------
    low : int
        The smallest.
    high : int
        The end, which is not drawn.
    shape : int or sequence of ints, optional
        The extents; None for a single number.
    dtype : dtype, optional
        The dtype.
    ctx : Device or str, optional
        The device; None for the current one.

    Returns
    -------
    array
        The integers.

    Raises
    ------
    ValueError
        If the range is empty.

    Examples
    --------
    >>> from forerun import nd
    >>> nd.random.randint(5, 6, shape=2).tolist()
    [5, 5]
    """
    return np.random.randint(low, high, size=shape, dtype=dtype, ctx=ctx)


def shuffle(data: ArrayLike) -> Array:
    """Return a copy of an array with its rows in random order.

    Parameters
    ----------
    data : array_like
        The array, or a number of rows.

    Returns
    -------
    array
        The copy, of the same shape and dtype.

    Examples
    --------
    >>> from forerun import nd
    >>> sorted(nd.random.shuffle(nd.array([3, 1, 2])).tolist())
    [1.0, 2.0, 3.0]
    """
    return np.random.permutation(data)
