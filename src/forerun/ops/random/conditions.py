"""Conditions on parameters of distributions, as NumPy's: for known values and for those not computed yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import is_array
from .._base.dtypes import finfo
from .limits import (
    ABOVE_ONE,
    BELOW_ONE,
    NOT_NEGATIVE,
    NOT_ZERO_PROBABILITY,
    POISSON,
    POSITIVE,
    PROBABILITY,
    Limits,
)

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["check_choice", "check_colors", "check_integers", "check_parameters", "check_ways", "known"]

_COUNT = Limits("must not be negative", 0)
_HEAP = Limits("must be in [0, 1e9)", 0, 1e9, open_high=True)

_PARAMETERS: dict[str, tuple[tuple[str, Limits | None], ...]] = {
    "beta": (("a", POSITIVE), ("b", POSITIVE)),
    "binomial": (("n", _COUNT), ("p", PROBABILITY)),
    "chisquare": (("df", POSITIVE),),
    "exponential": (("scale", NOT_NEGATIVE),),
    "f": (("dfnum", POSITIVE), ("dfden", POSITIVE)),
    "gamma": (("shape", NOT_NEGATIVE), ("scale", NOT_NEGATIVE)),
    "geometric": (("p", NOT_ZERO_PROBABILITY),),
    "hypergeometric": (("ngood", _HEAP), ("nbad", _HEAP), ("nsample", _COUNT)),
    "logseries": (("p", BELOW_ONE),),
    "negative_binomial": (("n", Limits("must be positive", 0, open_low=True)), ("p", NOT_ZERO_PROBABILITY)),
    "noncentral_chisquare": (("df", POSITIVE), ("nonc", NOT_NEGATIVE)),
    "noncentral_f": (("dfnum", POSITIVE), ("dfden", POSITIVE), ("nonc", NOT_NEGATIVE)),
    "poisson": (("lam", POISSON),),
    "standard_t": (("df", POSITIVE),),
    "triangular": (("left", None), ("mode", None), ("right", None)),
    "vonmises": (("mu", None), ("kappa", NOT_NEGATIVE)),
    "wald": (("mean", POSITIVE), ("scale", POSITIVE)),
    "zipf": (("a", ABOVE_ONE),),
}


def known(value: ArrayLike) -> bool:
    """Return whether the values of a parameter are known at the call, without a wait.

    >>> from forerun import np
    >>> known([1.0, 2.0]), known(np.array([1.0]))
    (True, False)
    """
    return not is_array(value) and not (isinstance(value, (list, tuple)) and not all(map(known, value)))


def check_parameters(op: str, values: Sequence[Any]) -> None:
    """Check the known parameters of a distribution. ValueError if one does not meet its condition.

    >>> check_parameters("beta", (1.0, -1.0))
    Traceback (most recent call last):
    ValueError: beta: b must be positive, got -1.0
    """
    there = [numpy.asarray(v) if known(v) else None for v in values]
    for (name, limits), value in zip(_PARAMETERS.get(op, ()), there):
        if value is not None and limits is not None:
            limits.check(op, name, value)
    if op in _RELATIONS and (op == "triangular" or not any(v is None for v in there)):
        _RELATIONS[op](there)


def _no_wider(values: Sequence[Any]) -> None:
    """Check the corners of a triangular distribution, of which some may be None."""
    left, mode, right = values
    corners = (("left", left, "mode", mode), ("mode", mode, "right", right), ("left", left, "right", right))
    for low, a, high, b in corners:
        if a is not None and b is not None and (wrong := numpy.asarray(a > b)).any():
            raise ValueError(f"triangular: {low} must be at most {high}, got {_pair(a, b, wrong)}")
    if left is not None and right is not None and (wrong := numpy.asarray(left == right)).any():
        raise ValueError(f"triangular: left must be less than right, got {_pair(left, right, wrong)}")


def _not_too_many(values: Sequence[Any]) -> None:
    ngood, nbad, nsample = values
    both = ngood + nbad
    if (wrong := numpy.asarray(nsample > both)).any():
        raise ValueError(f"hypergeometric: nsample must be at most ngood + nbad, got {_pair(nsample, both, wrong)}")


_RELATIONS: dict[str, Callable[[Sequence[Any]], None]] = {"triangular": _no_wider, "hypergeometric": _not_too_many}


def _pair(a: Any, b: Any, wrong: numpy.ndarray) -> str:
    """Return the first two values that do not fit."""
    first = [numpy.broadcast_to(v, wrong.shape)[wrong].flat[0].item() for v in (a, b)]
    return f"{first[0]} and {first[1]}"


# --- several probabilities ------------------------------------------------------------------------


def _tolerance(dtype: numpy.dtype) -> float:
    """Return how far a sum of probabilities of a dtype may be from 1: NumPy's tolerance."""
    wide = 2.0**-26
    return max(wide, float(finfo(dtype).eps) ** 0.5) if dtype.kind in "fV" else wide


