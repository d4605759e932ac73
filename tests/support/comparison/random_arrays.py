"""Random arrays of a seed."""

from __future__ import annotations

from typing import Any

import numpy


def normal_array(shape: tuple[int, ...], seed: int = 0, dtype: Any = "float64") -> numpy.ndarray:
    """Return numbers of a normal distribution; complex ones have two independent parts."""
    rng, dtype = numpy.random.default_rng(seed), numpy.dtype(dtype)
    values = rng.standard_normal(shape)
    return numpy.asarray(values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)
