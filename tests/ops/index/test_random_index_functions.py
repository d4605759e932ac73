"""Random arguments of the functions that delete, insert and choose elements: results and errors are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import given
from hypothesis import strategies as st

from forerun import np
from tests.ops.cases.table import to_forerun
from tests.support.comparison.outcomes import outcome
from tests.support.comparison.random_indices import (
    arrays,
    assert_same_outcome,
    assigned_values,
    equivalent_indices,
    examples,
    masks,
    positions,
    shapes,
    slices,
)

DTYPES = ("int64", "float32", "uint8", "bool", "complex64")
FAMILIES = st.sampled_from([("int64", "uint8", "bool"), ("float32", "complex64")])  # not together: other rules


def places(draw: Any, n: int) -> Any:
    """An int, a slice, integers or a mask for an axis of extent n."""
    kind = draw(st.sampled_from(["int", "slice", "integers", "mask"]))
    if kind == "int":
        return draw(st.integers(-n - 1, n) if draw(st.integers(0, 9)) == 0 or n == 0 else st.integers(-n, n - 1))
    if kind == "slice":
        return draw(slices(n))
    if kind == "mask":
        return draw(masks((n,)))
    return draw(positions(n, (draw(st.integers(0, 3)),), 0.1))


def axis_of(draw: Any, x: numpy.ndarray) -> tuple[int | None, int]:
    """An axis or None, and its extent, or the size."""
    axis = draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    return axis, x.size if axis is None else x.shape[axis]


@examples
@given(st.data())
def test_delete(data):
    x = data.draw(shapes(3).flatmap(arrays))
    axis, n = axis_of(data.draw, x)
    at = places(data.draw, n)
    forerun_index = data.draw(equivalent_indices(at))
    assert_same_outcome(
        outcome(lambda: np.delete(to_forerun(x), forerun_index, axis)), outcome(lambda: numpy.delete(x, at, axis))
    )


@examples
@given(st.data())
def test_insert(data):
    x = data.draw(shapes(3).flatmap(lambda s: arrays(s, DTYPES)))
    axis, n = axis_of(data.draw, x)
    at = places(data.draw, n)
    if isinstance(at, numpy.ndarray) and at.dtype.kind in "iu":
        at = at.astype("int64")  # to others NumPy cannot add
        if at.size > 1:  # of several NumPy does not check whether they are too small
            at = numpy.maximum(at, -n)
    forerun_index = data.draw(equivalent_indices(at))
    found = outcome(lambda: numpy.arange(n)[at])  # one fault at a time
    counts = [()] if isinstance(found, Exception) else [(), found[0].shape, (1,), (2,)]
    new = data.draw(arrays(data.draw(st.sampled_from(counts)), ("int8",)))
    assert_same_outcome(
        outcome(lambda: np.insert(to_forerun(x), forerun_index, new, axis)),
        outcome(lambda: numpy.insert(x, at, new, axis)),
    )


@st.composite
def fitting(draw: Any, shape: tuple[int, ...], wrong: float = 0.05) -> tuple[int, ...]:
    """A shape that broadcasts to another, mostly."""
    found = [n if draw(st.booleans()) else 1 for n in shape][draw(st.integers(0, len(shape))) :]
    return tuple([*found[:-1], 5] if found and draw(st.floats(0, 1)) < wrong else found)


@examples
@given(st.data())
def test_select(data):
    shape = data.draw(shapes(3))
    count = data.draw(st.integers(1, 3))
    conditions = [data.draw(fitting(shape).flatmap(masks)) for _ in range(count)]
    dtypes = data.draw(FAMILIES)
    choices = [data.draw(fitting(shape).flatmap(lambda s: arrays(s, dtypes))) for _ in range(count)]
    default = data.draw(st.sampled_from([0, 1, 100]))
    forerun_operands = (
        [data.draw(st.sampled_from([c, to_forerun(c)])) for c in conditions],
        [to_forerun(c) for c in choices],
    )
    assert_same_outcome(
        outcome(lambda: np.select(*forerun_operands, default)),
        outcome(lambda: numpy.select(conditions, choices, default)),
    )


@examples
@given(st.data())
def test_choose(data):
    shape = data.draw(shapes(3))
    count, dtypes = data.draw(st.integers(1, 3)), data.draw(FAMILIES)
    choices = [data.draw(fitting(shape).flatmap(lambda s: arrays(s, dtypes))) for _ in range(count)]
    number = data.draw(positions(len(choices), shape, 0.2))
    number = abs(number.astype("int64")) if data.draw(st.booleans()) else number
    mode = data.draw(st.sampled_from(["raise", "wrap", "clip"]))
    index, forerun_choices = data.draw(st.sampled_from([number, to_forerun(number)])), [to_forerun(c) for c in choices]
    assert_same_outcome(
        outcome(lambda: np.choose(index, forerun_choices, mode=mode)),
        outcome(lambda: numpy.choose(number, choices, mode=mode)),
    )


@examples
@given(st.data())
def test_place_and_putmask(data):
    x = data.draw(shapes(3).flatmap(arrays))
    mask = data.draw(masks(x.shape) | shapes(2).flatmap(masks))
    value = data.draw(assigned_values((data.draw(st.integers(0, 3)),)))
    name = data.draw(st.sampled_from(["place", "putmask"]))
    array, expected = to_forerun(x), x.copy()
    assert_same_outcome(
        outcome(lambda: getattr(np, name)(array, to_forerun(mask), value) or array),
        outcome(lambda: getattr(numpy, name)(expected, mask, value) or expected),
    )
