"""How far results of floating numbers may be from the exact ones on a device, in units of the last place.

The operations in this table are measured on each plugin by tests/pjrt; all others are exact, or rounded once. Numbers
below the smallest normal one may be 0 on a device, as operands and as results.
"""

from __future__ import annotations

__all__ = ["OF_THE_LARGEST", "ULPS", "bound"]

# By the name of a ufunc, for float32 and float64 within the range where it is not ill-conditioned. Results of float16
# and bfloat16 are those of float32, rounded: 1 at most.
ULPS = {
    "exp": 2, "expm1": 6, "exp2": 2, "log": 3, "log1p": 4, "log2": 3, "log10": 4,
    "cbrt": 4, "sin": 2, "cos": 2, "tan": 4, "tanh": 8,
    "arcsin": 4, "arccos": 4, "arctan": 3, "arctan2": 4, "sinh": 8, "cosh": 6, "arcsinh": 5, "arccosh": 5, "arctanh": 5,
    "power": 2, "float_power": 2, "hypot": 3, "logaddexp": 6, "logaddexp2": 8,
    "degrees": 1, "radians": 1, "deg2rad": 1, "rad2deg": 1, "sqrt": 1, "divide": 1, "reciprocal": 1,
    "erf": 8, "erfc": 20,
}  # fmt: skip

# Their results may be near 0 where operands are not, which are rounded themselves: the unit is that of the largest of
# the operands and the result.
OF_THE_LARGEST = frozenset({"logaddexp", "logaddexp2"})


def bound(name: str, dtype: str) -> float:
    """Units in the last place by which a result may be off; rounding to nearest is 1/2.

    >>> bound("exp", "float32"), bound("exp", "float16"), bound("add", "float64")
    (2, 1, 0.5)
    """
    ulps = ULPS.get(name)
    if ulps is None:
        return 0.5
    return min(ulps, 1) if dtype in ("float16", "bfloat16") else ulps
