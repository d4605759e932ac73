"""How a gamma number changes with its shape, at a fixed probability: implicit reparametrisation.

A number x of the gamma distribution with shape a is the quantile of some probability p: P(a, x) = p, where P is the
regularised incomplete gamma function. So dx / da = -(dP / da) / (dP / dx) (Figurnov, Mohamed and Mnih 2018). With
one of three formulas all terms have one sign, or hardly cancel: 12 digits are right in float64, from 200 on 6.

- below a + 3, the power series of P, differentiated: dx / da = x * sum of t(n) * (psi(a + n + 1) - log(x)), where
  t(0) = 1 / a and t(n) = t(n - 1) * x / (a + n);
- above, the continued fraction of 1 - P, differentiated (Lentz's method);
- for shapes from 200 on, Temme's uniform expansion (1992) of x at a fixed p, with its first correction.
"""

from __future__ import annotations

import numpy

from .._base.host_task import quiet

__all__ = ["gamma_slope"]

Values = numpy.ndarray

_PIECE = 1 << 14  # elements that are worked on together: their temporaries stay in the cache
_LARGE = 200.0
_TINY = 1e-300
_CLOSE = 1e-16
_MOST = 2000  # steps
# log(eta / (ratio(eta) - 1)) / eta as Taylor's polynomial in eta, lowest power first, where eta**2 / 2 = ratio - 1 -
# log(ratio): from the recurrence that ratio'(eta) * (ratio - 1) = ratio * eta gives, in fractions.
_CORRECTION = (
    -1 / 3, 1 / 36, 1 / 1620, -7 / 6480, 5 / 18144, -11 / 382725, -101 / 16329600, 37 / 9797760,
    -9.120511014991658e-07, 7.735470535130866e-08, 3.2400053233896885e-08, -1.685720940069024e-08,
    3.931682661516204e-09, -2.8134289510434744e-10, -1.6988818928842894e-10, 8.292306612656927e-11,
)  # fmt: skip
_BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)  # B(2k) / 2k


def gamma_slope(x: Values, a: Values) -> Values:
    """Return dx / da of numbers x of the gamma distribution with scale 1 and shapes a, element by element. float64.

    0 where x or a is 0, NaN where one is NaN or infinite. x and a broadcast.

    >>> float(gamma_slope(numpy.array(0.7), numpy.array(1.0)).round(6))
    0.973219
    """
    x, a = (v.astype("float64") for v in numpy.broadcast_arrays(x, a))
    result = numpy.empty(x.size)
    xs, as_ = x.reshape(-1), a.reshape(-1)
    for start in range(0, x.size, _PIECE):
        piece = slice(start, start + _PIECE)
        result[piece] = quiet(_slopes, xs[piece], as_[piece])
    return result.reshape(x.shape)


def _slopes(x: Values, a: Values) -> Values:
    usual = (x > 0) & (a > _TINY) & numpy.isfinite(x) & numpy.isfinite(a)
    result = numpy.where((x == 0) | (abs(a) <= _TINY), 0.0, numpy.nan)
    large, far = a >= _LARGE, x > a + 3
    for which, formula in ((large, _by_temme), (~large & far, _by_fraction), (~large & ~far, _by_series)):
        chosen = numpy.flatnonzero(usual & which)
        if chosen.size:
            result[chosen] = formula(x[chosen], a[chosen])
    return result


def _psi(a: Values) -> Values:
    """Return the derivative of the logarithm of the gamma function, for positive numbers."""
    below = sum(1 / (a + i) for i in range(8))
    y = a + 8
    power = 1 / (y * y)
    rest = sum(c * power**k for k, c in enumerate(_BERNOULLI, 1))
    found: Values = numpy.log(y) - 0.5 / y - rest - below
    return found


def _by_series(x: Values, a: Values) -> Values:
    term, gap = 1 / a, _psi(a) + 1 / a - numpy.log(x)
    total, n = term * gap, 1
    while True:
        term, gap = term * x / (a + n), gap + 1 / (a + n)
        total += term * gap
        if n % 8 == 0 and ((abs(term * gap) <= _CLOSE * abs(total)).all() or n > _MOST):
            found: Values = x * total
            return found
        n += 1


def _by_fraction(x: Values, a: Values) -> Values:
    """Return the same by a continued fraction f: 1 - P is the density times x times f."""
    b = x + 1 - a
    c, dc = numpy.full_like(x, 1 / _TINY), numpy.zeros_like(x)
    d, dd = 1 / b, 1 / (b * b)
    f, df = d, dd
    n = 1
    while True:
        factor, b = n * (a - n), b + 2  # their derivatives by a are n and -1
        d, dd = _inverse(factor * d + b, factor * dd + n * d - 1)
        c, dc = b + factor / c, -1 + n / c - factor * dc / (c * c)
        step, dstep = c * d, dc * d + c * dd
        f, df = f * step, df * step + f * dstep
        settled = (abs(step - 1) <= 4 * _CLOSE) & (abs(f * dstep) <= 64 * _CLOSE * abs(df))
        if n % 8 == 0 and (settled.all() or n > _MOST):
            found: Values = x * (f * (numpy.log(x) - _psi(a)) + df)
            return found
        n += 1


def _inverse(v: Values, dv: Values) -> tuple[Values, Values]:
    """Return 1 / v and its derivative."""
    return 1 / v, -dv / (v * v)


def _by_temme(x: Values, a: Values) -> Values:
    """x = a * ratio(eta), eta = z / sqrt(a) + correction(z / sqrt(a)) / a, where the normal quantile z is fixed."""
    ratio = x / a
    eta = _eta(ratio)
    first = eta - _correction(eta)[0] / a
    value, slope = _correction(first)
    deta = -(0.5 * first + 0.5 * slope * first / a + value / a) / a
    off = ratio - 1
    dratio = numpy.where(abs(off) < 1e-6, 1 + 2 * eta / 3, ratio * eta / numpy.where(off == 0, 1, off))
    found: Values = ratio + a * dratio * deta
    return found


def _eta(ratio: Values) -> Values:
    """Return the number of ratio - 1's sign with eta**2 / 2 = ratio - 1 - log(ratio)."""
    off = ratio - 1
    exact = numpy.copysign(numpy.sqrt(2 * numpy.maximum(off - numpy.log1p(off), 0)), off)
    return numpy.where(abs(off) < 1e-4, off * (1 - off / 3), exact)


def _correction(eta: Values) -> tuple[Values, Values]:
    """Temme's first correction, and its derivative; eta is small where shapes are large."""
    value, slope = numpy.zeros_like(eta), numpy.zeros_like(eta)
    for c in _CORRECTION[::-1]:
        slope = slope * eta + value
        value = value * eta + c
    return value, slope
