"""Random indices, arrays and values: forerun reads and writes the same as NumPy, and refuses the same.

EXAMPLES=100000 in the environment tries as many of each kind, new ones each time.
"""

from __future__ import annotations

import operator
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
    indices,
    positions,
    shapes,
)


def view_of(x: numpy.ndarray) -> Any:
    """Return a forerun copy of x with x's order of axes, and directions: a view of another array."""
    order = sorted(range(x.ndim), key=lambda i: -abs(x.strides[i]))
    back = [order.index(i) for i in range(x.ndim)]
    turn = tuple(slice(None, None, -1 if s < 0 else 1) for s in x.strides)
    return (
        to_forerun(numpy.ascontiguousarray(x[turn].transpose(order))).transpose(back)[turn] if x.ndim else to_forerun(x)
    )


@examples
@given(st.data())
def test_reading(data):
    x = data.draw(shapes().flatmap(arrays))
    index = data.draw(indices(x.shape))
    forerun_index = data.draw(equivalent_indices(index))
    assert_same_outcome(outcome(lambda: view_of(x)[forerun_index]), outcome(lambda: x[index]))


@examples
@given(st.data())
def test_writing(data):
    x = data.draw(shapes().flatmap(arrays))
    index = data.draw(indices(x.shape))
    forerun_index = data.draw(equivalent_indices(index))
    part = outcome(lambda: x[index])
    broken = isinstance(part, Exception)  # one fault at a time
    value = data.draw(assigned_values(() if broken else part[0].shape, 0 if broken else 0.05))
    new = to_forerun(value) if isinstance(value, numpy.ndarray) and data.draw(st.booleans()) else value
    array, expected = view_of(x), x.copy()

    def write(target: Any, i: Any, v: Any) -> Any:
        target[i] = v
        return target

    element = not broken and isinstance(x[index], numpy.generic)
    if element and isinstance(value, numpy.ndarray) and value.size == 1:
        value = value.reshape(())  # one element is one element here; NumPy 2.4 refuses those with axes
    assert_same_outcome(
        outcome(lambda: write(array, forerun_index, new)), outcome(lambda: write(expected, index, value))
    )


IN_PLACE = [operator.iadd, operator.imul, operator.isub]


@examples
@given(st.data())
def test_in_place(data):
    x = data.draw(shapes().flatmap(lambda s: arrays(s, ("int64", "float32", "uint8", "complex64"))))
    index = data.draw(indices(x.shape))
    forerun_index = data.draw(equivalent_indices(index))
    op = data.draw(st.sampled_from(IN_PLACE))
    array, expected = view_of(x), x.copy()

    def write(target: Any, i: Any) -> Any:
        target[i] = op(target[i], 3)
        return target

    assert_same_outcome(outcome(lambda: write(array, forerun_index)), outcome(lambda: write(expected, index)))


@examples
@given(st.data())
def test_writing_through_views(data):
    """A view of a view shares memory: writing through it is seen in the first array, overlapping or not."""
    x = data.draw(shapes().flatmap(arrays))
    first = data.draw(indices(x.shape, advanced=0))
    array, expected = view_of(x), x.copy()
    seen = outcome(lambda: expected[first])
    if isinstance(seen, Exception) or seen[0].ndim == 0:  # of which NumPy has no view
        return
    second = data.draw(indices(seen[0].shape, advanced=0))
    third = data.draw(indices(x.shape, advanced=0))

    def write(a: Any) -> Any:  # NumPy writes some elements before it has read them: by a mask, with other strides
        a[first][second] = one_number(a[third].copy()) if a is expected else a[third]
        return a

    def one_number(value: Any) -> Any:  # which NumPy 2.4 refuses for an element if it has an axis
        return value.reshape(()) if value.size == 1 and numpy.ndim(seen[0][second]) == 0 else value

    assert_same_outcome(outcome(lambda: write(array)), outcome(lambda: write(expected)))


MODES = st.sampled_from(["raise", "wrap", "clip"])


@examples
@given(st.data())
def test_take_and_put(data):
    x = data.draw(shapes(3).flatmap(arrays))
    axis = data.draw(st.none() | st.integers(-x.ndim, max(0, x.ndim - 1)))
    n = x.size if axis is None else x.shape[axis] if -x.ndim <= axis < x.ndim else 1
    mode = data.draw(MODES if n else st.sampled_from(["raise", "clip"]))  # for "wrap" NumPy never comes back
    at = data.draw(positions(n, wrong=0.3))
    forerun_index = data.draw(equivalent_indices(at))
    assert_same_outcome(
        outcome(lambda: np.take(view_of(x), forerun_index, axis, None, mode)),
        outcome(lambda: numpy.take(x, at, axis, None, mode)),
    )
    wrong = data.draw(st.sampled_from([0, 0.3]))
    at = data.draw(positions(x.size, wrong=wrong))
    forerun_index = data.draw(equivalent_indices(at))
    value = data.draw(assigned_values((data.draw(st.integers(0, 3)),), 0.05 - wrong / 6))
    array, expected = view_of(x), x.copy()
    assert_same_outcome(
        outcome(lambda: np.put(array, forerun_index, value, mode) or array),
        outcome(lambda: numpy.put(expected, at, value, mode) or expected),
    )


@examples
@given(st.data())
def test_along_axis(data):
    x = data.draw(shapes(3).filter(len).flatmap(arrays))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = list(x.shape)
    for i in range(x.ndim):
        if data.draw(st.integers(0, 9)) < 2:
            shape[i] = data.draw(st.sampled_from([1, 1, 2, 3]))
    shape[axis] = data.draw(st.integers(0, 3))
    at = data.draw(positions(x.shape[axis], tuple(shape)))
    forerun_index = at if data.draw(st.booleans()) else to_forerun(at)
    assert_same_outcome(
        outcome(lambda: np.take_along_axis(view_of(x), forerun_index, axis)),
        outcome(lambda: numpy.take_along_axis(x, at, axis)),
    )
    part = outcome(lambda: numpy.take_along_axis(x, at, axis))
    broken = isinstance(part, Exception)
    value = data.draw(assigned_values(() if broken else part[0].shape, 0 if broken else 0.05))
    array, expected = view_of(x), x.copy()
    assert_same_outcome(
        outcome(lambda: np.put_along_axis(array, forerun_index, value, axis) or array),
        outcome(lambda: numpy.put_along_axis(expected, at, value, axis) or expected),
    )
