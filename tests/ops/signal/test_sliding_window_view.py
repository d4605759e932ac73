"""Windows that slide along axes: errors, views and gradients."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import autograd, np

windows = np.lib.stride_tricks.sliding_window_view


REJECTED = [
    ((3,), (4,)), ((3,), (-1,)), ((3, 4), (2,)), ((3,), (2, 1)), ((0,), (1,)), ((2, 0), ((1, 1),)), ((3,), (2, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "args"), REJECTED)
def test_rejects_the_same_input_as_numpy(shape: tuple[int, ...], args: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, IndexError)) as expected:
        numpy.lib.stride_tricks.sliding_window_view(numpy.zeros(shape), *args)
    with pytest.raises(expected.type, match="sliding_window_view: "):
        windows(np.zeros(shape), *args)


def test_numpys_function_calls_forerun() -> None:
    found = numpy.lib.stride_tricks.sliding_window_view(np.arange(4), 2)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_windows_are_a_view() -> None:
    x = np.zeros(4)
    found = windows(x[1:], 2)
    x += 1
    assert found.tolist() == [[1, 1], [1, 1]]


def test_an_element_gets_the_gradients_of_all_its_windows() -> None:
    x = np.arange(4.0)
    x.attach_grad()
    with autograd.record():
        total = windows(x, 2).sum()
    total.backward()
    assert x.grad.tolist() == [1, 2, 2, 1]
