"""np.may_share_memory and np.shares_memory answer as NumPy's do, and do not wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np
from forerun.testing import closed_gate

VIEWS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x,
    "first rows": lambda x: x[:3],
    "last rows": lambda x: x[3:],
    "a row": lambda x: x[2],
    "even columns": lambda x: x[:, ::2],
    "odd columns": lambda x: x[:, 1::2],
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1],
    "an element": lambda x: x[2:3, 1:2],
    "empty": lambda x: x[:0],
    "bytes of a row": lambda x: x[1].view("uint8"),
    "a copy": lambda x: x.copy(),
}


@pytest.mark.parametrize("dtype", ["float64", "bool", "complex64"])
def test_views_of_one_array(ahead: str, dtype: str) -> None:
    x, expected = np.zeros((6, 4), dtype), numpy.zeros((6, 4), dtype)
    for first in VIEWS.values():
        for second in VIEWS.values():
            a, b, c, d = first(x), second(x), first(expected), second(expected)
            assert np.may_share_memory(a, b) is numpy.may_share_memory(c, d)
            assert np.shares_memory(a, b) is numpy.shares_memory(c, d)


def test_pending_arrays(ahead: str) -> None:
    with closed_gate():
        x = np.ones((3, 3)) * 2
        assert np.shares_memory(x, x[1:])
        assert not np.shares_memory(x[0], x[1])
        assert not x.ready


def test_arrays_of_numpy_and_other_libraries(ahead: str) -> None:
    x = np.zeros(3)
    assert not np.shares_memory(x, numpy.zeros(3))
    with pytest.raises(TypeError, match="must be a forerun array, got list"):
        np.shares_memory(x, [1, 2])


def test_bfloat16(ahead: str) -> None:
    x = np.zeros(4, "bfloat16")
    assert np.shares_memory(x, x[2:])
    assert not np.shares_memory(x[:2], x[2:])
