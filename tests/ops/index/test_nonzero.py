"""Positions of the elements that are not zero, of few and of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.comparison.bits import bits_of

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "nonzero": lambda np, x: np.nonzero(x),
    "where": lambda np, x: np.where(x),
    "method": lambda np, x: x.nonzero(),
    "flatnonzero": lambda np, x: np.flatnonzero(x),
    "argwhere": lambda np, x: np.argwhere(x),
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(0,), (7,), (50, 60), (20_000,), (100, 130), (3, 0, 5)])
def test_positions_are_numpys(shape: tuple[int, ...], dtype: str) -> None:
    values = numpy.random.default_rng(1).integers(-2, 3, shape).astype(dtype)
    if values.dtype.kind in "fc" and values.size:
        flat = values.reshape(-1)
        flat[::3], flat[1::7] = numpy.nan, -0.0
    for name, call in CALLS.items():
        found, expected = call(np, np.array(values, dtype=dtype)), call(numpy, values)
        assert bits_of(list(found)) == bits_of(list(expected)), name
