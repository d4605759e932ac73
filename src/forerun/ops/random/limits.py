"""Limits of parameters, checked in the call where values are known there, otherwise by an operation.

Known are numbers, lists and NumPy's arrays. A forerun array is not waited for: an operation checks its values once
they are computed, and every read of a result that depends on them raises.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import is_array
from .._base.primitive import Elementwise

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = [
    "ABOVE_ONE", "BELOW_ONE", "FINITE", "NOT_NEGATIVE", "NOT_ZERO_PROBABILITY", "POISSON", "POSITIVE", "PROBABILITY",
    "Limits", "limited",
]  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """The numbers from `low` to `high`; an open end is excluded. NaN is allowed, or not; -0.0 is 0.

    rule: the text of the error. overflow: the error is an OverflowError, not a ValueError.

    >>> Limits("must be in [0, 1]", 0, 1).check("op", "p", [0.5, 1.0])
    >>> Limits("must be in [0, 1]", 0, 1).check("op", "p", [0.5, 1.5])
    Traceback (most recent call last):
    ValueError: op: p must be in [0, 1], got 1.5
    """

    rule: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    takes_nan: bool = False
    overflow: bool = False

    def check(self, op: str, name: str, values: ArrayLike) -> None:
        """Check numbers, a list or a NumPy array. ValueError, which names the first one outside."""
        v = numpy.asarray(values)
        if v.dtype.kind in "cSUO":
            return  # another error's affair
        within = v > self.low if self.open_low else v >= self.low
        within = within & (v < self.high if self.open_high else v <= self.high)
        if self.takes_nan and v.dtype.kind == "f":
            within = within | numpy.isnan(v)
        if not within.all():
            kind = OverflowError if self.overflow else ValueError
            raise kind(f"{op}: {name} {self.rule}, got {v[~within].flat[0].item()}")

    def late(self, op: str, name: str) -> Elementwise:
        """Return the operation that gives an array itself, or raises for the first value outside.

        Gradients come through.
        """
        return _looking(self, op, name)


@functools.cache
def _looking(limits: Limits, op: str, name: str) -> Elementwise:
    ends = (limits.low, limits.high, limits.open_low, limits.open_high, limits.takes_nan, limits.overflow)
    source = (f"{op}: {name} {limits.rule}", *ends)
    return Elementwise(source, op, ("x",), (lambda g: g,), f"x, if `{name}` of `{op}` may have its values.")


def limited(op: str, name: str, value: ArrayLike | None, limits: Limits | None) -> Any:
    """Return the value: checked if it is known; else as an array whose reads raise if a value is outside the limits.

    >>> from forerun import np
    >>> limited("op", "scale", 1.0, NOT_NEGATIVE), limited("op", "scale", np.array([2.0]), NOT_NEGATIVE).tolist()
    (1.0, [2.0])
    """
    if limits is None or value is None:
        return value
    if is_array(value):
        return limits.late(op, name)(value) if value.dtype.kind != "c" else value
    limits.check(op, name, value)
    return value


_INT64 = 2.0**63
NOT_NEGATIVE = Limits("must not be negative", 0, takes_nan=True)
POSITIVE = Limits("must be positive", 0, open_low=True, takes_nan=True)
PROBABILITY = Limits("must be in [0, 1]", 0, 1)
NOT_ZERO_PROBABILITY = Limits("must be in (0, 1]", 0, 1, open_low=True)
BELOW_ONE = Limits("must be in [0, 1)", 0, 1, open_high=True)
ABOVE_ONE = Limits("must be above 1", 1, open_low=True)
POISSON = Limits("must be in [0, 9.2e18)", 0, _INT64 - 10 * math.sqrt(_INT64))  # int64 holds a draw with any deviation
FINITE = Limits("must be finite", -1.7976931348623157e308, 1.7976931348623157e308, overflow=True)
