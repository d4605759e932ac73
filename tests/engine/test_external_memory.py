"""Memory that comes from elsewhere than a kernel: NumPy's results, pages of zeros, and arrays without values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import np
from forerun.testing import closed_gate

N = 50_000  # elements of an array that NumPy's memory is taken over for
VALUES = numpy.random.default_rng(37).standard_normal(N)

MADE: dict[str, Callable[[Any, Any], Any]] = {
    "nonzero": lambda m, x: m.nonzero(x > 0)[0],
    "flatnonzero": lambda m, x: m.flatnonzero(x > 0),
    "argwhere": lambda m, x: m.argwhere(x > 0),
    "unique": lambda m, x: m.unique(x),
    "bincount": lambda m, x: m.bincount(m.argsort(x)),
    "convolve": lambda m, x: m.convolve(x, x[:3]),
    "partition": lambda m, x: m.partition(x, 10)[10:11],
    "argpartition": lambda m, x: x[m.argpartition(x, 10)][10:11],
    "lexsort": lambda m, x: m.lexsort((x,)),
    "unravel_index": lambda m, x: m.unravel_index(m.argsort(x), (N // 10, 10))[1],
    "indices": lambda m, x: m.indices((100, 200)),
    "tril_indices": lambda m, x: m.tril_indices(300)[0],
}


@pytest.mark.parametrize("name", MADE)
def test_results_in_numpy_memory_behave_like_other_arrays(name: str) -> None:
    want = MADE[name](numpy, VALUES)
    x = np.array(VALUES)
    got, again = MADE[name](np, x), MADE[name](np, x)
    assert numpy.array_equal(got.numpy(), want)
    seen = got.numpy()
    got += 1
    assert numpy.array_equal(seen, want)  # a reader keeps the values of before
    del seen
    got += 1
    assert numpy.array_equal(got.numpy(), want + 1 + 1)
    assert numpy.array_equal(again.numpy(), want)
    assert numpy.array_equal(x.numpy(), VALUES)


def test_memory_of_numpy_arrays_counts() -> None:
    x = np.array(VALUES)
    before = forerun.memory()["live"]
    found = np.flatnonzero(x > -100)
    assert forerun.memory()["live"] >= before + found.nbytes


def test_empty_arrays_are_computed_unless_work_is_pending() -> None:
    forerun.waitall()
    made = np.empty(N)
    assert made.ready
    made[...] = 3
    assert made.tolist() == [3] * N
    with closed_gate():
        pending = np.ones(4) + 1
        assert not np.empty(N).ready
    assert pending.tolist() == [2] * 4


def test_pages_of_zeros_are_zeros_each_time() -> None:
    n = 5_000_000
    for make in (lambda: np.zeros(n), lambda: np.zeros((n // 2, 2)), lambda: np.zeros(n + 3)[3:]):
        for _ in range(3):
            x = make()
            assert not x.numpy().any()
            x += 1
            assert x.sum().item() == n
            del x
