"""Curves through points: least squares, splines by hand, and roots."""

import numpy as np

SIZES = {"tiny": 20, "small": 200, "medium": 100_000}


def main(n):
    rng = np.random.default_rng(14)
    x = np.linspace(-1, 1, n)
    y = 1 - 2 * x + 0.5 * x**3 + rng.normal(0, 0.01, n)
    coefficients = np.polyfit(x, y, 3)
    print("fit", np.round(coefficients, 3) + 0.0)
    print("at 0.5 %.4f" % np.polyval(coefficients, 0.5))
    vandermonde = np.vander(x, 4)
    solution, *_ = np.linalg.lstsq(vandermonde, y, rcond=None)
    print("same by lstsq:", np.allclose(solution, coefficients))
    p = np.poly1d([1, -6, 11, -6])
    print("roots", np.round(np.sort(p.roots.real), 6), p(2.0), p.deriv().coeffs)
    from numpy.polynomial import Chebyshev

    series = Chebyshev.fit(x, np.exp(x), 6)
    print("exp within 1e-5:", bool(np.max(np.abs(series(x) - np.exp(x))) < 1e-5))
    print(np.round(np.interp([-0.95, 0.0, 0.3], x, np.sin(x)), 3) + 0.0)