def check_choice(p: ArrayLike, drawn: int, replace: bool) -> None:
    """Check the probabilities of a choice.

    ValueError if one is negative or NaN, their sum is not 1, or too few are above 0 to be drawn without replacement.

    >>> check_choice([0.25, 0.75], 1, True)
    """
    p = numpy.asarray(p)
    NOT_NEGATIVE.check("choice", "p", p)
    total = float(p.sum(dtype="float64"))
    if not abs(total - 1) <= _tolerance(p.dtype):
        raise ValueError(f"choice: p must sum to 1, got {total}")
    if not replace and (some := int(numpy.count_nonzero(p > 0))) < drawn:
        raise ValueError(f"choice: p must have {drawn} elements above 0 without replacement, got {some}")


def check_ways(op: str, pvals: ArrayLike) -> numpy.ndarray:
    """Return probabilities of ways along the last axis, as float64, of which all but the last have a sum of at most 1.

    The excess from rounding to a narrower dtype is removed. ValueError if one is not in [0, 1], or the sum is larger.

    >>> check_ways("multinomial", [0.25, 0.25]).tolist()
    [0.25, 0.25]
    """
    p = numpy.asarray(pvals)
    PROBABILITY.check(op, "pvals", p)
    wide = p.astype("float64")
    sums = wide[..., :-1].sum(-1, keepdims=True)
    most = 1 + (1e-12 if p.dtype.itemsize > 4 or p.dtype.kind not in "fV" else _tolerance(p.dtype))
    if (sums > most).any():
        raise ValueError(f"{op}: pvals but the last must have a sum of at most 1, got {float(sums.max())}")
    scaled: numpy.ndarray = wide / numpy.maximum(sums, 1)
    return scaled


def check_colors(colors: ArrayLike, nsample: int, method: str) -> None:
    """Check the counts of colors. ValueError if one is negative, or their sum is too small or too large.

    >>> check_colors([1, 3], 4, "count")
    """
    op = "multivariate_hypergeometric"
    _COUNT.check(op, "colors", colors)
    known: Any = colors
    total = int(numpy.sum(known, dtype="object")) if numpy.size(known) else 0
    if nsample > total:
        raise ValueError(f"{op}: nsample must be at most the sum of colors, got {nsample} and {total}")
    if method == "marginals" and total >= 10**9:
        raise ValueError(f'{op}: the sum of colors must be below 1e9 for method "marginals", got {total}')


def check_integers(op: str, low: ArrayLike, high: ArrayLike) -> None:
    """Check the bounds of integers, if both are known. ValueError if there are no integers between them.

    >>> check_integers("randint", [1, 3], 4)
    """
    if known(low) and known(high) and (wrong := numpy.asarray(numpy.asarray(low) >= numpy.asarray(high))).any():
        raise ValueError(f"{op}: low must be below high, got {_pair(low, high, wrong)}")
