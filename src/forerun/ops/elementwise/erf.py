"""The error function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy

from .._base.convert import as_real_float, cast
from .._base.primitive import primitive
from .arithmetic import minimum, sign
from .exponential import exp
from .select import where

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["erf"]


class Ring(Protocol):
    """An array, or a value of a module that is written for a device."""

    def __rmul__(self, other: float, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...


Operand = TypeVar("Operand", bound=Ring)

# (1 + 2x) exp(x^2) erfc(x) for x from 0 on, as a polynomial in (x - 3.75) / (x + 3.75), lowest power first: the idea of
# Shepherd and Laframboise (1981); interpolated at 64 Chebyshev points from values with 50 digits. Error below 5e-15.
FAR = (
    1.237512630837829, -0.14024059858554358, 0.0035854154853773718, 0.08227673848983416, -0.10880393014155051,
    0.09230432116887019, -0.058693398577235587, 0.028362277319892736, -0.009746579702202607, 0.0017556264704113589,
    0.0002937144720480678, -0.0002901563941167806, 5.164630539944426e-05, 2.2389768868258386e-05,
    -1.1437730163876836e-05, -9.821953774746817e-07, 1.7417148825416007e-06, -4.845017542720598e-08,
    -2.4845897428349417e-07, 1.7694731013762066e-08, 3.197305886715185e-08, -1.7396359908161685e-09,
    -2.630713424878195e-09,
)  # fmt: skip
# erf(x) / x as Taylor's polynomial in x^2.
NEAR = tuple(2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(13))


def polynomial(coefficients: tuple[float, ...], x: Operand) -> Operand:
    """Return the polynomial of x by Horner's rule; the coefficient of the lowest power comes first."""
    total: Operand = coefficients[-1] * x + coefficients[-2]
    for c in coefficients[-3::-1]:
        total = total * x + c
    return total


@primitive(lambda g, x: g * (2 / math.sqrt(math.pi) * exp(-(x * x))), op="erf")
def _erf(x: Array) -> Array:
    far = minimum(abs(x), 6)  # where the function is 1 to the last bit
    rest = polynomial(FAR, (far - 3.75) / (far + 3.75)) * exp(-(far * far)) / (1 + 2 * far)
    return where(abs(x) < 0.5, x * polynomial(NEAR, x * x), sign(x) * (1 - rest))


def erf(x: ArrayLike) -> Array:
    """Return the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The results, from -1 to 1, in the shape and dtype of `x`; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.erf(np.array([0.0, 0.5, -100.0])).tolist()
    [0.0, 0.520499..., -1.0]
    """
    x = as_real_float("erf", x)
    wide = x.dtype if x.dtype.itemsize > 2 else numpy.dtype("float32")
    return cast(_erf(cast(x, wide)), x.dtype)
