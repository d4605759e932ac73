"""The methods of ufuncs: reduce, accumulate, reduceat, outer, at."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numpy.testing import assert_array_equal
from scipy import special

from forerun import np
from forerun.testing import closed_gate
from tests.ops.cases.table import to_forerun
from tests.support.comparison.numpy_calls import F32, GRID, INTS, check_against_numpy

METHODS: dict[str, tuple[Any, ...]] = {
    "reduce": (numpy.add.reduce, GRID),
    "reduce, keepdims": (numpy.maximum.reduce, GRID, 1, None, None, True),
    "reduce in order": (numpy.subtract.reduce, GRID, 1),
    "reduce, bitwise": (numpy.bitwise_xor.reduce, INTS),
    "reduce, small integers": (numpy.add.reduce, INTS.astype("int8")),
    "reduce, scipy's": (special.xlogy.reduce, GRID),
    "reduce, empty": (numpy.add.reduce, GRID[:0]),
    "accumulate": (numpy.add.accumulate, GRID),
    "accumulate, maximum": (numpy.maximum.accumulate, INTS),
    "accumulate, in order": (numpy.subtract.accumulate, GRID, 1),
    "accumulate, empty": (numpy.subtract.accumulate, GRID[:, :0], 1),
    "reduceat": (numpy.add.reduceat, GRID, [0, 2, 1]),
    "reduceat, an array": (numpy.minimum.reduceat, GRID, numpy.array([0, 3]), 1),
    "outer": (numpy.multiply.outer, GRID, F32),
    "outer, scipy's": (special.xlogy.outer, F32, F32),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_issued(name: str) -> None:
    check_against_numpy(*METHODS[name], rtol=1e-6 if "add" in repr(METHODS[name][0]) else 0.0)


def test_reductions_take_initial_and_where() -> None:
    check_against_numpy(numpy.add.reduce, GRID, initial=5, rtol=1e-6)
    check_against_numpy(numpy.minimum.reduce, GRID, initial=5, axis=1)
    check_against_numpy(numpy.add.reduce, GRID, where=GRID > 3, rtol=1e-6)
    check_against_numpy(numpy.maximum.reduce, GRID, where=GRID > 3, initial=-1, axis=(0, 1))
    out = np.zeros(4)
    assert numpy.subtract.reduce(np.array(GRID), out=out) is out
    assert_array_equal(out.numpy(), numpy.subtract.reduce(GRID))


@pytest.mark.parametrize("indices", [
    [0, 0, 3], numpy.array([1, 1, 1]), (numpy.array([0, 2]),), slice(1, 3), -1,
], ids=str)  # fmt: skip
def test_at_counts_each_index(engine: str, indices: Any) -> None:
    want, x = F32.copy(), np.array(F32)
    numpy.add.at(want, indices, 2.0)
    numpy.add.at(x, to_forerun(indices), 2.0)
    assert_array_equal(x.numpy(), want)
    special.exprel.at(x, 0)
    numpy_array = F32.copy()
    numpy.add.at(numpy_array, to_forerun(indices), 2.0)  # NumPy's own, at our indices
    assert_array_equal(numpy_array, want)


def test_at_returns_at_once() -> None:
    with closed_gate():
        x = np.zeros((3, 2))
        numpy.add.at(x, (np.array([0, 0, 2]), 1), np.array([1.0, 2.0, 3.0]))
        assert not x.ready
    assert x.tolist() == [[0, 3], [0, 0], [0, 3]]
