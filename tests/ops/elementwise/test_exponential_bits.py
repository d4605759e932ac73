"""exp of float32, which has a loop of its own on some processors: the bits of NumPy's."""

import numpy
import pytest

from forerun import np

STEP = 61  # every so many of all floats: 70 million
PART = 1 << 22
SPECIAL = numpy.array(
    [0, -0.0, 1, -1, 88.722839, 88.72284, 88.5, -87.3, -103.97207, -103.97208, -103.97209, 1e-45, -1e-38, 1e38,
     numpy.inf, -numpy.inf, numpy.nan, -numpy.nan], dtype="float32",
)  # fmt: skip


def bits(values) -> numpy.ndarray:
    return numpy.asarray(values).view("uint32")


@pytest.mark.parametrize("first", range(0, 1 << 32, STEP * PART))
def test_values_of_all_magnitudes(first):
    numbers = numpy.arange(first, min(first + STEP * PART, 1 << 32), STEP, dtype="uint64").astype("uint32")
    values = numbers.view("float32")
    with numpy.errstate(all="ignore"):
        expected = numpy.exp(values)
    assert numpy.array_equal(bits(np.exp(np.array(values)).asnumpy()), bits(expected))


@pytest.mark.parametrize("length", [1, 2, 7, 15, 16, 17, 31, 33, 64, 100, 1000])
def test_special_values_among_others(length):
    rng = numpy.random.default_rng(length)
    for _ in range(20):
        values = rng.normal(0, 30, length + 1).astype("float32")[1:]  # not aligned
        places = rng.random(length) < 0.2
        values[places] = rng.choice(SPECIAL, places.sum())
        with numpy.errstate(all="ignore"):
            expected = numpy.exp(values)
        x = np.array(values)
        assert numpy.array_equal(bits(np.exp(x).asnumpy()), bits(expected))
        np.exp(x, out=x)
        assert numpy.array_equal(bits(x.asnumpy()), bits(expected))


def test_operands_with_gaps_and_overlaps():
    values = numpy.random.default_rng(3).normal(0, 3, 4001).astype("float32")
    for of, to in [
        (slice(0, 4000, 2), slice(1, 4001, 2)), (slice(0, 4000), slice(1, 4001)), (slice(1, 4001), slice(0, 4000)),
        (slice(None, None, -1), slice(None)),
    ]:  # fmt: skip
        x, expected = np.array(values), values.copy()
        np.exp(x[of], out=x[to])
        numpy.exp(expected[of], out=expected[to])
        assert numpy.array_equal(bits(x.asnumpy()), bits(expected))
