"""How the dynamic enthalpy of sea water changes with its temperature.

The specific volume of sea water is a ratio of two polynomials in pressure p (the 48-term expression of TEOS-10),

    (b0 + b1 p + b2 p^2 + b3 p^3) / (a0 + 2 m p + a2 p^2),

whose coefficients are polynomials in conservative temperature, absolute salinity and the root of salinity. Enthalpy is
its integral over pressure: the ratio is divided out, and the rest has two logarithms as its integral. All
coefficients are computed with their derivatives by temperature, and so is everything that follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from . import grid

# Coefficients by ascending powers of temperature: terms without salinity, times salinity, times salinity to 1.5.
A0 = (
    (9.998420897506056e2, 2.839940833161907, -3.147759265588511e-2, 1.181805545074306e-3),
    (-6.698001071123802, -2.986498947203215e-2, 2.327859407479162e-4),
    (-3.988822378968490e-2, 5.095422573880500e-4, -1.426984671633621e-5, 1.645039373682922e-7),
)
A1 = (
    (-2.233269627352527e-2, -3.436090079851880e-4, 3.726050720345733e-6),
    (-1.806789763745328e-4, 6.876837219536232e-7),
)
A2 = ((-3.087032500374211e-7, -1.988366587925593e-8, -1.061519070296458e-11), (1.550932729220080e-10,))
B0 = (
    (1.0, 2.775927747785646e-3, -2.349607444135925e-5, 1.119513357486743e-6, 6.743689325042773e-10),
    (
        -7.521448093615448e-3, -2.764306979894411e-5, 1.262937315098546e-7, 9.527875081696435e-10,
        -1.811147201949891e-11,
    ),
    (
        -3.303308871386421e-5, 3.801564588876298e-7, -7.672876869259043e-9, -4.634182341116144e-11,
        2.681097235569143e-12,
    ),
)  # fmt: skip
B0_SQUARE = 5.419326551148740e-6  # of salinity squared
B1 = (
    (-2.742185394906099e-5, -3.212746477974189e-7, 3.191413910561627e-9, -1.931012931541776e-12),
    (-1.105097577149576e-7, 6.211426728363857e-10),
)
B2 = (
    (-1.119011592875110e-10, -1.941660213148725e-11, -1.864826425365600e-14),
    (0.0, 1.119522344879478e-14),
)
B3 = (-1.200507748551599e-15, 6.057902487546866e-17)
TOLERANCE = 1e-8  # from NumPy's: nearly equal numbers are subtracted
PASCALS = 1e4  # of a decibar, in which p is

Pair = tuple[Any, Any]  # a value, and its derivative by temperature


def inputs(elements: int, generator: numpy.random.Generator) -> list[numpy.ndarray]:
    """Salinity in g/kg, temperature in degrees Celsius, and the pressure of levels in decibars."""
    shape = grid.shape(elements)
    salinity, temperature = generator.uniform(0.01, 10, shape), generator.uniform(-12, 20, shape)
    return [salinity, temperature, generator.uniform(0, 1000, (1, 1, shape[2]))]


def horner(coefficients: Sequence[float], t: Any) -> Pair:
    """A polynomial and its derivative."""
    *rest, value = coefficients
    slope: Any = 0.0
    for i, c in enumerate(reversed(rest)):
        slope = value + t * slope if i else value
        value = c + t * value
    return value, slope


def polynomial(terms: Sequence[Sequence[float]], s: Any, t: Any, root: Any = None) -> Pair:
    """The polynomial in temperature and salinity, and its derivative by temperature."""
    pure, salt, *rooted = (horner(c, t) for c in terms)
    if rooted:
        salt = tuple(x + root * y for x, y in zip(salt, rooted[0]))
    return tuple(x + s * y if _there(y) else x for x, y in zip(pure, salt))


def _there(x: Any) -> bool:
    """Whether it is not the derivative of a constant."""
    return not (isinstance(x, float) and x == 0)


def compute(peer: Any, s: Any, t: Any, p: Any) -> Any:
    """The derivative of dynamic enthalpy by temperature, in J / (kg K)."""
    xp = peer.xp
    root = xp.sqrt(s)
    a0, da0 = polynomial(A0, s, t, root)
    m, dm = (0.5 * x for x in polynomial(A1, s, t))
    a2, da2 = polynomial(A2, s, t)
    b0, db0 = polynomial(B0, s, t, root)
    b0 = b0 + B0_SQUARE * s * s
    b1, db1 = polynomial(B1, s, t)
    b2, db2 = polynomial(B2, s, t)
    b3, db3 = horner(B3, t)

    # The quotient q p + k, and the remainder c1 p + c0.
    scale = 1.0 / a2
    q = b3 * scale
    dq = (db3 - q * da2) * scale
    k = (b2 - 2.0 * m * q) * scale
    dk = (db2 - 2.0 * (dm * q + m * dq) - k * da2) * scale
    c1 = b1 - q * a0 - 2.0 * m * k
    dc1 = db1 - dq * a0 - q * da0 - 2.0 * (dm * k + m * dk)
    c0 = b0 - a0 * k
    dc0 = db0 - da0 * k - a0 * dk

    # The integral of the remainder: f log(1 + g) + h log(1 + w).
    f = 0.5 * c1 * scale
    df = (0.5 * dc1 - f * da2) * scale
    over = 1.0 / a0
    g = p * (2.0 * m + a2 * p) * over
    dg = (p * (2.0 * dm + da2 * p) - g * da0) * over
    r = xp.sqrt(m * m - a0 * a2)
    inverse = 1.0 / r
    dr = 0.5 * (2.0 * m * dm - da0 * a2 - a0 * da2) * inverse
    u = c0 - c1 * m * scale
    du = dc0 - (dc1 * m + c1 * dm - c1 * m * scale * da2) * scale
    h = 0.5 * u * inverse
    dh = (0.5 * du - h * dr) * inverse
    low, dlow = 1.0 / (m - r), dm - dr
    high, dhigh = 1.0 / (m + r + a2 * p), dm + dr + da2 * p
    w = 2.0 * a2 * p * r * low * high
    dw = 2.0 * p * (da2 * r + a2 * dr) * low * high - w * (dlow * low + dhigh * high)

    divided = p * (0.5 * dq * p + dk)
    logarithms = df * xp.log(1.0 + g) + f * dg / (1.0 + g) + dh * xp.log(1.0 + w) + h * dw / (1.0 + w)
    return PASCALS * (divided + logarithms)
