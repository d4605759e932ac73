"""A scalar of integers as an index is an integer: its selection is a view, as with NumPy, and is written through."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, profiler
from forerun.testing import closed_gate
from tests.support.engine.settings import ENGINES, running

INDICES: dict[str, Any] = {
    "a row": lambda i: i,
    "a row, in a tuple": lambda i: (i,),
    "a column": lambda i: (slice(None), i),
    "two of three axes": lambda i: (i, 0),
    "beside a slice": lambda i: (i, slice(1, None)),
    "behind an ellipsis": lambda i: (..., i),
    "before an ellipsis": lambda i: (i, ...),
    "beside a new axis": lambda i: (None, i),
    "from the end": lambda i: (-i, slice(None)),
}


def written_parts(library: Any, make: Any) -> list[Any]:
    x = library.arange(60.0).reshape(3, 4, 5)
    positions = library.array([2, 1])
    part = x[make(positions[1])]
    part[...] = -1  # into the array that it is a part of
    x[make(positions[0])] += 100
    x[make(positions[1])] = x[make(positions[0])] * 2
    return [part.shape, part.tolist(), x.tolist()]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", INDICES)
def test_a_part_is_numpys_view(name: str, engine: str) -> None:
    with running(engine):
        assert written_parts(np, INDICES[name]) == written_parts(numpy, INDICES[name])


def test_a_view_waits_for_the_scalar_and_others_do_not() -> None:
    x = np.arange(12).reshape(3, 4)
    forerun.waitall()
    with closed_gate():
        i = x[0].argmax() - 1  # 2
        with pytest.raises(profiler.Blocked, match="index: must not wait here"):
            x[i]
        element, column = x[i, i], x[np.arange(3), i]
        x[i] = 0  # by an operation, which reads where
        assert not element.ready
    assert (element.item(), column.tolist(), x[2].tolist()) == (10, [2, 6, 10], [0, 0, 0, 0])


def test_an_index_out_of_range_is_named_with_its_value() -> None:
    x = np.zeros((3, 4))
    for i in (np.array([3])[0], np.array([-4])[0]):
        with pytest.raises(IndexError, match=rf"getitem: index must be in \[-3, 3\), got {i.item()}"):
            x[i]
    x[np.array([3])[0]] = 1
    with pytest.raises(IndexError, match="index must be in"):
        x.tolist()


def test_an_array_without_axes_makes_a_copy() -> None:
    for library in (numpy, np):
        x = library.zeros((3, 4))
        x[library.array(1)][...] = 1
        assert x.sum() == 0


def test_gradients_of_a_part() -> None:
    x = np.arange(6.0).reshape(2, 3)
    x.attach_grad()
    with autograd.record():
        y = (x[np.array([1])[0]] ** 2).sum()
    y.backward()
    assert x.grad.tolist() == [[0, 0, 0], [6, 8, 10]]


def test_a_captured_program_reads_where() -> None:
    row = forerun.hybrid(lambda x, at: x[at[0]] * 2, strict=True)
    x = np.arange(6.0).reshape(3, 2)
    assert [row(x, np.array([i])).tolist() for i in (0, 2, 1)] == [[0, 2], [8, 10], [4, 6]]
