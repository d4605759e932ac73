"""Values that are not random."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from .. import np
from .base import Initializer, alias

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike

__all__ = ["Bilinear", "Constant", "LSTMBias", "One", "Zero"]


@alias("constant")
class Constant(Initializer):
    """Fills with a number, or with an array of the same shape.

    Parameters
    ----------
    value : array_like, optional
        The number, or an array of the same shape.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros(2)
    >>> Constant(3)(w)
    >>> w.tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: ArrayLike = 0.0) -> None:
        self.value = value

    def _init_weight(self, name: str, data: Array) -> None:
        data[...] = self.value


@alias("zeros", "zero")
class Zero(Constant):
    """Fills with zeros.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.full(2, 5.0)
    >>> Zero()(w)
    >>> w.tolist()
    [0.0, 0.0]
    """

    def __init__(self) -> None:
        super().__init__(0)


@alias("ones", "one")
class One(Constant):
    """Fills with ones.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.full(2, 5.0)
    >>> One()(w)
    >>> w.tolist()
    [1.0, 1.0]
    """

    def __init__(self) -> None:
        super().__init__(1)


@alias("bilinear")
class Bilinear(Initializer):
    """The weights that make a transposed convolution scale images up: tents over the last two axes, of any extent.

    Raises
    ------
    ValueError
        When it is called, for an array of fewer than two axes.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((1, 1, 4, 4))
    >>> Bilinear()(w)
    >>> (w[0, 0, 0] * 16).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """

    def _init_weight(self, name: str, data: Array) -> None:
        if data.ndim < 2:
            raise ValueError(f"Bilinear: array must have at least 2 axes, got shape {data.shape}")
        half = math.ceil(data.shape[-1] / 2)
        centre = (2 * half - 1 - half % 2) / (2 * half)
        rows, columns = (1 - numpy.abs(numpy.arange(n) / half - centre) for n in data.shape[-2:])
        data[...] = np.array(rows[:, None] * columns, dtype=data.dtype, device=data.device)


@alias("lstmbias")
class LSTMBias(Initializer):
    """Zeros, but another value for the second quarter, which is of forget gates.

    Parameters
    ----------
    forget_bias : float, optional
        The value of the second quarter.

    Raises
    ------
    ValueError
        When it is called, for an array that is not a vector of four equal parts.

    Examples
    --------
    >>> from forerun import np
    >>> b = np.ones(4)
    >>> LSTMBias(2.0)(b)
    >>> b.tolist()
    [0.0, 2.0, 0.0, 0.0]
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, data: Array) -> None:
        if data.ndim != 1 or data.shape[0] % 4:
            raise ValueError(f"LSTMBias: array must be a vector of four equal parts, got shape {data.shape}")
        n = data.shape[0] // 4
        data[...] = 0
        data[n : 2 * n] = self.forget_bias
