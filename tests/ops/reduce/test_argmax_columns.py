"""argmax and argmin along an axis that is not the last one, where rows are compared: NumPy's positions."""

from __future__ import annotations

import numpy
import pytest

from forerun import np

SHAPES = [((3, 700), 0), ((5, 1), 0), ((2, 7, 1300), 1), ((4, 3, 5, 6), 1), ((4, 3, 5, 6), 0), ((600, 3), 0)]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", "?bBhHiIlLefd")
def test_positions_along_an_axis_before_the_last(dtype, shape, axis):
    rng = numpy.random.default_rng(5)
    for high in (2, 100):  # many equal elements, and few
        a = rng.integers(0, high, shape).astype(dtype)
        if dtype in "efd":
            a[rng.random(shape) < 0.1] = numpy.nan
            a[rng.random(shape) < 0.1] = -0.0
        if dtype in "bhil":
            a -= numpy.asarray(high // 2, dtype)
        x = np.array(a)
        for view, numpy_view in [
            (x, a),
            (x[::-1], a[::-1]),
            (x[..., ::2], a[..., ::2]),
            (x[:, :3], a[:, :3]),
            (x.T, a.T),
        ]:
            for name in ("argmin", "argmax"):
                found = getattr(np, name)(view, axis=axis)
                assert found.dtype == numpy.int64
                assert found.tolist() == getattr(numpy, name)(numpy_view, axis=axis).tolist(), name
