"""Scalars: results of reading one element, of reducing all elements, and of computing with numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ..ops._base import core as _core
from ..ops._base.convert import asarray
from ..ops._base.primitive import direct
from ..ops._base.traced import placeholder
from ..ops.index import flatiter as iterating
from ..ops.shape import complex_parts
from .ndarray import _unpickled as unpickled_array
from .ndarray import ndarray

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["scalar"]


_AS_PYTHON = (numpy.dtype("float64"), numpy.dtype("int64"))  # of scalars that NumPy writes as Python's numbers


class scalar(ndarray):
    """A number that may not be computed yet: an array without axes that is a value, as NumPy's scalars are.

    `x[0]`, `x.sum()`, `x[0] + 1` and iterating over a vector give scalars; `np.array(5.0)` and views do not. Later
    writes to x do not change them, they cannot be written to, and `s += 1` makes a new one. They are hashed and
    compared by value. As any array they come at once, have gradients and can be awaited; `hash`, `round` to an
    integer, `math.floor` and the like wait for the value.

    >>> from forerun import np
    >>> x = np.array([3, 1, 2])
    >>> first = x[0]
    >>> x[:] = 0
    >>> first.item(), {3: "three"}[first], [0] * first
    (3, 'three', [0, 0, 0])
    """

    __slots__ = ()

    def __new__(cls, value: Any = 0.0) -> Any:
        """Return the scalar of a number, as `type(x[0])(2.5)` asks for. TypeError if it is not one."""
        given = numpy.asarray(value)
        if given.ndim:
            raise TypeError(f"scalar: value must be a number, got shape {given.shape}")
        return asarray(float(value) if given.dtype == object else given)[()]

    @direct("text")
    def __str__(self) -> str:
        if self.dtype in _AS_PYTHON and placeholder(self) is None:
            return str(self.item())
        return super().__str__()

    @direct("hash")
    def __hash__(self) -> int:
        return hash(self.item())

    @direct("text")
    def __format__(self, spec: str) -> str:
        return super().__format__(spec)

    def __conform__(self, protocol: type) -> float | None:
        """Return a number of float64 as a float for a statement of `sqlite3`, which would write others' bytes."""
        is_double = protocol.__name__ == "PrepareProtocol" and self.dtype == numpy.float64
        return float(self.item()) if is_double else None

    def __round__(self, decimals: int | None = None) -> Any:
        return round(self.item()) if decimals is None else self.round(decimals)

    def __trunc__(self) -> int:
        whole: int = math.trunc(self.item())
        return whole

    def __floor__(self) -> int:
        whole: int = math.floor(self.item())
        return whole

    def __ceil__(self) -> int:
        whole: int = math.ceil(self.item())
        return whole

    def is_integer(self) -> bool:
        """Return whether the value is a whole number. Waits. AttributeError if the dtype is complex.

        >>> from forerun import np
        >>> np.array([2.0, 2.5])[0].is_integer()
        True
        """
        value = self.item()
        return isinstance(value, int) or value.is_integer()

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return two whole numbers whose quotient is the value. Waits.

        >>> from forerun import np
        >>> np.array([0.25])[0].as_integer_ratio()
        (1, 4)
        """
        ratio: tuple[int, int] = self.item().as_integer_ratio()
        return ratio

    @property  # type: ignore[misc]
    @direct("real")
    def real(self) -> Array:
        """The real part."""
        return complex_parts.real(self)

    @property  # type: ignore[misc]
    @direct("imag")
    def imag(self) -> Array:
        """The imaginary part."""
        return _core.as_scalar(complex_parts.imag(self))

    @property
    def flat(self) -> iterating.flatiter:
        """The element, as the only one of an iterator."""
        return iterating.flatiter(self)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled_scalar, super().__reduce__()[1]


def _unpickled_scalar(values: numpy.ndarray, device: str) -> Array:
    return _core.as_scalar(unpickled_array(values, device))


_unpickled_scalar.__module__ = "forerun.np"


numbers.Number.register(scalar)
