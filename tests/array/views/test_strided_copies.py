"""Elements that lie apart are copied, written and cast like consecutive ones: by vectors if the steps are known."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.many_cases import for_each

STEPS = (1, 2, 3, 4, 5, 9, -1, -2, -3)
LENGTHS = (1, 3, 4, 15, 16, 17, 31, 255, 256, 257, 600)
DTYPES = "?bBhHiIlLefdFD"


def values_in_no_order(dtype: str, n: int) -> numpy.ndarray:
    """Return n numbers that every dtype has, in no order, with imaginary parts where there are any."""
    values = (numpy.arange(n) * 37 % 101).astype(dtype)
    return values + values[::-1] * 1j if dtype in "FD" else values


def elements_apart(dtype: str, n: int, step: int) -> tuple[Any, numpy.ndarray]:
    """Return n elements that are `step` apart, as our view and NumPy's."""
    base = values_in_no_order(dtype, n * abs(step))
    return np.array(base)[::step], base[::step]


@for_each("dtype, step", itertools.product(DTYPES, STEPS))
def test_copies_and_writes(dtype: str, step: int) -> None:
    """A copy of such elements has their values, and a write changes them alone."""
    for n in LENGTHS:
        ours, numpys = elements_apart(dtype, n, step)
        assert ours.copy().tolist() == numpys.tolist(), n
        base = numpy.zeros(n * abs(step), dtype)
        written = np.array(base)
        written[::step], base[::step] = np.array(values_in_no_order(dtype, n)), values_in_no_order(dtype, n)
        assert written.tolist() == base.tolist(), n


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@for_each("dtype, to", itertools.product(DTYPES, DTYPES))
def test_casts(dtype: str, to: str) -> None:
    """Casts of such elements give what casts of their copies give."""
    for step, n in itertools.product(STEPS, (3, 16, 257, 600)):
        ours, numpys = elements_apart(dtype, n, step)
        found = ours.astype(to)
        assert found.dtype == to, (step, n)
        assert found.tolist() == numpys.astype(to).tolist(), (step, n)


@for_each("dtype", DTYPES)
def test_channels_and_rows(dtype: str) -> None:
    """Channels of an image, and columns of a matrix with short rows."""
    image = values_in_no_order(dtype, 5 * 11 * 3).reshape(5, 11, 3)
    ours = np.array(image)
    for k in range(3):
        assert ours[1:, 2:, k].copy().tolist() == image[1:, 2:, k].tolist()
        assert ours[..., k].T.copy().tolist() == image[..., k].T.tolist()
        assert ours[:, 1, k].astype("D").tolist() == image[:, 1, k].astype("D").tolist()
