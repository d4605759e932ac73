"""Random values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from .. import np
from ..ops._base.host_task import host
from .base import Initializer, alias

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["He", "MSRAPrelu", "Normal", "Orthogonal", "TruncNorm", "Uniform", "Xavier"]


@alias("uniform")
class Uniform(Initializer):
    """Draws from the uniform distribution on [-scale, scale).

    Parameters
    ----------
    scale : float, optional
        The bound.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> Uniform()(w)
    >>> bool(abs(w).max() <= 0.07)
    True
    """

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def _init_weight(self, name: str, data: Array) -> None:
        _fill_uniform(data, self.scale)


@alias("normal")
class Normal(Initializer):
    """Draws from the normal distribution with mean 0.

    Parameters
    ----------
    sigma : float, optional
        The standard deviation.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> Normal()(w)
    >>> bool(abs(w).mean() < 0.1)
    True
    """

    def __init__(self, sigma: float = 0.01) -> None:
        self.sigma = sigma

    def _init_weight(self, name: str, data: Array) -> None:
        _fill_normal(data, self.sigma)


@alias("truncnorm")
class TruncNorm(Initializer):
    """Draws from the normal distribution, again where a value is further than two standard deviations from the mean.

    After four draws the values that are still outside (4 in a million) are clipped.

    Parameters
    ----------
    mean : float, optional
        The mean.
    stdev : float, optional
        The standard deviation.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> TruncNorm()(w)
    >>> bool(abs(w).max() <= 0.02)
    True
    """

    def __init__(self, mean: float = 0.0, stdev: float = 0.01) -> None:
        self.mean = mean
        self.stdev = stdev

    def _init_weight(self, name: str, data: Array) -> None:
        _fill_normal(data, 1.0)
        for _ in range(3):
            again = np.random.normal(size=data.shape, dtype=data.dtype, device=data.device)
            data[...] = np.where(np.abs(data) > 2, again, data)
        data[...] = np.clip(data, -2, 2) * self.stdev + self.mean


@alias("xavier")
class Xavier(Initializer):
    """Draws so that the variance of activations and gradients stays the same in a layer (Glorot and Bengio, 2010).

    Weights are (out, in, ...).

    Parameters
    ----------
    rnd_type : {"uniform", "gaussian"}, optional
        Whether numbers are drawn evenly on [-scale, scale), or with that standard deviation.
    factor_type : {"avg", "in", "out"}, optional
        Whether the factor is the mean of fan-in and fan-out, or one of them.
    magnitude : float, optional
        The scale is sqrt(magnitude / factor).

    Raises
    ------
    ValueError
        For another word, or when it is called for an array of fewer than two axes.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> Xavier()(w)
    >>> bool(abs(w).max() <= (3 / 3.5) ** 0.5)
    True
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f'Xavier: rnd_type must be "uniform" or "gaussian", got {rnd_type!r}')
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(f'Xavier: factor_type must be "avg", "in" or "out", got {factor_type!r}')
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = magnitude

    def _init_weight(self, name: str, data: Array) -> None:
        fan_in, fan_out = _fans(type(self).__name__, data.shape)
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = math.sqrt(self.magnitude / max(factor, 1))
        fill = _fill_uniform if self.rnd_type == "uniform" else _fill_normal
        fill(data, scale)


@alias("msraprelu")
class MSRAPrelu(Xavier):
    """Xavier's rule for layers followed by a (leaky) ReLU (He et al., 2015).

    Parameters
    ----------
    factor_type : {"avg", "in", "out"}, optional
        The factor, as for `Xavier`.
    slope : float, optional
        The slope of the ReLU for negative values.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> MSRAPrelu()(w)
    >>> bool(abs(w).mean() < 2)
    True
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2 / (1 + slope**2))


@alias("he")
class He(Xavier):
    """Normal draws with variance 2 / fan-in: the rule for layers followed by a ReLU (He et al., 2015).

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((3, 4))
    >>> He()(w)
    >>> bool(abs(w).mean() < 2)
    True
    """

    def __init__(self) -> None:
        super().__init__("gaussian", "in", 2)


@alias("orthogonal")
class Orthogonal(Initializer):
    """An orthogonal matrix times a factor (Saxe et al., 2013): rows, or columns if there are fewer, are orthogonal.

    Axes after the first count as one.

    Parameters
    ----------
    scale : float, optional
        The factor.
    rand_type : {"uniform", "normal"}, optional
        The distribution of the random matrix that is made orthogonal.

    Raises
    ------
    ValueError
        For another word, or when it is called for an array of fewer than two axes.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros((2, 4))
    >>> Orthogonal(scale=1.0)(w)
    >>> print(abs(np.round(w @ w.T, 3)))
    [[1. 0.]
     [0. 1.]]
    """

    def __init__(self, scale: float = math.sqrt(2), rand_type: str = "uniform") -> None:
        if rand_type not in ("uniform", "normal"):
            raise ValueError(f'Orthogonal: rand_type must be "uniform" or "normal", got {rand_type!r}')
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, data: Array) -> None:
        fan_in, _ = _fans("Orthogonal", data.shape)
        shape = (data.shape[0], fan_in)
        draw = np.random.uniform(-1, 1, size=shape, device=data.device)
        if self.rand_type == "normal":
            draw = np.random.normal(size=shape, device=data.device)
        (q,) = host(_orthogonal, [draw], [(shape, draw.dtype)], name="orthogonal")
        data[...] = (q * self.scale).reshape(data.shape)


def _orthogonal(values: numpy.ndarray) -> numpy.ndarray:
    u, _, v = numpy.linalg.svd(values, full_matrices=False)
    return u if u.shape == values.shape else v


def _fans(op: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return how many inputs one output sees, and the other way round."""
    if len(shape) < 2:
        raise ValueError(f"{op}: array must have at least 2 axes, got shape {shape}")
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def _fill_uniform(data: Array, scale: float) -> None:
    data[...] = np.random.uniform(-scale, scale, size=data.shape, dtype=data.dtype, device=data.device)


def _fill_normal(data: Array, sigma: float) -> None:
    data[...] = np.random.normal(0, sigma, size=data.shape, dtype=data.dtype, device=data.device)
