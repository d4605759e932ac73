"""How parameters start: functions that fill a tensor in place, and return it. Nothing here waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import init as _init
from ..grad import no_grad

if TYPE_CHECKING:
    from ...typing import Array


__all__ = [
    "constant_", "zeros_", "ones_", "uniform_", "normal_", "xavier_uniform_", "xavier_normal_",
    "kaiming_uniform_", "kaiming_normal_", "orthogonal_",
]  # fmt: skip


def _filled(x: Array, rule: Callable[[Any], None]) -> Array:
    with no_grad():
        rule(x)
    return x


def constant_(x: Array, val: float) -> Array:
    """Return one value everywhere.

    >>> from forerun import torch
    >>> constant_(torch.empty(2), 3.0).tolist()
    [3.0, 3.0]
    """
    return _filled(x, _init.Constant(val))


def zeros_(x: Array) -> Array:
    """Zeros."""
    return constant_(x, 0.0)


def ones_(x: Array) -> Array:
    """Ones."""
    return constant_(x, 1.0)


def uniform_(x: Array, a: float = 0.0, b: float = 1.0) -> Any:
    """Return numbers evenly spread over [a, b)."""
    return _filled(x, lambda t: t.uniform_(a, b))


def normal_(x: Array, mean: float = 0.0, std: float = 1.0) -> Any:
    """Return numbers of a normal distribution."""
    return _filled(x, lambda t: t.normal_(mean, std))


def xavier_uniform_(x: Array, gain: float = 1.0) -> Any:
    """Fill a tensor with uniform draws whose variance is 2 gain**2 / (fan-in + fan-out) (Glorot and Bengio, 2010)."""
    return _filled(x, _init.Xavier("uniform", "avg", 3 * gain**2))


def xavier_normal_(x: Array, gain: float = 1.0) -> Any:
    """Fill a tensor with normal draws whose variance is 2 gain**2 / (fan-in + fan-out)."""
    return _filled(x, _init.Xavier("gaussian", "avg", gain**2))


def kaiming_uniform_(x: Array, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Fill a tensor with uniform draws for layers followed by a ReLU of negative slope `a` (He et al., 2015)."""
    return _filled(x, _init.Xavier("uniform", mode.removeprefix("fan_"), 3 * _gain(a, nonlinearity) ** 2))


def kaiming_normal_(x: Array, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Fill a tensor with normal draws for layers followed by a ReLU of negative slope `a`."""
    return _filled(x, _init.Xavier("gaussian", mode.removeprefix("fan_"), _gain(a, nonlinearity) ** 2))


def orthogonal_(x: Array, gain: float = 1.0) -> Any:
    """Return an orthogonal matrix times `gain` (Saxe et al., 2013)."""
    return _filled(x, _init.Orthogonal(gain))


def _gain(a: float, nonlinearity: str) -> float:
    gains = {"relu": math.sqrt(2), "leaky_relu": math.sqrt(2 / (1 + a**2)), "linear": 1.0, "tanh": 5 / 3}
    if nonlinearity not in gains:
        raise ValueError(f"kaiming: nonlinearity must be one of {', '.join(gains)}, got {nonlinearity!r}")
    return gains[nonlinearity]
