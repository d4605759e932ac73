"""Random numbers: integers, orders, distributions, and the seed of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy

from .. import np
from ..ops.random.limits import PROBABILITY, limited
from .creation import extents, rand_like
from .dtypes import as_dtype, float32, int64
from .places import Where, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..typing import Array, ArrayLike, DTypeLike, Shape

__all__ = ["randint", "randperm", "normal", "bernoulli", "manual_seed", "seed"]


def randint(
    low: int, high: int | Shape, size: Shape | None = None, dtype: DTypeLike = None, device: Where = None
) -> Array:
    """Draw random integers of [low, high), or [0, low), of a shape: `randint(10, (2, 3))`, `randint(5, 10, (2, 3))`.

    Parameters
    ----------
    low : int
        The lower limit; without a second number, the upper one.
    high : int or sequence of int
        The upper limit; without it, the shape.
    size : sequence of int, optional
        The shape.
    dtype : dtype, optional
        The dtype; by default int64.
    device : Device or str, optional
        Where the tensor is; by default the current device.

    Returns
    -------
    Tensor
        The numbers.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.randint(1, (2,)).tolist()
    [0, 0]
    """
    first, limit, shape = (0, low, high) if size is None else (low, high, size)
    return np.random.randint(first, cast("int", limit), extents((shape,)), as_dtype(dtype, int64), device=where(device))


def randperm(n: int, device: Where = None) -> Array:
    """Return the integers below n in random order.

    Parameters
    ----------
    n : int
        How many.
    device : Device or str, optional
        Where the tensor is; by default the current device.

    Returns
    -------
    Tensor
        The numbers, of int64.

    Examples
    --------
    >>> from forerun import torch
    >>> sorted(torch.randperm(3).tolist())
    [0, 1, 2]
    """
    return np.random.permutation(n, device=where(device))


def normal(
    mean: ArrayLike = 0.0, std: ArrayLike = 1.0, size: Sequence[int] | None = None, device: Where = None
) -> Array:
    """Draw random numbers from normal distributions; mean and std are numbers or tensors.

    Parameters
    ----------
    mean : float or Tensor, default 0.0
        The means.
    std : float or Tensor, default 1.0
        The standard deviations.
    size : sequence of int, optional
        The shape; by default that of the parameters.
    device : Device or str, optional
        Where the tensor is; by default the current device.

    Returns
    -------
    Tensor
        The numbers.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.normal(torch.zeros(2), 1.0).shape
    (2,)
    """
    shape = None if size is None else extents((size,))
    return np.random.normal(mean, std, shape, float32, device=where(device))


def bernoulli(p: Array) -> Array:
    """Return ones with the probabilities of a tensor, and zeros otherwise.

    Parameters
    ----------
    p : Tensor
        The probabilities.

    Returns
    -------
    Tensor
        Ones and zeros of the shape and dtype of p.

    Raises
    ------
    ValueError
        Where the result is read, if a probability is not in [0, 1].

    Examples
    --------
    >>> from forerun import torch
    >>> bernoulli(torch.tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    drawn: Array = rand_like(p) < limited("bernoulli", "p", p, PROBABILITY)
    return drawn.astype(p.dtype)


def manual_seed(seed: int) -> None:
    """Seed the stream of random numbers: after the same seed the same calls give the same numbers.

    Parameters
    ----------
    seed : int
        The seed.

    Examples
    --------
    >>> from forerun import torch
    >>> manual_seed(3)
    >>> x = torch.rand(2)
    >>> manual_seed(3)
    >>> bool((torch.rand(2) == x).all())
    True
    """
    np.random.seed(seed)


def seed() -> int:
    """Seed the stream of random numbers with a random number.

    Returns
    -------
    int
        The seed, for `manual_seed`.

    Examples
    --------
    >>> from forerun import torch
    >>> number = seed()
    >>> x = torch.rand(2)
    >>> manual_seed(number)
    >>> bool((torch.rand(2) == x).all())
    True
    """
    value = int(numpy.random.SeedSequence().generate_state(1, numpy.uint64)[0])
    np.random.seed(value)
    return value
