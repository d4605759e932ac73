"""How far results of floating numbers may be from the exact ones on a device, in units in the last place.

The operations in this table are measured on each plugin by tests/pjrt; all others are exact, or rounded once. Numbers
below the smallest normal one may be 0 on a device, as operands and as results.
"""

from __future__ import annotations

from ..ops.elementwise.table import OPERATIONS

__all__ = ["OF_THE_LARGEST", "ULPS", "bound"]

# For float32 and float64 within the range where it is not ill-conditioned, by the name of an operation, whose paragraph
# says it; erf and erfc are loops of no ufunc. Results of float16 and bfloat16 are those of float32, rounded: 1 at most.
ULPS = {"erf": 8, "erfc": 20} | {name: op.ulps for name, op in OPERATIONS.items() if op.ulps}

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
