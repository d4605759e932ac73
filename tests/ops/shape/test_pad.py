"""The modes of `pad` that copy elements are written without NumPy, and give what NumPy's give."""

from __future__ import annotations

import itertools

import numpy
import pytest

from forerun import np
from tests.support.many_cases import for_each

SHAPES = ((1,), (2,), (5,), (3, 4), (1, 3), (2, 3, 4), (130, 1, 140), (600, 500))
MODES = ("constant", "edge", "wrap", "reflect", "symmetric", "linear_ramp")
WIDTHS = (0, 1, 2, 3, 5, (0, 2), (2, 0), (1, 3))


@for_each("shape, mode", itertools.product(SHAPES, MODES))
def test_modes(shape: tuple[int, ...], mode: str) -> None:
    """One width, a pair, and a pair for each axis; also wider than the array, which repeats its elements."""
    x = numpy.arange(numpy.prod(shape), dtype=float).reshape(shape)
    pairs = itertools.product([(0, 0), (1, 0), (2, 2)], repeat=len(shape))
    for widths in (*WIDTHS, *pairs):
        found, expected = np.pad(np.array(x), widths, mode), numpy.pad(x, widths, mode)
        assert found.shape == expected.shape, widths
        assert (found.asnumpy() == expected).all(), widths


def test_without_elements() -> None:
    """An array without elements gives nothing to copy: only a constant can be added to an empty axis."""
    empty = np.zeros((0, 3))
    assert np.pad(empty, 1, constant_values=2.5).tolist() == [[2.5] * 5] * 2
    assert np.pad(empty, ((0, 0), (1, 1)), "wrap").shape == (0, 5)
    with pytest.raises(ValueError, match="can't extend empty axis 0"):
        np.pad(empty, 1, "wrap").tolist()


@pytest.mark.usefixtures("gate")
@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric"])
def test_nothing_waits(mode: str) -> None:
    """The operations are issued without a wait, while none can run."""
    assert np.pad(np.ones((200, 300)), 2, mode).shape == (204, 304)
