"""What the tests of gluon share: samples, and gradients against differences."""

from typing import Any

import numpy

from forerun import np

RNG = numpy.random.default_rng(1)
PRED = RNG.normal(size=(4, 3))
LABEL = RNG.normal(size=(4, 3))
CLASSES = numpy.array([0, 2, 1, 1])
SHARES = numpy.abs(LABEL) / numpy.abs(LABEL).sum(1, keepdims=True)
WEIGHTS = numpy.array([[0.5], [2.0], [0.0], [1.0]])


def array(values: Any, dtype: str | None = "float64") -> Any:
    return np.array(values, dtype=dtype)


def close(x: Any, expected: Any, tolerance: float = 1e-6) -> None:
    numpy.testing.assert_allclose(numpy.asarray(x), expected, rtol=tolerance, atol=tolerance)
