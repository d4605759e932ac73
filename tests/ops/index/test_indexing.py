"""Indexing and assignment are NumPy's, for every kind of index."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

from forerun import autograd, np
from tests.ops.cases.table import mapped, to_forerun
from tests.support.comparison.bits import same_bits
from tests.support.many_cases import for_each

I = numpy.array([2, 0, -1, 1])
J = numpy.array([[0], [2]])
MASK = numpy.array([True, False, True])
INDICES: list[Any] = [
    1, -1, (1, 2, 3), slice(None), slice(1, None, 2), slice(None, None, -1), slice(5, 2), slice(-2, 99), ...,
    None, (None, 1, ..., None), (slice(None), 2), (..., -1), (slice(2, 0, -1), slice(None), slice(3, None, -2)),
    I, (I, I), (I, I, I), (slice(None), I), (..., I), (I, slice(None), I), (slice(None), I, I), (1, I),
    (I, 1), (1, slice(None), I), (J, I), (slice(1, 3), J, I), (None, I), (I, None, I), (I, ..., 2),
    [0, 2], ([0, 2], [1, 1]), abs(I).astype("uint8"), numpy.zeros((0,), int), numpy.zeros((2, 0), int), 2 * MASK,
    MASK, (MASK, 1), (MASK, None, ..., 0), (1, ..., numpy.arange(5) % 2 == 0),
    (slice(None), numpy.array([True, False, True, True])),
]  # fmt: skip


@for_each("index", INDICES)
def test_indexing(index: Any, engine: str) -> None:
    values = numpy.arange(60.0).reshape(3, 4, 5)
    index = mapped(lambda i: numpy.where(i < 3, i, 1) if i.dtype.kind == "i" else i, index)
    assert same_bits(np.array(values)[index].numpy(), values[index])
    assert same_bits(np.array(values)[to_forerun(index)].numpy(), values[index])
    turned = np.array(values.T.copy()).T
    assert same_bits(turned[index].numpy(), values[index])


@for_each("index, kind", itertools.product(INDICES, ["number", "array", "other dtype"]))
def test_assignment(index: Any, kind: str, engine: str) -> None:
    expected = numpy.arange(60.0).reshape(3, 4, 5)
    array = np.array(expected)
    part = expected[index]
    value = -1.5 if kind == "number" else -numpy.arange(part.shape[-1] if part.ndim else 1.0).reshape(part.shape[-1:])
    if kind == "other dtype":
        value = value.astype("int16")
    expected[index] = value
    array[to_forerun(index)] = value if kind == "number" else to_forerun(value)
    assert same_bits(array.numpy(), expected)


@pytest.mark.parametrize(("shape", "axis"), [((300, 1001), 0), ((2, 300, 517), 1), ((300, 7, 130), 0)], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_rows_that_workers_share(shape: tuple[int, ...], axis: int, turned: bool, engine: str) -> None:
    generator = numpy.random.default_rng(0)
    places = generator.integers(-shape[axis], shape[axis], 500)  # many of them twice
    index = (slice(None),) * axis + (places,)
    numpy_array = generator.standard_normal(shape, dtype="float32")
    array = np.array(numpy_array.T.copy()).T if turned else np.array(numpy_array)
    values = generator.standard_normal(numpy_array[index].shape, dtype="float32")
    wanted = numpy_array.copy()
    wanted[index] = values  # of several values for a place, the last
    array[to_forerun(index)] = np.array(values)
    assert same_bits(array.numpy(), wanted)

    x = np.array(numpy_array)
    x.attach_grad()
    with autograd.record():
        y = x[to_forerun(index)]
    y.backward(np.array(values))
    added = numpy.zeros_like(numpy_array)
    numpy.add.at(added, index, values)  # one by one, in their order
    assert same_bits(x.grad.numpy(), added)


def test_rows_written_where_they_are_read(engine: str) -> None:
    expected = numpy.random.default_rng(0).standard_normal((600, 501))
    array = np.array(expected)
    index = numpy.random.default_rng(1).permutation(599)
    expected[:, 1:][index] = expected[1:, :-1].copy()
    array[:, 1:][np.array(index)] = array[1:, :-1]
    assert same_bits(array.numpy(), expected)
